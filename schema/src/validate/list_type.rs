//! Validates lists of type set and map, whose elements or keys must be unique (apiextensions-apiserver
//! `pkg/apiserver/schema/listtype/validation.go`).

use std::collections::HashMap;

use gavel_apimachinery::field::{Error, Errors, Path};
use gavel_apimachinery::json;
use gavel_engine::value::Json;
use gavel_golang::work::{Interrupted, Work};
use serde_json::Map;
use smol_str::SmolStr;

use super::node::{NodeRules, Others, Uniqueness};
use crate::JsonSchema;
use crate::equal::Same;

/// The units of work for checking one value.
const WORK_PER_VALUE: usize = 256;

impl Uniqueness {
    pub(super) fn of(schema: &JsonSchema) -> Self {
        match schema.topology.list_type.as_deref() {
            Some("set") => Uniqueness::Set,
            Some("map") => Uniqueness::Map(schema.topology.list_map_keys.clone()),
            _ => Uniqueness::Atomic,
        }
    }
}

/// The errors for duplicates in a value. As in upstream, a value that is not an object has none.
pub(super) fn validate(
    node: &NodeRules,
    base: &Path<'_>,
    value: &Json,
    work: &Work<'_>,
) -> Result<Vec<Error>, Interrupted> {
    let mut errors = Errors::default();
    if value.is_object() {
        walk(node, base, value, &mut errors, work)?;
    }
    Ok(errors.into_vec())
}

fn walk(
    node: &NodeRules,
    path: &Path<'_>,
    value: &Json,
    errors: &mut Errors,
    work: &Work<'_>,
) -> Result<(), Interrupted> {
    if !node.has_list_types {
        return Ok(());
    }
    work.spend(WORK_PER_VALUE)?;
    match value {
        Json::Array(items) => {
            let Some(rules) = &node.lists else {
                return Ok(());
            };
            rules.list_type.check(path, items, errors, work)?;
            if let Some(schema) = &rules.items {
                for (index, item) in items.iter().enumerate() {
                    walk(schema, &path.index(index), item, errors, work)?;
                }
            }
        }
        Json::Object(fields) => {
            let Some(rules) = &node.maps else {
                return Ok(());
            };
            if let Some(Others::Schema(schema)) = &rules.others {
                for (key, value) in fields {
                    walk(schema, &path.key(key), value, errors, work)?;
                }
            }
            for (name, value) in fields {
                if let Some(property) = rules.properties.get(name) {
                    walk(&property.node, &path.child(name), value, errors, work)?;
                }
            }
        }
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {}
    }
    Ok(())
}

impl Uniqueness {
    fn check(
        &self,
        path: &Path<'_>,
        items: &[Json],
        errors: &mut Errors,
        work: &Work<'_>,
    ) -> Result<(), Interrupted> {
        match self {
            Uniqueness::Atomic => {}
            Uniqueness::Set => {
                for index in repeated(items.iter().map(Member::of), work)? {
                    if let Some(item) = items.get(index) {
                        errors.push_with(|| Error::duplicate(&path.index(index), item));
                    }
                }
            }
            Uniqueness::Map(keys) => check_map(keys, path, items, errors, work)?,
        }
        Ok(())
    }
}

fn check_map(
    keys: &[SmolStr],
    path: &Path<'_>,
    items: &[Json],
    errors: &mut Errors,
    work: &Work<'_>,
) -> Result<(), Interrupted> {
    let stray = items
        .iter()
        .enumerate()
        .find(|(_, item)| !item.is_object() && !item.is_null());
    if let Some((index, item)) = stray {
        let detail = "must be an object for an array of list-type map";
        errors.push_with(|| Error::invalid(&path.index(index), item, detail));
        return Ok(());
    }
    let repeated = match keys {
        [key] => {
            let members = items.iter().map(|item| match item.get(key.as_str()) {
                Some(value) => Member::of(value),
                None => Member::Missing,
            });
            repeated(members, work)?
        }
        keys => {
            let members = items.iter().map(|item| {
                let chosen = key_values(keys, item);
                Member::Compound(json::to_string(&Json::Object(chosen)))
            });
            repeated(members, work)?
        }
    };
    for index in repeated {
        errors.push_with(|| {
            let chosen = items.get(index).map(|item| key_values(keys, item));
            let value = Json::Object(chosen.unwrap_or_default());
            Error::duplicate(&path.index(index), value)
        });
    }
    Ok(())
}

/// The key fields of an element, without those that are absent.
fn key_values(keys: &[SmolStr], item: &Json) -> Map<String, Json> {
    let chosen = keys.iter().filter_map(|key| {
        let value = item.get(key.as_str())?;
        Some((key.to_string(), value.clone()))
    });
    chosen.collect()
}

/// A value that must be unique.
#[derive(PartialEq, Eq, Hash)]
enum Member<'a> {
    /// A missing key.
    Missing,
    /// A scalar.
    Scalar(Same<'a>),
    /// A list or object, printed as JSON so that 1 and 1.0 are equal.
    Compound(String),
}

impl<'a> Member<'a> {
    fn of(value: &'a Json) -> Self {
        match value {
            Json::Array(_) | Json::Object(_) => Member::Compound(json::to_string(value)),
            scalar => Member::Scalar(Same(scalar)),
        }
    }
}

/// The positions at which a member occurs for the second time.
fn repeated<'a>(
    members: impl Iterator<Item = Member<'a>>,
    work: &Work<'_>,
) -> Result<Vec<usize>, Interrupted> {
    let mut times: HashMap<Member<'a>, usize> = HashMap::new();
    let mut repeated = Vec::new();
    for (index, member) in members.enumerate() {
        work.spend(WORK_PER_VALUE)?;
        let times = times.entry(member).or_default();
        *times = times.saturating_add(1);
        if *times == 2 {
            repeated.push(index);
        }
    }
    Ok(repeated)
}

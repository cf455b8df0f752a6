//! The properties that an update is allowed to keep although a new definition cannot have them: definitions that were accepted must remain
//! updatable.

use std::collections::HashSet;

use gavel_apimachinery::field::{Errors, Path};
use gavel_apimachinery::server::{Difference, Server};
use gavel_schema::JsonSchema;

use crate::definition::Definition;
use crate::definition::options::Options;
use crate::definition::schema::{
    MAX_SELECTABLE_FIELDS, TYPES, check_entries, is_structural, mergeable_item_of_set,
};
use crate::definition::walk::{any_schema, each_schema};

impl<'o> Options<'o> {
    /// The requirements for a definition that replaces another.
    pub(super) fn update(new: &'o Definition, old: &'o Definition, server: Server) -> Self {
        let mut schemas = Vec::new();
        for version in &old.spec.versions {
            let validation = version.schema.as_ref();
            schemas.extend(validation.and_then(|validation| validation.schema.as_deref()));
        }
        let any = |at_fault: &dyn Fn(&JsonSchema) -> bool| {
            schemas.iter().any(|schema| any_schema(schema, at_fault))
        };
        let mut known_rules = HashSet::new();
        let mut known_messages = HashSet::new();
        for schema in &schemas {
            each_schema(schema, &mut |schema| {
                for rule in &schema.validations {
                    known_rules.insert(rule.rule.as_str());
                    known_messages.insert(rule.message_expression.as_str());
                }
            });
        }
        let may_stay = server.has(Difference::SelectableFieldsMayStay);
        Options {
            require_known_review: old.has_known_review(),
            immutable_names: old.is_established(),
            require_schema: schemas.len() == old.spec.versions.len(),
            require_known_types: !any(&|schema| {
                !schema.kind.is_empty() && !TYPES.contains(&schema.kind.as_str())
            }),
            require_structural: schemas.iter().all(|schema| is_structural(schema)),
            require_pruned_defaults: schemas.iter().all(|schema| has_pruned_defaults(schema)),
            require_atomic_sets: !any(&|schema| {
                let list_type = schema.topology.list_type.as_deref().unwrap_or_default();
                let item = schema.item();
                item.is_some_and(|item| mergeable_item_of_set(list_type, item).is_some())
            }),
            require_sound_keys: !any(&|schema| {
                let mut findings = Errors::default();
                check_entries(schema, &Path::root(), &mut findings);
                !findings.is_empty()
            }),
            known_rules,
            known_messages,
            unchanged: unchanged(new, old),
            excessive_selections: match may_stay {
                true => excessive_selections(new, old),
                false => HashSet::new(),
            },
            excessive_shared_selection: {
                let (new, old) = (new.shared(), old.shared());
                let old = old.selectable_fields.common;
                may_stay && old.len() > MAX_SELECTABLE_FIELDS && new.selectable_fields.common == old
            },
        }
    }
}

fn has_pruned_defaults(schema: &JsonSchema) -> bool {
    if !any_schema(schema, &|schema| schema.default_value().is_some()) || !is_structural(schema) {
        return true;
    }
    let mut pruned = schema.clone();
    gavel_schema::default::prune_defaults(&mut pruned).is_err() || pruned == *schema
}

fn unchanged<'o>(new: &'o Definition, old: &Definition) -> HashSet<&'o str> {
    let names = new
        .spec
        .versions
        .iter()
        .map(|version| version.name.as_str());
    names
        .filter(|name| match (new.validation(name), old.validation(name)) {
            (Some(new), Some(old)) => new == old,
            _ => false,
        })
        .collect()
}

fn excessive_selections<'o>(new: &'o Definition, old: &Definition) -> HashSet<&'o str> {
    let (new_shared, old_shared) = (new.shared(), old.shared());
    let mut excessive = HashSet::new();
    for version in &new.spec.versions {
        let own = new_shared.selectable_fields.own(&version.selectable_fields);
        let before = old.spec.versions.iter().rev();
        let before = before
            .filter(|before| before.name == version.name)
            .map(|before| old_shared.selectable_fields.own(&before.selectable_fields));
        if before
            .take(1)
            .any(|before| before.len() > MAX_SELECTABLE_FIELDS && before == own)
        {
            excessive.insert(version.name.as_str());
        }
    }
    excessive
}

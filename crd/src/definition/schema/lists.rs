//! The validation of `x-kubernetes-list-type` and related extensions.

use std::collections::HashSet;

use gavel_apimachinery::field::{BadValue, Error, Errors, Path};
use gavel_apimachinery::json;
use gavel_engine::value::Json;
use gavel_schema::{Items, JsonSchema};
use smol_str::SmolStr;

use super::structural::required_or_invalid;
use crate::definition::go_json;
use crate::definition::options::Options;

/// The maximum number of errors for the keys of one list.
const MAX_KEY_FAULTS: usize = 100;

/// Checks the list and map extensions of a node, and `x-kubernetes-preserve-unknown-fields`.
pub(super) fn check(
    schema: &JsonSchema,
    options: &Options<'_>,
    path: &Path<'_>,
    errors: &mut Errors,
) {
    if schema.preserve_unknown_fields == Some(false) {
        let path = path.child("x-kubernetes-preserve-unknown-fields");
        errors.push(Error::invalid(&path, false, "must be true or undefined"));
    }
    check_map_type(schema, path, errors);
    check_list_type(schema, options, path, errors);
    check_keys(schema, path, errors);
    if options.require_sound_keys {
        check_entries(schema, path, errors);
    }
}

fn check_map_type(schema: &JsonSchema, path: &Path<'_>, errors: &mut Errors) {
    let Some(map_type) = schema.topology.map_type.as_deref() else {
        return;
    };
    if schema.kind != "object" {
        let detail = "must be object if x-kubernetes-map-type is specified";
        errors.push(required_or_invalid(
            &path.child("type"),
            &schema.kind,
            detail,
        ));
    }
    let known = ["atomic", "granular"];
    if !known.contains(&map_type) {
        let path = path.child("x-kubernetes-map-type");
        errors.push(Error::not_supported(&path, map_type, &known));
    }
}

fn check_list_type(
    schema: &JsonSchema,
    options: &Options<'_>,
    path: &Path<'_>,
    errors: &mut Errors,
) {
    let Some(list_type) = schema.topology.list_type.as_deref() else {
        return;
    };
    if schema.kind != "array" {
        let detail = "must be array if x-kubernetes-list-type is specified";
        errors.push(required_or_invalid(
            &path.child("type"),
            &schema.kind,
            detail,
        ));
    } else if options.require_atomic_sets
        && let Some(item) = schema.item()
        && let Some(extension) = mergeable_item_of_set(list_type, item)
    {
        // The error shows the list type of the items, even if their map type is wrong.
        let value = match &item.topology.list_type {
            Some(list_type) => BadValue::Text(json::quoted(list_type)),
            None => BadValue::Text("null".to_owned()),
        };
        let path = path.child("items");
        let detail = "must be atomic as item of a list with x-kubernetes-list-type=set";
        errors.push(Error::invalid(&path.child(extension), value, detail));
    }
    let known = ["atomic", "set", "map"];
    if !known.contains(&list_type) {
        let path = path.child("x-kubernetes-list-type");
        errors.push(Error::not_supported(&path, list_type, &known));
    }
}

/// The extension of a set's items that should be `atomic`, but is not. `None` if the items are atomic, or if the list is not a set.
pub(in crate::definition) fn mergeable_item_of_set(
    list_type: &str,
    item: &JsonSchema,
) -> Option<&'static str> {
    let is_atomic = |extension: &Option<SmolStr>| extension.as_deref() == Some("atomic");
    match item.kind.as_str() {
        _ if list_type != "set" => None,
        "array" if item.topology.list_type.is_some() && !is_atomic(&item.topology.list_type) => {
            Some("x-kubernetes-list-type")
        }
        "object" if !is_atomic(&item.topology.map_type) => Some("x-kubernetes-map-type"),
        _ => None,
    }
}

/// Checks the keys of a list of type map.
fn check_keys(schema: &JsonSchema, path: &Path<'_>, errors: &mut Errors) {
    let keys_path = path.child("x-kubernetes-list-map-keys");
    let list_type = schema.topology.list_type.as_deref();
    if !schema.topology.list_map_keys.is_empty() && list_type != Some("map") {
        let path = path.child("x-kubernetes-list-type");
        let detail = "must be map if x-kubernetes-list-map-keys is non-empty";
        errors.push(match list_type {
            None => Error::required(&path, detail),
            Some(other) => Error::invalid(&path, other, detail),
        });
    }
    if list_type != Some("map") {
        return;
    }
    if schema.topology.list_map_keys.is_empty() {
        let detail = "must not be empty if x-kubernetes-list-type is map";
        errors.push(Error::required(&keys_path, detail));
    }
    let items_path = path.child("items");
    match &schema.items {
        None => {
            let detail = "must have a schema if x-kubernetes-list-type is map";
            errors.push(Error::required(&items_path, detail));
        }
        Some(items @ Items::Positions(_)) => {
            let detail = "must only have a single schema if x-kubernetes-list-type is map";
            let value = BadValue::Text(go_json::items(items));
            errors.push(Error::invalid(&items_path, value, detail));
        }
        Some(Items::Schema(item)) if item.kind != "object" => {
            let detail = "must be object if parent array's x-kubernetes-list-type is map";
            errors.push(Error::invalid(
                &items_path.child("type"),
                &*item.kind,
                detail,
            ));
        }
        Some(Items::Schema(item)) => check_key_properties(schema, item, path, errors),
    }
}

/// Checks the keys of a list of type map with object items. Each error lists all keys, so the number of errors is limited.
fn check_key_properties(
    schema: &JsonSchema,
    item: &JsonSchema,
    path: &Path<'_>,
    errors: &mut Errors,
) {
    let keys = &schema.topology.list_map_keys;
    let keys_path = path.child("x-kubernetes-list-map-keys");
    let items_path = path.child("items");
    let properties = items_path.child("properties");
    let all: Json = keys.iter().map(SmolStr::as_str).collect();
    let mut known = HashSet::new();
    let mut faults = Vec::new();
    for key in keys {
        match item.properties.get(key) {
            None => {
                let detail = "entries must all be names of item properties";
                faults.push(Error::invalid(&keys_path, &all, detail));
            }
            Some(property) if property.kind == "array" || property.kind == "object" => {
                let path = properties.key(key);
                let detail =
                    "must be a scalar type if parent array's x-kubernetes-list-type is map";
                faults.push(Error::invalid(&path.child("type"), &*item.kind, detail));
            }
            Some(_) => {}
        }
        if !known.insert(key) {
            let detail = "must not contain duplicate entries";
            faults.push(Error::invalid(&keys_path, &all, detail));
        }
        if faults.len() >= MAX_KEY_FAULTS {
            break;
        }
    }
    errors.extend(faults);
}

/// Checks that the elements of lists of type set and map can be distinguished: elements must not be null, and their keys must be neither
/// null nor absent.
pub(in crate::definition) fn check_entries(
    schema: &JsonSchema,
    path: &Path<'_>,
    errors: &mut Errors,
) {
    let (Some(item), Some(list_type @ ("set" | "map"))) =
        (schema.item(), schema.topology.list_type.as_deref())
    else {
        return;
    };
    let path = path.child("items");
    if item.nullable {
        let detail = format!("cannot be nullable when x-kubernetes-list-type is {list_type}");
        errors.push(Error::forbidden(&path.child("nullable"), detail));
    }
    if list_type == "set" {
        return;
    }
    let properties = path.child("properties");
    let required = item.required_names();
    for key in &schema.topology.list_map_keys {
        let Some(property) = item.properties.get(key) else {
            continue;
        };
        let path = properties.key(key);
        if !required.contains(key.as_str()) && property.default.is_none() {
            let detail = "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property";
            errors.push(Error::required(&path.child("default"), detail));
        }
        if property.nullable {
            let detail = "this property is in x-kubernetes-list-map-keys, so it cannot be nullable";
            errors.push(Error::forbidden(&path.child("nullable"), detail));
        }
    }
}

//! The conditions for a structural schema: each field is declared exactly once, and schemas under `allOf`, `anyOf`, `oneOf` and `not`
//! declare nothing (apiextensions-apiserver `pkg/apiserver/schema/{validation,complete}.go`).

use gavel_apimachinery::field::{Error, Errors, Path};
use gavel_golang::regex::Regex;
use gavel_schema::{Items, JsonSchema, Rare, SchemaMap};
use smol_str::SmolStr;

use super::convertible::values_beside;

/// The position of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Level {
    Root,
    Item,
    Field,
}

/// The reasons why a schema is not structural, sorted by text.
pub(super) fn check(schema: &JsonSchema, path: &Path<'_>) -> Vec<Error> {
    let mut findings = Errors::default();
    check_node(schema, Level::Root, path, &mut findings);
    check_declared(schema, Some(schema), path, path, &mut findings);
    let mut errors = findings.into_vec();
    errors.sort_by_cached_key(Error::to_string);
    errors
}

fn check_node(schema: &JsonSchema, level: Level, path: &Path<'_>, errors: &mut Errors) {
    if errors.is_full() {
        return;
    }
    match schema.item() {
        Some(item) => check_node(item, Level::Item, &path.child("items"), errors),
        None if schema.kind == "array" => {
            errors.push(Error::required(&path.child("items"), "must be specified"));
        }
        None => {}
    }
    let properties = path.child("properties");
    for (name, property) in &schema.properties {
        check_node(property, Level::Field, &properties.key(name), errors);
    }
    if schema.additional_properties.is_some() {
        let path = path.child("additionalProperties");
        if level == Level::Root {
            errors.push(Error::forbidden(&path, "must not be used at the root"));
        }
        if let Some(value) = schema.value() {
            check_node(value, Level::Field, &path, errors);
        }
    }
    check_extensions(schema, path, errors);
    let first_is_int_or_string = schema
        .combinations
        .all_of
        .first()
        .is_some_and(is_any_of_int_or_string);
    check_conditions(
        schema,
        is_any_of_int_or_string(schema),
        first_is_int_or_string,
        path,
        errors,
    );
    check_type(schema, level, path, errors);
    check_resource(schema, level, path, errors);
}

fn check_type(schema: &JsonSchema, level: Level, path: &Path<'_>, errors: &mut Errors) {
    let kind = schema.kind.as_str();
    let type_path = path.child("type");
    if schema.embedded_resource && kind != "object" {
        let detail = "must be object if x-kubernetes-embedded-resource is true";
        errors.push(required_or_invalid(&type_path, kind, detail));
    } else if kind.is_empty() && !schema.int_or_string && !schema.preserves_unknown_fields() {
        let detail = match level {
            Level::Root => "must not be empty at the root",
            Level::Item => "must not be empty for specified array items",
            Level::Field => "must not be empty for specified object fields",
        };
        errors.push(Error::required(&type_path, detail));
    }
    if schema.embedded_resource && schema.additional_properties.is_some() {
        let detail = "must not be used if x-kubernetes-embedded-resource is set";
        errors.push(Error::forbidden(
            &path.child("additionalProperties"),
            detail,
        ));
    }
    if level == Level::Root && !kind.is_empty() && kind != "object" {
        errors.push(Error::invalid(
            &type_path,
            kind,
            "must be object at the root",
        ));
    }
}

/// The error for a missing or wrong type.
pub(super) fn required_or_invalid(path: &Path<'_>, kind: &str, detail: &str) -> Error {
    match kind {
        "" => Error::required(path, detail),
        kind => Error::invalid(path, kind, detail),
    }
}

/// Checks the fields that every resource has.
fn check_resource(schema: &JsonSchema, level: Level, path: &Path<'_>, errors: &mut Errors) {
    let is_resource = level == Level::Root || schema.embedded_resource;
    let properties = path.child("properties");
    for name in ["kind", "apiVersion"] {
        if let Some(property) = schema.properties.get(name)
            && is_resource
            && property.kind != "string"
        {
            let path = properties.key(name);
            let path = path.child("type");
            errors.push(Error::invalid(&path, &*property.kind, "must be string"));
        }
    }
    if let Some(metadata) = schema.properties.get("metadata") {
        let path = properties.key("metadata");
        if is_resource && metadata.kind != "object" {
            let path = path.child("type");
            errors.push(Error::invalid(&path, &*metadata.kind, "must be object"));
        }
        if level == Level::Root && !constrains_only_names(metadata) {
            let detail = "must not specify anything other than name and generateName, but metadata is implicitly specified";
            errors.push(Error::forbidden(&path, detail));
        }
    }
    if schema.embedded_resource
        && !schema.preserves_unknown_fields()
        && schema.properties.is_empty()
    {
        let detail = "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields";
        errors.push(Error::required(&properties, detail));
    }
}

/// Whether the metadata of a resource only has a type, a default, and constraints on names.
fn constrains_only_names(metadata: &JsonSchema) -> bool {
    let is_name = |name: &SmolStr| name == "name" || name == "generateName";
    metadata.properties.keys().all(is_name)
        && is_structurally_empty(JsonSchema {
            kind: SmolStr::default(),
            default: None,
            properties: SchemaMap::default(),
            ..metadata.clone()
        })
}

/// Whether the structural form of a schema is empty. As in upstream, a schema with an empty `required`, `x-kubernetes-list-map-keys` or
/// `x-kubernetes-validations` is not empty.
fn is_structurally_empty(schema: JsonSchema) -> bool {
    let has_empty_list = schema.required.is_present()
        || schema.topology.list_map_keys.is_present()
        || schema.validations.is_present();
    let is_nowhere = |items: &Items| matches!(items, Items::Positions(items) if items.is_empty());
    let kept = JsonSchema {
        items: schema.items.filter(|items| !is_nowhere(items)),
        unsupported: Rare::default(),
        ..schema
    };
    !has_empty_list && kept == JsonSchema::default()
}

fn check_extensions(schema: &JsonSchema, path: &Path<'_>, errors: &mut Errors) {
    if !schema.int_or_string {
        return;
    }
    let detail = "must be false if x-kubernetes-int-or-string is true";
    for (name, is_set) in [
        (
            "x-kubernetes-preserve-unknown-fields",
            schema.preserves_unknown_fields(),
        ),
        ("x-kubernetes-embedded-resource", schema.embedded_resource),
    ] {
        if is_set {
            errors.push(Error::invalid(&path.child(name), true, detail));
        }
    }
}

/// Whether `anyOf` lists exactly the types integer and string, which is the only form of `anyOf` that may constrain types.
fn is_any_of_int_or_string(schema: &JsonSchema) -> bool {
    let has_only_type = |schema: &JsonSchema, kind: &str| {
        schema.kind == kind
            && !schema.properties.is_present()
            && is_structurally_empty(JsonSchema {
                kind: SmolStr::default(),
                additional_properties: values_beside(schema).cloned(),
                ..schema.clone()
            })
    };
    match &*schema.combinations.any_of {
        [first, second] => has_only_type(first, "integer") && has_only_type(second, "string"),
        _ => false,
    }
}

/// Checks the pattern of a node, and the schemas under its `allOf`, `anyOf`, `oneOf` and `not`.
fn check_conditions(
    schema: &JsonSchema,
    skip_any_of: bool,
    skip_any_of_of_first: bool,
    path: &Path<'_>,
    errors: &mut Errors,
) {
    if !skip_any_of {
        let path = path.child("anyOf");
        for (n, condition) in schema.combinations.any_of.iter().enumerate() {
            check_condition(condition, false, &path.index(n), errors);
        }
    }
    let all_of = path.child("allOf");
    for (n, condition) in schema.combinations.all_of.iter().enumerate() {
        let skip_any_of = skip_any_of_of_first && n == 0;
        check_condition(condition, skip_any_of, &all_of.index(n), errors);
    }
    let one_of = path.child("oneOf");
    for (n, condition) in schema.combinations.one_of.iter().enumerate() {
        check_condition(condition, false, &one_of.index(n), errors);
    }
    if let Some(condition) = &schema.combinations.not {
        check_condition(condition, false, &path.child("not"), errors);
    }
    if !schema.bounds.pattern.is_empty()
        && let Err(error) = Regex::validate(&schema.bounds.pattern)
    {
        let detail = format!("must be a valid regular expression, but isn't: {error}");
        errors.push(Error::invalid(
            &path.child("pattern"),
            &schema.bounds.pattern,
            detail,
        ));
    }
}

/// Checks that a schema under `allOf`, `anyOf`, `oneOf` or `not` does not declare anything.
fn check_condition(
    condition: &JsonSchema,
    skip_any_of: bool,
    path: &Path<'_>,
    errors: &mut Errors,
) {
    if errors.is_full() {
        return;
    }
    check_conditions(condition, skip_any_of, false, path, errors);
    if let Some(item) = condition.item() {
        check_condition(item, false, &path.child("items"), errors);
    }
    let properties = path.child("properties");
    for (name, property) in &condition.properties {
        check_condition(property, false, &properties.key(name), errors);
    }
    let mut forbid = |is_set: bool, name: &str, must: &str| {
        if is_set {
            let detail = format!("must be {must} to be structural");
            errors.push(Error::forbidden(&path.child(name), detail));
        }
    };
    forbid(!condition.kind.is_empty(), "type", "empty");
    forbid(
        values_beside(condition).is_some(),
        "additionalProperties",
        "undefined",
    );
    forbid(condition.default.is_some(), "default", "undefined");
    forbid(!condition.docs.title.is_empty(), "title", "empty");
    forbid(
        !condition.docs.description.is_empty(),
        "description",
        "empty",
    );
    forbid(condition.nullable, "nullable", "false");
    forbid(
        condition.preserves_unknown_fields(),
        "x-kubernetes-preserve-unknown-fields",
        "false",
    );
    forbid(
        condition.embedded_resource,
        "x-kubernetes-embedded-resource",
        "false",
    );
    forbid(
        condition.int_or_string,
        "x-kubernetes-int-or-string",
        "false",
    );
    forbid(
        !condition.topology.list_map_keys.is_empty(),
        "x-kubernetes-list-map-keys",
        "empty",
    );
    forbid(
        condition.topology.list_type.is_some(),
        "x-kubernetes-list-type",
        "undefined",
    );
    forbid(
        condition.topology.map_type.is_some(),
        "x-kubernetes-map-type",
        "undefined",
    );
    forbid(
        !condition.validations.is_empty(),
        "x-kubernetes-validations",
        "empty",
    );
    if condition.properties.contains_key("metadata") {
        let detail = "must not be specified in a nested context";
        errors.push(Error::forbidden(&properties.key("metadata"), detail));
    }
}

/// Checks that fields named in the schemas under `allOf`, `anyOf`, `oneOf` and `not` of `conditions` are declared in `declared`, the node
/// to which these schemas apply.
fn check_declared(
    conditions: &JsonSchema,
    declared: Option<&JsonSchema>,
    declared_path: &Path<'_>,
    path: &Path<'_>,
    errors: &mut Errors,
) {
    if let Some(condition) = &conditions.combinations.not {
        let path = path.child("not");
        check_fields_declared(condition, declared, declared_path, &path, errors);
    }
    for (name, conditions) in [
        ("allOf", &conditions.combinations.all_of),
        ("anyOf", &conditions.combinations.any_of),
        ("oneOf", &conditions.combinations.one_of),
    ] {
        let path = path.child(name);
        for (n, condition) in conditions.iter().enumerate() {
            check_fields_declared(condition, declared, declared_path, &path.index(n), errors);
        }
    }
}

fn check_fields_declared(
    condition: &JsonSchema,
    declared: Option<&JsonSchema>,
    declared_path: &Path<'_>,
    path: &Path<'_>,
    errors: &mut Errors,
) {
    if errors.is_full() {
        return;
    }
    let because = |path: &Path<'_>| format!("because it is defined in {path}");
    let Some(declared) = declared else {
        errors.push(Error::required(declared_path, because(path)));
        return;
    };
    check_declared(condition, Some(declared), declared_path, path, errors);
    if let Some(item) = condition.item() {
        let (declared_path, path) = (declared_path.child("items"), path.child("items"));
        let declared = declared.item().map(|item| &**item);
        check_fields_declared(item, declared, &declared_path, &path, errors);
    }
    let (declared_path, path) = (declared_path.child("properties"), path.child("properties"));
    for (name, property) in &condition.properties {
        let (declared_path, path) = (declared_path.key(name), path.key(name));
        let declared = declared.properties.get(name).map(|property| &**property);
        check_fields_declared(property, declared, &declared_path, &path, errors);
    }
}

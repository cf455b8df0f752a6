//! Filling in defaults (apiextensions-apiserver `pkg/apiserver/schema/defaulting`).

use gavel_engine::value::Json;
use serde_json::Map;

use crate::{JsonSchema, embedded, prune};

/// Takes null out of fields and map values that may not be null and have no default. Lists keep theirs.
pub fn drop_nulls(value: &mut Json, schema: &JsonSchema) {
    match value {
        Json::Object(fields) => fields.retain(|name, value| {
            let Some(schema) = schema.properties.get(name).or(schema.value()) else {
                return true;
            };
            if is_unwanted_null(value, schema) {
                return schema.default_value().is_some();
            }
            drop_nulls(value, schema);
            true
        }),
        Json::Array(items) => {
            if let Some(schema) = schema.item() {
                for value in items {
                    drop_nulls(value, schema);
                }
            }
        }
        _ => {}
    }
}

/// Fills in the defaults of a schema: of fields that are missing, and of fields, map values and list elements that are
/// null and may not be.
///
/// ```
/// use gavel_schema::{JsonSchema, default};
/// use serde_json::json;
///
/// # fn main() -> Result<(), serde_json::Error> {
/// let schema: JsonSchema = serde_json::from_value(json!({"properties": {
///     "a": {"default": {}, "properties": {"b": {"default": 1}}},
///     "c": {"items": {"default": "x"}},
/// }}))?;
/// let mut object = json!({"c": [null, "y"]});
/// default::fill(&mut object, &schema);
/// assert_eq!(object, json!({"a": {"b": 1}, "c": ["x", "y"]}));
/// # Ok(())
/// # }
/// ```
pub fn fill(value: &mut Json, schema: &JsonSchema) {
    match value {
        Json::Object(fields) => fill_fields(fields, schema),
        Json::Array(items) => {
            if let Some(schema) = schema.item() {
                for value in items {
                    replace_null(value, schema);
                    fill(value, schema);
                }
            }
        }
        _ => {}
    }
}

fn fill_fields(fields: &mut Map<String, Json>, schema: &JsonSchema) {
    for (name, property) in &schema.properties {
        if let Some(default) = property.default_value()
            && !fields.contains_key(name)
        {
            fields.insert(name.clone(), default.clone());
        }
    }
    for (name, value) in fields {
        match schema.properties.get(name) {
            Some(property) => {
                if property.default_value().is_some() {
                    replace_null(value, property);
                }
                fill(value, property);
            }
            None => {
                if let Some(schema) = schema.value() {
                    replace_null(value, schema);
                    fill(value, schema);
                }
            }
        }
    }
}

fn replace_null(value: &mut Json, schema: &JsonSchema) {
    if is_unwanted_null(value, schema)
        && let Some(default) = schema.default_value()
    {
        *value = default.clone();
    }
}

fn is_unwanted_null(value: &Json, schema: &JsonSchema) -> bool {
    value.is_null() && !schema.nullable
}

/// A step from a schema to one below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// To a property.
    Property(String),
    /// To the elements of a list.
    Item,
    /// To the values of a map.
    Value,
}

/// The smallest object that holds a value where the steps lead from its root: `a: [value]` for the property `a` and its
/// elements.
pub fn surround(value: Json, steps: &[Step]) -> Json {
    steps.iter().rev().fold(value, |value, step| match step {
        Step::Property(name) => Json::Object([(name.clone(), value)].into_iter().collect()),
        Step::Value => Json::Object([("*".to_owned(), value)].into_iter().collect()),
        Step::Item => Json::Array(vec![value]),
    })
}

/// The value that lies in an object where the steps lead.
pub fn at<'j>(object: &'j mut Json, steps: &[Step]) -> Option<&'j mut Json> {
    steps.iter().try_fold(object, |value, step| match step {
        Step::Property(name) => value.get_mut(name),
        Step::Value => value.get_mut("*"),
        Step::Item => value.get_mut(0),
    })
}

/// Takes out of the defaults in the schema of an object what the schema does not know, and malformed metadata, as an API
/// server does before it serves objects.
///
/// # Errors
///
/// The default of the whole object is no object; in upstream's words.
pub fn prune_defaults(schema: &mut JsonSchema) -> Result<(), String> {
    let mut pruned = Vec::new();
    let mut steps = Vec::new();
    collect_pruned(schema, schema, &mut steps, &mut pruned)?;
    for (steps, default) in pruned {
        if let Some(node) = schema_at(schema, &steps) {
            node.default = default;
        }
    }
    Ok(())
}

type Pruned = (Vec<Step>, Option<Json>);

fn collect_pruned(
    root: &JsonSchema,
    schema: &JsonSchema,
    steps: &mut Vec<Step>,
    pruned: &mut Vec<Pruned>,
) -> Result<(), String> {
    if let Some(default) = schema.default_value() {
        let mut object = surround(default.clone(), steps);
        if !object.is_object() {
            return Err(
                "failed to prune default value: object root default value must be of object type"
                    .to_owned(),
            );
        }
        embedded::coerce_stored(&mut object, Some(root), true);
        prune::prune(&mut object, Some(root), true);
        let left = at(&mut object, steps).map(Json::take);
        if left.as_ref() != Some(default) {
            pruned.push((steps.clone(), left));
        }
    }
    let properties = schema.properties.iter();
    let below = properties
        .map(|(name, schema)| (Step::Property(name.clone()), schema))
        .chain(schema.item().map(|schema| (Step::Item, schema)))
        .chain(schema.value().map(|schema| (Step::Value, schema)));
    for (step, schema) in below {
        steps.push(step);
        collect_pruned(root, schema, steps, pruned)?;
        steps.pop();
    }
    Ok(())
}

fn schema_at<'s>(schema: &'s mut JsonSchema, steps: &[Step]) -> Option<&'s mut JsonSchema> {
    steps.iter().try_fold(schema, |schema, step| match step {
        Step::Property(name) => schema.properties.get_mut(name),
        Step::Item => schema.item_mut(),
        Step::Value => schema.value_mut(),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schema(schema: Json) -> JsonSchema {
        serde_json::from_value(schema).unwrap()
    }

    #[test]
    fn null_goes_where_it_may_not_be_and_has_no_default() {
        let check = |of: Json, mut value: Json, expected: Json| {
            drop_nulls(&mut value, &schema(of));
            assert_eq!(value, expected);
        };
        let text = json!({"type": "string"});
        let nullable = json!({"type": "string", "nullable": true});
        let with_default = json!({"type": "string", "default": "x"});
        check(
            json!({"properties": {"a": text, "b": nullable, "c": with_default}}),
            json!({"a": null, "b": null, "c": null, "d": null}),
            json!({"b": null, "c": null, "d": null}),
        );
        check(
            json!({"additionalProperties": {"items": {"properties": {"a": text}}}}),
            json!({"k": [null, {"a": null}], "l": null}),
            json!({"k": [null, {}]}),
        );
        // A default of null is none.
        check(
            json!({"properties": {"a": {"default": null}}}),
            json!({"a": null}),
            json!({}),
        );
    }

    #[test]
    fn defaults_fill_what_is_missing_or_null() {
        let check = |of: Json, mut value: Json, expected: Json| {
            fill(&mut value, &schema(of));
            assert_eq!(value, expected);
        };
        let one = json!({"default": 1});
        let one_or_null = json!({"default": 1, "nullable": true});
        check(
            json!({"properties": {"a": one, "b": one, "c": one_or_null, "d": one_or_null}}),
            json!({"a": null, "c": null}),
            json!({"a": 1, "b": 1, "c": null, "d": 1}),
        );
        check(
            json!({"additionalProperties": {"default": {}, "properties": {"a": one}}}),
            json!({"k": null, "l": {}}),
            json!({"k": {"a": 1}, "l": {"a": 1}}),
        );
        check(
            json!({"properties": {"a": {"items": one}, "b": {"items": one_or_null}, "c": {"items": {}}}}),
            json!({"a": [null, 2], "b": [null], "c": [null]}),
            json!({"a": [1, 2], "b": [null], "c": [null]}),
        );
        // The default of a whole is filled in turn; what lies below something missing is not.
        check(
            json!({"properties": {"a": {"default": {}, "properties": {"b": one}}, "c": {"properties": {"d": one}}}}),
            json!({}),
            json!({"a": {"b": 1}}),
        );
    }

    #[test]
    fn defaults_are_pruned_by_their_place() {
        let check = |of: Json, expected: Json| {
            let (mut found, expected) = (schema(of), schema(expected));
            prune_defaults(&mut found).unwrap();
            assert_eq!(found, expected);
        };
        let spec = |default: Json| json!({"properties": {"spec": {"default": default, "properties": {"a": {"items": {"properties": {"b": {}}}}}}}});
        check(
            spec(json!({"a": [{"b": 1, "c": 1}], "d": 1})),
            spec(json!({"a": [{"b": 1}]})),
        );
        let item = |default: Json| json!({"properties": {"l": {"items": {"default": default, "properties": {"b": {}}}}}});
        check(item(json!({"b": 1, "c": 1})), item(json!({"b": 1})));
        let value = |default: Json| json!({"additionalProperties": {"default": default, "properties": {"b": {}}}});
        check(value(json!({"b": 1, "c": 1})), value(json!({"b": 1})));
        // Metadata is read as such, and what is malformed is left out.
        let metadata =
            |default: Option<Json>| json!({"properties": {"metadata": {"default": default}}});
        check(
            metadata(Some(json!({"name": "x", "labels": 1, "y": 1}))),
            metadata(Some(json!({"name": "x"}))),
        );
        let name = |default: Option<Json>| json!({"properties": {"metadata": {"properties": {"name": {"default": default}}}}});
        check(name(Some(json!(1))), name(None));
        let error = prune_defaults(&mut schema(json!({"default": 1}))).unwrap_err();
        assert!(error.ends_with("object root default value must be of object type"));
    }
}

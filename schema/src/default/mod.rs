//! Sets defaults (apiextensions-apiserver `pkg/apiserver/schema/defaulting`).

use gavel_engine::value::Json;
use serde_json::Map;

use crate::JsonSchema;

mod pruned;
mod validate;

pub use pruned::prune_defaults;
pub use validate::{DefaultOf, validate_defaults};

/// Removes fields and map values that are null but must not be, and that have no default. Nulls in lists stay.
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

/// Sets the defaults of a schema: for missing fields, and for fields, map values and list elements that are null but must not be.
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
            && !fields.contains_key(name.as_str())
        {
            fields.insert(name.to_string(), default.clone());
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
        // A default of null counts as no default.
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
        // Defaults are also set within an object that is itself a default, but not below a missing object.
        check(
            json!({"properties": {"a": {"default": {}, "properties": {"b": one}}, "c": {"properties": {"d": one}}}}),
            json!({}),
            json!({"a": {"b": 1}}),
        );
    }
}

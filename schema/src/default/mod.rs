//! Sets defaults (apiextensions-apiserver `pkg/apiserver/schema/defaulting`).

use gavel_engine::value::{Json, MEMORY_LIMIT, NODE_BYTES, held_bytes};
use rustc_hash::FxHashMap;
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

/// The defaults of an object take more than [`MEMORY_LIMIT`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the defaults of the object must take at most {} MiB of memory", MEMORY_LIMIT >> 20)]
pub struct DefaultsTooLarge;

/// Sets the defaults of a schema: for missing fields, and for fields, map values and list elements that are null but must not be.
///
/// ```
/// use gavel_schema::{JsonSchema, default};
/// use serde_json::json;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let schema: JsonSchema = serde_json::from_value(json!({"properties": {
///     "a": {"default": {}, "properties": {"b": {"default": 1}}},
///     "c": {"items": {"default": "x"}},
/// }}))?;
/// let mut object = json!({"c": [null, "y"]});
/// default::fill(&mut object, &schema)?;
/// assert_eq!(object, json!({"a": {"b": 1}, "c": ["x", "y"]}));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// The defaults take more memory than an evaluation may use, [`MEMORY_LIMIT`]. The object then has only some of its defaults.
pub fn fill(value: &mut Json, schema: &JsonSchema) -> Result<(), DefaultsTooLarge> {
    let filling = &mut Filling {
        defaults: FxHashMap::default(),
        left: MEMORY_LIMIT,
    };
    filling.fill(value, schema)
}

/// The approximate memory of a field that is not the first of its object, without its name and value, in bytes.
const FIELD: usize = 112;

/// The properties of a schema that have defaults.
type Defaults<'s> = Box<[(&'s str, &'s Json)]>;

/// Sets the defaults of one object.
struct Filling<'s> {
    /// The defaults, by the address of their schema: the elements of a list have the same schema, which may have many other properties.
    defaults: FxHashMap<*const JsonSchema, Defaults<'s>>,
    /// The memory that further defaults may take, in bytes.
    left: usize,
}

impl<'s> Filling<'s> {
    fn fill(&mut self, value: &mut Json, schema: &'s JsonSchema) -> Result<(), DefaultsTooLarge> {
        match value {
            Json::Object(fields) => self.fill_fields(fields, schema)?,
            Json::Array(items) => {
                if let Some(schema) = schema.item() {
                    for value in items {
                        self.replace_null(value, schema)?;
                        self.fill(value, schema)?;
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn fill_fields(
        &mut self,
        fields: &mut Map<String, Json>,
        schema: &'s JsonSchema,
    ) -> Result<(), DefaultsTooLarge> {
        if !schema.properties.is_empty() {
            let defaults = self.defaults.entry(schema).or_insert_with(|| {
                let properties = schema.properties.iter();
                let defaults = properties
                    .filter_map(|(name, schema)| Some((&**name, schema.default_value()?)));
                defaults.collect()
            });
            for (name, default) in defaults {
                if !fields.contains_key(*name) {
                    let field = if fields.is_empty() { NODE_BYTES } else { FIELD };
                    spend(&mut self.left, field.saturating_add(name.len()))?;
                    spend(&mut self.left, held_bytes(default))?;
                    fields.insert((*name).to_owned(), (*default).clone());
                }
            }
        }
        for (name, value) in fields {
            match schema.properties.get(name) {
                Some(property) => {
                    if property.default_value().is_some() {
                        self.replace_null(value, property)?;
                    }
                    self.fill(value, property)?;
                }
                None => {
                    if let Some(schema) = schema.value() {
                        self.replace_null(value, schema)?;
                        self.fill(value, schema)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn replace_null(
        &mut self,
        value: &mut Json,
        schema: &JsonSchema,
    ) -> Result<(), DefaultsTooLarge> {
        if is_unwanted_null(value, schema)
            && let Some(default) = schema.default_value()
        {
            spend(&mut self.left, held_bytes(default))?;
            *value = default.clone();
        }
        Ok(())
    }
}

fn spend(left: &mut usize, bytes: usize) -> Result<(), DefaultsTooLarge> {
    *left = left.checked_sub(bytes).ok_or(DefaultsTooLarge)?;
    Ok(())
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
            fill(&mut value, &schema(of)).unwrap();
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

    #[test]
    fn the_memory_of_defaults_is_bounded() {
        let check = |default: Json, is_valid: bool| {
            let properties: Map<String, Json> = (0..2_000)
                .map(|n| (format!("p{n}"), json!({"default": default})))
                .collect();
            let of = schema(json!({"items": {"properties": properties}}));
            let mut value = Json::Array(vec![json!({}); 100]);
            assert_eq!(fill(&mut value, &of).is_ok(), is_valid, "{default}");
        };
        check(json!(1), true);
        check(json!("x".repeat(1_000)), false);
        check(json!([[], [], [], [], [], [], [], []]), false);
    }
}

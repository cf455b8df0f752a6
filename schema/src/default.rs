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

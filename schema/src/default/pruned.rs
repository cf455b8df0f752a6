//! Removes unknown fields from the defaults in a schema (`defaulting/prune.go`, `defaulting/surroundingobject.go`).

use gavel_engine::value::Json;

use crate::{JsonSchema, embedded, prune};

/// A step from a schema to a schema below it.
#[derive(Debug, Clone)]
pub(super) enum Step {
    /// A step to a property.
    Property(String),
    /// A step to the elements of a list.
    Item,
    /// A step to the values of a map.
    Value,
}

/// The smallest object that contains a value at the end of these steps: `a: [value]` for a step to the property `a` and a step to its
/// elements.
pub(super) fn surround(value: Json, steps: &[Step]) -> Json {
    steps.iter().rev().fold(value, |value, step| match step {
        Step::Property(name) => Json::Object([(name.clone(), value)].into_iter().collect()),
        Step::Value => Json::Object([("*".to_owned(), value)].into_iter().collect()),
        Step::Item => Json::Array(vec![value]),
    })
}

/// The value at the end of these steps, which begin at `object`.
fn at<'j>(object: &'j mut Json, steps: &[Step]) -> Option<&'j mut Json> {
    steps.iter().try_fold(object, |value, step| match step {
        Step::Property(name) => value.get_mut(name),
        Step::Value => value.get_mut("*"),
        Step::Item => value.get_mut(0),
    })
}

/// Removes unknown fields and malformed metadata from the defaults in the schema of an object, as an API server does before it
/// serves objects.
///
/// # Errors
///
/// The default of the root schema is not an object. The message is upstream's.
pub fn prune_defaults(schema: &mut JsonSchema) -> Result<(), String> {
    if !schema.any(&|schema| schema.default_value().is_some()) {
        return Ok(());
    }
    let mut pruned = Vec::new();
    let mut steps = Vec::new();
    collect_pruned(schema, schema, &mut steps, &mut pruned)?;
    for (steps, default) in pruned {
        if let Some(node) = schema_at(schema, &steps) {
            node.default = default.map(Box::new);
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
        .map(|(name, schema)| (Step::Property(name.to_string()), schema))
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
        // Malformed and unknown fields of metadata are dropped.
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

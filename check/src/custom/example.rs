//! Examples of custom resources, to start tests from.

use gavel_crd::definition::{Definition, Version};
use gavel_engine::value::Json;
use gavel_schema::JsonSchema;
use serde_json::{Map, json};

/// A resource of a version, with its spec and the required fields that have no default. The values have the types, enumerations and minimums
/// of the schema, but need not satisfy its lengths, patterns, formats and rules.
pub fn example(definition: &Definition, version: &Version) -> Json {
    let spec = &definition.spec;
    let mut object = json!({
        "apiVersion": format!("{}/{}", spec.group, version.name),
        "kind": spec.names.kind,
        "metadata": {"name": "example"},
    });
    let schema = version.schema.as_ref();
    if let (Some(schema), Some(fields)) = (
        schema.and_then(|schema| schema.schema.as_deref()),
        object.as_object_mut(),
    ) {
        for (name, property) in &schema.properties {
            let is_wanted = name == "spec" || is_required(schema, name, property);
            if is_wanted && !fields.contains_key(name.as_str()) {
                fields.insert(name.to_string(), value(property));
            }
        }
    }
    object
}

/// A value of a schema. The recursion is as deep as the schema.
fn value(schema: &JsonSchema) -> Json {
    let bounds = &schema.bounds;
    if let Some(first) = bounds.enumeration.first() {
        return first.clone();
    }
    match schema.kind.as_str() {
        "object" => {
            let required = schema.properties.iter();
            let required = required.filter(|(name, field)| is_required(schema, name, field));
            let fields = required.map(|(name, field)| (name.to_string(), value(field)));
            Json::Object(fields.collect::<Map<_, _>>())
        }
        "array" => {
            let item = schema.item().filter(|_| bounds.min_items > Some(0));
            item.map(|item| value(item)).into_iter().collect()
        }
        "boolean" => false.into(),
        "integer" => json!(bounds.minimum.map_or(1, |least| least.ceil() as i64)),
        "number" => json!(bounds.minimum.unwrap_or(1.0)),
        "string" => "example".into(),
        _ if schema.int_or_string => 1.into(),
        _ => json!({}),
    }
}

fn is_required(schema: &JsonSchema, name: &str, field: &JsonSchema) -> bool {
    field.default.is_none() && schema.required.iter().any(|required| required == name)
}

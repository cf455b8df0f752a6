//! Prunes objects: removes the fields that their schema does not know (apiextensions-apiserver `pkg/apiserver/schema/pruning`).

use std::fmt::Display;

use gavel_apimachinery::field::{MAX_ERROR_BYTES, Path};
use gavel_engine::value::Json;

use crate::{JsonSchema, SchemaOrBool};

/// The fields that every object has.
pub(crate) const META_FIELDS: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// The nesting limit for visiting values without a schema.
const MAX_DEPTH: usize = 500;

/// Removes from a value all fields that its schema does not know, and returns their paths, such as `spec.items[0].x`, sorted. `resource`
/// marks the value as a whole object: its `apiVersion`, `kind` and `metadata` are known, even if the schema does not declare them. Without
/// a schema, no further fields are known.
///
/// ```
/// use gavel_schema::{JsonSchema, prune};
/// use serde_json::json;
///
/// # fn main() -> Result<(), serde_json::Error> {
/// let schema: JsonSchema = serde_json::from_value(json!({"properties": {"a": {"items": {"properties": {"b": {}}}}}}))?;
/// let mut object = json!({"kind": "A", "a": [{"b": 1, "c": 2}], "d": {"e": 3}});
/// assert_eq!(prune::prune(&mut object, Some(&schema), true), ["a[0].c", "d"]);
/// assert_eq!(object, json!({"kind": "A", "a": [{"b": 1}]}));
/// # Ok(())
/// # }
/// ```
pub fn prune(value: &mut Json, schema: Option<&JsonSchema>, resource: bool) -> Vec<String> {
    let empty = JsonSchema::default();
    let schema = match resource {
        true => Some(schema.unwrap_or(&empty)),
        false => schema,
    };
    let mut unknown = Unknown::default();
    let node = KnownValue {
        schema,
        embedded: resource || schema.is_some_and(|schema| schema.embedded_resource),
        preserves: schema.is_some_and(JsonSchema::preserves_unknown_fields),
    };
    node.prune(value, &Path::root(), MAX_DEPTH, &mut unknown);
    unknown.into_paths()
}

/// The paths of unknown fields, up to the size limit of errors. If many fields are below a field with a long name, their paths can be longer than the
/// object.
pub(crate) struct Unknown {
    paths: Vec<String>,
    /// The number of bytes that may still be added.
    room: usize,
}

impl Default for Unknown {
    fn default() -> Self {
        Unknown {
            paths: Vec::new(),
            room: MAX_ERROR_BYTES,
        }
    }
}

impl Unknown {
    pub(crate) fn note(&mut self, path: impl Display) {
        if self.room > 0 {
            let path = path.to_string();
            self.room = self.room.saturating_sub(path.len());
            self.paths.push(path);
        }
    }

    /// The paths, sorted.
    pub(crate) fn into_paths(mut self) -> Vec<String> {
        self.paths.sort_unstable();
        self.paths
    }
}

/// The schema of a value, as far as it is known.
#[derive(Clone, Copy)]
struct KnownValue<'s> {
    schema: Option<&'s JsonSchema>,
    /// Whether the value is an object with `apiVersion`, `kind` and `metadata`.
    embedded: bool,
    /// Whether unknown fields are preserved. In a list, this applies to all items. In an object, this applies to its own fields, not to
    /// those of objects within it.
    preserves: bool,
}

impl<'s> KnownValue<'s> {
    fn of(schema: Option<&'s JsonSchema>) -> Self {
        KnownValue {
            schema,
            embedded: schema.is_some_and(|schema| schema.embedded_resource),
            preserves: schema.is_some_and(JsonSchema::preserves_unknown_fields),
        }
    }

    fn prune(self, value: &mut Json, path: &Path<'_>, depth: usize, unknown: &mut Unknown) {
        let Some(depth) = depth.checked_sub(1) else {
            return;
        };
        if self.preserves && self.schema.is_none() {
            return;
        }
        match value {
            Json::Object(fields) => fields.retain(|name, value| {
                let path = path.child(name);
                if self.embedded && META_FIELDS.contains(&name.as_str()) {
                    return true;
                }
                match self.field(name) {
                    Field::Known(schema) => {
                        KnownValue::of(schema).prune(value, &path, depth, unknown);
                        true
                    }
                    Field::Unknown if self.preserves => true,
                    Field::Unknown => {
                        unknown.note(path.strict());
                        false
                    }
                }
            }),
            Json::Array(items) => {
                let item = self.schema.and_then(|schema| schema.item());
                let item = KnownValue::of(item.map(|item| &**item));
                let preserves = self.preserves || item.preserves;
                for (n, value) in items.iter_mut().enumerate() {
                    let path = path.index(n);
                    KnownValue { preserves, ..item }.prune(value, &path, depth, unknown);
                }
            }
            _ => {}
        }
    }

    fn field(self, name: &str) -> Field<'s> {
        let Some(schema) = self.schema else {
            return Field::Unknown;
        };
        if let Some(property) = schema.properties.get(name) {
            return Field::Known(Some(property));
        }
        match &schema.additional_properties {
            Some(SchemaOrBool::Schema(schema)) => Field::Known(Some(schema)),
            Some(SchemaOrBool::Allows(_)) => Field::Known(None),
            None => Field::Unknown,
        }
    }
}

/// The declaration of a field in a schema.
enum Field<'s> {
    /// A declared field, with its schema if it has one.
    Known(Option<&'s JsonSchema>),
    Unknown,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(schema: Json, mut object: Json, expected: Json, unknown: &[&str]) {
        let schema: JsonSchema = serde_json::from_value(schema).unwrap();
        let found = prune(&mut object, Some(&schema), true);
        assert_eq!(object, expected);
        assert_eq!(found, unknown);
    }

    #[test]
    fn preserved_fields_stay_but_specified_fields_below_are_pruned() {
        let inner = json!({"type": "object", "properties": {"b": {"type": "string"}}});
        check(
            json!({"x-kubernetes-preserve-unknown-fields": true, "properties": {"a": inner}}),
            json!({"a": {"b": "", "c": 1}, "d": {"e": 1}}),
            json!({"a": {"b": ""}, "d": {"e": 1}}),
            &["a.c"],
        );
        check(
            json!({"properties": {"l": {"type": "array", "x-kubernetes-preserve-unknown-fields": true, "items": inner}}}),
            json!({"l": [{"b": "", "c": 1}, [{"c": 1}]]}),
            json!({"l": [{"b": "", "c": 1}, [{"c": 1}]]}),
            &[],
        );
    }

    #[test]
    fn maps_prune_their_values() {
        let map =
            |of: Json| json!({"properties": {"m": {"type": "object", "additionalProperties": of}}});
        check(
            map(json!({"type": "object", "properties": {"a": {}}})),
            json!({"m": {"k": {"a": {"x": 1}, "b": 1}, "l": {}}}),
            json!({"m": {"k": {"a": {}}, "l": {}}}),
            &["m.k.a.x", "m.k.b"],
        );
        check(
            map(json!(true)),
            json!({"m": {"k": {"a": 1}, "l": 1}}),
            json!({"m": {"k": {}, "l": 1}}),
            &["m.k.a"],
        );
    }

    #[test]
    fn embedded_resources_keep_type_and_metadata() {
        check(
            json!({"properties": {"t": {"type": "object", "x-kubernetes-embedded-resource": true}, "u": {"type": "object"}}}),
            json!({"t": {"kind": "A", "metadata": {"x": 1}, "spec": 1}, "u": {"kind": "A"}}),
            json!({"t": {"kind": "A", "metadata": {"x": 1}}, "u": {}}),
            &["t.spec", "u.kind"],
        );
    }

    #[test]
    fn lists_without_a_schema_are_pruned_in_depth() {
        check(
            json!({"properties": {"l": {"type": "array"}}}),
            json!({"l": [[[{"": {"b": 1}}]], 1]}),
            json!({"l": [[[{}]], 1]}),
            &["l[0][0][0]."],
        );
    }

    #[test]
    fn reported_paths_are_limited() {
        let long = "k".repeat(MAX_ERROR_BYTES / 2);
        let mut value = json!({long: {"a": 1, "b": 1, "c": 1}});
        let schema: JsonSchema =
            serde_json::from_value(json!({"additionalProperties": {}})).unwrap();
        assert_eq!(prune(&mut value, Some(&schema), true).len(), 2);
        assert!(
            value
                .as_object()
                .unwrap()
                .values()
                .all(|value| *value == json!({}))
        );
    }

    #[test]
    fn deep_values_do_not_end_the_stack() {
        let mut value = json!({"a": 1});
        for _ in 0..2 * MAX_DEPTH {
            value = Json::Array(vec![value]);
        }
        assert!(prune(&mut value, None, false).is_empty());
    }
}

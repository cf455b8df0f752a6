//! Resolves the references between schemas of OpenAPI v3 documents (apiserver `pkg/cel/openapi/resolver/refs.go`,
//! `pkg/cel/openapi/adaptor.go`).

use std::sync::Arc;

use gavel_engine::value::{Json, JsonObject};
use smol_str::SmolStr;

use crate::{Bounds, Items, JsonSchema, MAX_DEPTH, OptionalList, Pool, SchemaOrBool, Topology};

/// The maximum number of schemas within a schema, after references are followed. The schema of a Pod contains 2,500 schemas.
const MAX_PARTS: usize = 500_000;

/// The key that names the kind of a schema or path.
const KIND: &str = "x-kubernetes-group-version-kind";

/// The error for a schema that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OpenApiError {
    /// The target of a reference does not exist.
    #[error("internal error: cannot resolve Ref {0:?}: schema not found")]
    Unresolved(String),
    /// The schema is too deep or too large after following references.
    #[error(
        "must have at most {MAX_DEPTH} levels and {MAX_PARTS} parts, including the parts that references add"
    )]
    TooLarge,
}

/// Reads the schema in `json` and replaces references by their targets. `definition` finds a target by its name, which is the last step of
/// the reference. A reference to an enclosing schema becomes an object without known fields.
///
/// The result has the keys that determine types, values and sizes; other constraints on values are omitted.
///
/// ```
/// use gavel_schema::openapi;
/// use serde_json::json;
///
/// let definitions = json!({"Port": {"type": "integer"}});
/// let schema = json!({"type": "object", "properties": {"port": {"$ref": "#/components/schemas/Port"}}});
/// let schema = openapi::resolve(&schema, &|name| definitions.get(name))?;
/// assert_eq!(schema.properties.get("port").map(|schema| schema.kind.as_str()), Some("integer"));
/// # Ok::<(), openapi::OpenApiError>(())
/// ```
///
/// # Errors
///
/// The target of a reference does not exist, or the schema is too large.
pub fn resolve<'a>(
    json: &'a Json,
    definition: &dyn Fn(&str) -> Option<&'a Json>,
) -> Result<JsonSchema, OpenApiError> {
    let mut resolver = Resolver {
        definition,
        within: Vec::new(),
        parts: 0,
        pool: Pool::default(),
    };
    resolver.schema(json, 0)
}

/// The resources of a Kubernetes API's document: the plural name of each, and its kind as JSON.
pub fn resources(document: &Json) -> impl Iterator<Item = (&str, &Json)> {
    let paths = document.get("paths").and_then(Json::as_object);
    paths
        .into_iter()
        .flatten()
        .filter_map(|(path, operations)| {
            let (_, name) = path.rsplit_once('/')?;
            // The paths of subresources contain the name of an object.
            let is_resource = !name.is_empty() && !path.contains("{name}");
            let kind = operations.get("get")?.get(KIND)?;
            is_resource.then_some((name, kind))
        })
}

/// The kinds among the schemas of a Kubernetes API's document: each kind as JSON, and its schema. A schema that belongs to several kinds,
/// such as the options of requests, is not a kind of object.
pub fn kinds(schemas: &JsonObject) -> impl Iterator<Item = (&Json, &Json)> {
    schemas.values().filter_map(|schema| {
        let kinds = schema.get(KIND)?.as_array()?;
        match kinds.as_slice() {
            [kind] => Some((kind, schema)),
            _ => None,
        }
    })
}

struct Resolver<'a, 'd> {
    definition: &'d dyn Fn(&str) -> Option<&'a Json>,
    /// The references that are being followed.
    within: Vec<&'a str>,
    parts: usize,
    pool: Pool,
}

impl<'a> Resolver<'a, '_> {
    fn schema(&mut self, json: &'a Json, depth: usize) -> Result<JsonSchema, OpenApiError> {
        self.parts = self.parts.saturating_add(1);
        if depth >= MAX_DEPTH || self.parts > MAX_PARTS {
            return Err(OpenApiError::TooLarge);
        }
        let Some(reference) = reference(json, depth) else {
            return self.resolved(json, depth);
        };
        if self.within.contains(&reference) {
            return Ok(JsonSchema {
                kind: SmolStr::new_static("object"),
                ..JsonSchema::default()
            });
        }
        let name = reference.rsplit('/').next().unwrap_or(reference);
        let unresolved = || OpenApiError::Unresolved(reference.to_owned());
        let referred = (self.definition)(name).ok_or_else(unresolved)?;
        self.within.push(reference);
        let schema = self.resolved(referred, depth);
        self.within.pop();
        schema
    }

    fn shared(&mut self, json: &'a Json, depth: usize) -> Result<Arc<JsonSchema>, OpenApiError> {
        let schema = self.schema(json, depth)?;
        Ok(self.pool.share(schema))
    }

    /// Converts a schema that is not a reference, or whose reference has been followed.
    fn resolved(&mut self, json: &'a Json, depth: usize) -> Result<JsonSchema, OpenApiError> {
        let depth = depth.saturating_add(1);
        let mut properties = Vec::new();
        for (name, property) in json
            .get("properties")
            .and_then(Json::as_object)
            .into_iter()
            .flatten()
        {
            properties.push((name.into(), self.shared(property, depth)?));
        }
        let additional_properties = match json.get("additionalProperties") {
            Some(Json::Bool(allows)) => Some(SchemaOrBool::Allows(*allows)),
            Some(schema @ Json::Object(_)) => {
                Some(SchemaOrBool::Schema(self.shared(schema, depth)?))
            }
            _ => None,
        };
        let items = match json.get("items") {
            Some(schema @ Json::Object(_)) => Some(Items::Schema(self.shared(schema, depth)?)),
            _ => None,
        };
        let number = |key: &str| json.get(key).and_then(Json::as_i64);
        let flag = |key: &str| json.get(key).and_then(Json::as_bool);
        let format = text(json, "format").unwrap_or_default();
        Ok(JsonSchema {
            kind: kind(json).into(),
            format: format.into(),
            default: json
                .get("default")
                .filter(|default| !default.is_null())
                .map(|default| Box::new(default.clone())),
            bounds: Bounds {
                max_length: number("maxLength"),
                max_items: number("maxItems"),
                max_properties: number("maxProperties"),
                enumeration: list(json, "enum").cloned().collect(),
                ..Bounds::default()
            }
            .into(),
            required: texts(json, "required"),
            items,
            properties: properties.into_iter().collect(),
            additional_properties,
            nullable: flag("nullable").unwrap_or_default(),
            preserve_unknown_fields: flag("x-kubernetes-preserve-unknown-fields"),
            embedded_resource: flag("x-kubernetes-embedded-resource").unwrap_or_default(),
            // Kubernetes' own types declare int-or-string by the format.
            int_or_string: format == "int-or-string"
                || flag("x-kubernetes-int-or-string").unwrap_or_default(),
            topology: Topology {
                list_map_keys: texts(json, "x-kubernetes-list-map-keys"),
                list_type: text(json, "x-kubernetes-list-type").map(SmolStr::new),
                map_type: text(json, "x-kubernetes-map-type").map(SmolStr::new),
            }
            .into(),
            ..JsonSchema::default()
        })
    }
}

/// The reference of a schema; an empty reference counts as absent. A reference may also be in `allOf`, which allows a description next to
/// the reference.
fn reference(json: &Json, depth: usize) -> Option<&str> {
    if let Some(reference) = text(json, "$ref").filter(|reference| !reference.is_empty()) {
        return Some(reference);
    }
    if depth >= MAX_DEPTH {
        return None;
    }
    list(json, "allOf").find_map(|each| reference(each, depth.saturating_add(1)))
}

/// The type of a schema; the first type if there are several.
fn kind(json: &Json) -> &str {
    match json.get("type") {
        Some(Json::Array(types)) => types.first().and_then(Json::as_str),
        kind => kind.and_then(Json::as_str),
    }
    .unwrap_or_default()
}

fn text<'a>(json: &'a Json, key: &str) -> Option<&'a str> {
    json.get(key)?.as_str()
}

fn list<'a>(json: &'a Json, key: &str) -> impl Iterator<Item = &'a Json> {
    json.get(key).and_then(Json::as_array).into_iter().flatten()
}

fn texts(json: &Json, key: &str) -> OptionalList<SmolStr> {
    list(json, key)
        .filter_map(Json::as_str)
        .map(SmolStr::new)
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn references_are_followed_until_they_lead_back() {
        let definitions = json!({
            "Node": {"type": "object", "properties": {
                "next": {"allOf": [{"$ref": "#/components/schemas/Node"}], "description": "the next"},
                "size": {"type": ["integer", "null"]},
            }},
        });
        let schema = json!({"$ref": "#/components/schemas/Node"});
        let schema = resolve(&schema, &|name| definitions.get(name)).expect("a schema");
        assert_eq!(
            schema
                .properties
                .get("size")
                .map(|schema| schema.kind.as_str()),
            Some("integer")
        );
        assert_eq!(
            schema
                .properties
                .get("next")
                .map(|schema| schema.kind.as_str()),
            Some("object")
        );
        assert!(
            schema
                .properties
                .get("next")
                .is_some_and(|next| next.properties.is_empty())
        );
    }

    #[test]
    fn an_empty_reference_counts_as_absent() {
        let schema = json!({"$ref": "", "type": "string"});
        let schema = resolve(&schema, &|_| None).unwrap();
        assert_eq!(schema.kind, "string");
    }

    #[test]
    fn dangling_and_endless_references_are_errors() {
        let schema = json!({"items": {"$ref": "#/components/schemas/None"}});
        let error = resolve(&schema, &|_| None).expect_err("no such schema");
        assert_eq!(
            error.to_string(),
            "internal error: cannot resolve Ref \"#/components/schemas/None\": schema not found"
        );
        let definitions: serde_json::Map<_, _> = (0..40)
            .map(|n| {
                let next = json!({"$ref": format!("#/{}", n + 1)});
                let properties = json!({"a": next, "b": next});
                (
                    n.to_string(),
                    json!({"type": "object", "properties": properties}),
                )
            })
            .chain([("40".to_owned(), json!({"type": "string"}))])
            .collect();
        let definitions = Json::Object(definitions);
        let schema = json!({"$ref": "#/0"});
        let error = resolve(&schema, &|name| definitions.get(name)).expect_err("too large");
        assert_eq!(error, OpenApiError::TooLarge);
    }
}

//! Decodes the JSON of custom resources as an API server does before it validates them (apiextensions-apiserver
//! `pkg/apiserver/customresource_handler.go`).

use gavel_apimachinery::field::{Error, Path};
use gavel_apimachinery::json;
use gavel_apimachinery::meta::{self, GroupVersion, MetadataView};
use gavel_apimachinery::serializer::{DecodeError, type_mismatch};
use gavel_engine::value::Json;
use gavel_schema::{JsonSchema, default, embedded, prune};
use serde_json::Map;

/// Decodes the objects of a definition, in any version.
#[derive(Clone, Copy)]
pub struct Decoder<'a> {
    /// The group of the definition.
    pub group: &'a str,
    /// The kind of the definition.
    pub kind: &'a str,
    /// A function that returns the schema of a version, with its defaults pruned ([`default::prune_defaults`]).
    pub schema: &'a dyn Fn(&str) -> Option<&'a JsonSchema>,
    /// Whether unknown fields and null are preserved.
    pub preserve_unknown_fields: bool,
    /// Whether defaults are set.
    pub defaults: bool,
}

/// The source of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// A request: malformed metadata is an error.
    Request,
    /// Storage: malformed fields of the metadata are dropped, and a missing generation is set to 1.
    Storage,
}

impl std::fmt::Debug for Decoder<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Decoder { group, kind, .. } = self;
        write!(f, "Decoder({group}/{kind})")
    }
}

impl Decoder<'_> {
    /// Decodes an object in place as an API server does: prunes unknown fields, drops null where it is not allowed, rewrites the metadata,
    /// and sets defaults. Returns the paths of unknown fields, which clients see as `unknown field "spec.x"`: first those of the metadata,
    /// then those of the schema, then those of embedded metadata, each sorted by text.
    ///
    /// # Errors
    ///
    /// The API server would reject the object; the message is the API server's. Or the defaults take too much memory
    /// ([`default::DefaultsTooLarge`]). The object may then be partly converted.
    pub fn decode(&self, object: &mut Json, source: Source) -> Result<Vec<String>, DecodeError> {
        let Json::Object(fields) = object else {
            let found = json::kind(object);
            let message = type_mismatch(found, "", "", "map[string]interface {}");
            return Err(DecodeError::new("", message));
        };
        let kind = text(fields, "kind")?;
        let is_kind = kind == self.kind;
        let api_version = text(fields, "apiVersion")?.to_owned();
        // The metadata is removed first, because the schema does not apply to it.
        let mut metadata = fields.remove("metadata");
        let mut unknown = Vec::new();
        if let Some(metadata) = &mut metadata {
            let decoded = match source {
                Source::Request => meta::decode(metadata),
                Source::Storage => meta::decode_stored(metadata),
            };
            unknown = decoded.map_err(|error| error.within("metadata"))?;
            for path in &mut unknown {
                path.insert_str(0, "metadata.");
            }
        }
        let GroupVersion { group, version } = GroupVersion::parse(&api_version)
            .map_err(|message| DecodeError::new("apiVersion", message))?;
        let is_own = is_kind && group == self.group;
        let schema = (self.schema)(version);
        if is_own {
            unknown.extend(self.coerce(object, schema, source)?);
            if source == Source::Storage {
                repair_generation(metadata.as_mut());
            }
        }
        if let (Some(metadata), Json::Object(fields)) = (metadata, &mut *object) {
            fields.insert("metadata".to_owned(), metadata);
        }
        if let Some(schema) = schema.filter(|_| is_own && self.defaults) {
            let filled = default::fill(object, schema);
            filled.map_err(|error| DecodeError::new("", error.to_string()))?;
        }
        Ok(unknown)
    }

    fn coerce(
        &self,
        object: &mut Json,
        schema: Option<&JsonSchema>,
        source: Source,
    ) -> Result<Vec<String>, DecodeError> {
        let mut unknown = Vec::new();
        if !self.preserve_unknown_fields {
            unknown = prune::prune(object, schema, true);
            if let Some(schema) = schema {
                default::drop_nulls(object, schema);
            }
        }
        match source {
            Source::Request => {
                let root = Path::root();
                let embedded = embedded::coerce(object, schema, false, &root);
                let decoded = |error: Error| DecodeError::new(&*error.field, error.to_string());
                unknown.extend(embedded.map_err(decoded)?);
            }
            Source::Storage => embedded::coerce_stored(object, schema, false),
        }
        Ok(unknown)
    }
}

/// The string in a field; empty if the field is absent.
fn text<'a>(fields: &'a Map<String, Json>, name: &str) -> Result<&'a str, DecodeError> {
    match fields.get(name) {
        None => Ok(""),
        Some(Json::String(text)) => Ok(text),
        Some(other) => {
            let (text, found) = (json::go_text(other), json::go_type(other));
            let message =
                format!(".{name} accessor error: {text} is of the type {found}, expected string");
            Err(DecodeError::new(name, message))
        }
    }
}

/// Sets the generation if it is missing, as in objects of very old clusters.
fn repair_generation(metadata: Option<&mut Json>) {
    if let Some(metadata) = metadata
        && MetadataView::new(metadata).generation() == 0
        && let Json::Object(fields) = metadata
    {
        fields.insert("generation".to_owned(), 1.into());
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn decode(mut object: Json, source: Source) -> Result<(Json, Vec<String>), DecodeError> {
        let schema: JsonSchema = serde_json::from_value(json!({"properties": {
            "spec": {"default": {}, "properties": {"a": {}, "b": {"default": 1}}},
            "metadata": {"properties": {"name": {"type": "string"}}},
            "pod": {"x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true},
        }}))
        .unwrap();
        let decoder = Decoder {
            group: "a.io",
            kind: "A",
            schema: &|version| (version == "v1").then_some(&schema),
            preserve_unknown_fields: false,
            defaults: true,
        };
        let unknown = decoder.decode(&mut object, source)?;
        Ok((object, unknown))
    }

    #[track_caller]
    fn check(object: Json, source: Source, expected: Json, unknown: &[&str]) {
        let (object, found) = decode(object, source).unwrap();
        assert_eq!(object, expected);
        assert_eq!(found, unknown);
    }

    #[test]
    fn objects_are_pruned_and_filled_by_the_schema_of_their_version() {
        check(
            json!({"apiVersion": "a.io/v1", "kind": "A", "metadata": {"labels": {"a": null}, "x": 1}, "spec": {"a": null, "c": 1}, "pod": {"metadata": {"y": 1}}}),
            Source::Request,
            json!({"apiVersion": "a.io/v1", "kind": "A", "metadata": {"labels": {"a": ""}}, "spec": {"b": 1}, "pod": {"metadata": {}}}),
            &["metadata.x", "spec.c", "pod.metadata.y"],
        );
        check(
            json!({"apiVersion": "a.io/v2", "kind": "A", "spec": {"a": 1}}),
            Source::Request,
            json!({"apiVersion": "a.io/v2", "kind": "A"}),
            &["spec"],
        );
    }

    #[test]
    fn objects_of_another_kind_keep_all_but_their_metadata() {
        check(
            json!({"apiVersion": "a.io/v1", "kind": "B", "metadata": {"x": 1}, "spec": {"c": null}}),
            Source::Request,
            json!({"apiVersion": "a.io/v1", "kind": "B", "metadata": {}, "spec": {"c": null}}),
            &["metadata.x"],
        );
    }

    #[test]
    fn storage_is_forgiven() {
        check(
            json!({"apiVersion": "a.io/v1", "kind": "A", "metadata": {"name": "a", "labels": 1}, "spec": {"b": 2}, "pod": {"kind": 1}}),
            Source::Storage,
            json!({"apiVersion": "a.io/v1", "kind": "A", "metadata": {"name": "a", "generation": 1}, "spec": {"b": 2}, "pod": {}}),
            &[],
        );
    }

    #[test]
    fn storage_may_lack_metadata() {
        let object = json!({"apiVersion": "a.io/v1", "kind": "A", "spec": {"b": 2}});
        check(object.clone(), Source::Storage, object, &[]);
    }

    #[test]
    fn unreadable_fields_are_rejected_in_order() {
        let check = |object: Json, expected: &str| {
            let found = decode(object.clone(), Source::Request).unwrap_err();
            assert_eq!(found.message, expected, "{object}");
        };
        check(
            json!([]),
            "json: cannot unmarshal array into Go value of type map[string]interface {}",
        );
        check(
            json!({"kind": {"a": [1, null]}, "apiVersion": 1}),
            ".kind accessor error: map[a:[1 <nil>]] is of the type map[string]interface {}, expected string",
        );
        check(
            json!({"apiVersion": 1.5, "metadata": 1}),
            ".apiVersion accessor error: 1.5 is of the type float64, expected string",
        );
        check(
            json!({"apiVersion": "a/b/c", "metadata": 1}),
            "json: cannot unmarshal number into Go value of type v1.ObjectMeta",
        );
        check(
            json!({"apiVersion": "a/b/c"}),
            "unexpected GroupVersion string: a/b/c",
        );
        check(
            json!({"apiVersion": "a.io/v1", "kind": "A", "pod": {"apiVersion": 1}}),
            "pod.apiVersion: Invalid value: 1: must be a string",
        );
    }
}

//! Decodes and validates the `apiVersion`, `kind` and `metadata` of embedded objects (apiextensions-apiserver
//! `pkg/apiserver/schema/objectmeta`).

use gavel_apimachinery::field::{Error, Errors, Path};
use gavel_apimachinery::meta::{self, GroupVersion, MetadataView};
use gavel_apimachinery::names;
use gavel_apimachinery::server::Server;
use gavel_engine::value::Json;

use crate::JsonSchema;
use crate::prune::Unknown;

/// Rewrites the metadata of all embedded objects as an API server does, and returns the paths of unknown fields in the metadata, sorted.
/// `resource` marks the value itself as an embedded object, even if the schema does not; `path` is the path of the value.
///
/// # Errors
///
/// The `apiVersion` or `kind` of an embedded object is not a string, or its metadata is malformed. The first such object in the order of
/// field names is reported.
pub fn coerce(
    value: &mut Json,
    schema: Option<&JsonSchema>,
    resource: bool,
    path: &Path<'_>,
) -> Result<Vec<String>, Error> {
    walk(value, schema, resource, false, path)
}

/// Like [`coerce`], for objects that were read from storage: malformed fields are dropped.
pub fn coerce_stored(value: &mut Json, schema: Option<&JsonSchema>, resource: bool) {
    // The walk cannot fail, because malformed fields are dropped.
    let _ = walk(value, schema, resource, true, &Path::root());
}

fn walk(
    value: &mut Json,
    schema: Option<&JsonSchema>,
    resource: bool,
    stored: bool,
    path: &Path<'_>,
) -> Result<Vec<String>, Error> {
    let empty = JsonSchema::default();
    let mut coercion = Coercion {
        stored,
        unknown: Unknown::default(),
    };
    match schema {
        Some(schema) => {
            coercion.value(value, schema, resource || schema.embedded_resource, path)?
        }
        None if resource => coercion.value(value, &empty, true, path)?,
        None => {}
    }
    Ok(coercion.unknown.into_paths())
}

struct Coercion {
    stored: bool,
    unknown: Unknown,
}

impl Coercion {
    fn value(
        &mut self,
        value: &mut Json,
        schema: &JsonSchema,
        embedded: bool,
        path: &Path<'_>,
    ) -> Result<(), Error> {
        if embedded {
            self.object(value, path)?;
        }
        match value {
            Json::Object(fields) => {
                for (name, value) in fields {
                    if let Some(schema) = schema.properties.get(name) {
                        self.value(value, schema, schema.embedded_resource, &path.child(name))?;
                    } else if let Some(schema) = schema.value() {
                        self.value(value, schema, schema.embedded_resource, &path.key(name))?;
                    }
                }
            }
            Json::Array(items) => {
                if let Some(schema) = schema.item() {
                    for (n, value) in items.iter_mut().enumerate() {
                        self.value(value, schema, schema.embedded_resource, &path.index(n))?;
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn object(&mut self, value: &mut Json, path: &Path<'_>) -> Result<(), Error> {
        let Json::Object(fields) = value else {
            return Ok(());
        };
        for name in ["apiVersion", "kind"] {
            match fields.get(name) {
                None | Some(Json::String(_)) => {}
                Some(_) if self.stored => {
                    fields.remove(name);
                }
                Some(other) => {
                    return Err(Error::invalid(&path.child(name), other, "must be a string"));
                }
            }
        }
        let Some(metadata) = fields.get_mut("metadata") else {
            return Ok(());
        };
        let path = path.child("metadata");
        match self.stored {
            true => {
                // Metadata that is not an object stays unchanged.
                let _ = meta::decode_stored(metadata);
            }
            false => {
                let unknown = meta::decode(metadata)
                    .map_err(|error| Error::invalid(&path, &*metadata, error.message))?;
                for field in &unknown {
                    self.unknown.note(format_args!("{path}.{field}"));
                }
            }
        }
        Ok(())
    }
}

/// The errors in the `apiVersion`, `kind` and `metadata` of all embedded objects. `resource` and `path` are as for [`coerce`].
pub fn validate(
    value: &Json,
    schema: Option<&JsonSchema>,
    resource: bool,
    path: &Path<'_>,
    server: Server,
) -> Vec<Error> {
    let mut errors = Errors::default();
    let empty = JsonSchema::default();
    match schema {
        Some(schema) => {
            let embedded = resource || schema.embedded_resource;
            validate_value(&mut errors, value, schema, embedded, path, server);
        }
        None if resource => validate_value(&mut errors, value, &empty, true, path, server),
        None => {}
    }
    errors.into_vec()
}

fn validate_value(
    errors: &mut Errors,
    value: &Json,
    schema: &JsonSchema,
    embedded: bool,
    path: &Path<'_>,
    server: Server,
) {
    if errors.is_full() {
        return;
    }
    if embedded && value.is_object() {
        validate_object(errors, value, path, server);
    }
    let mut below = |value, schema: &JsonSchema, path: &Path<'_>| {
        validate_value(
            errors,
            value,
            schema,
            schema.embedded_resource,
            path,
            server,
        );
    };
    match value {
        Json::Object(fields) => {
            for (name, value) in fields {
                if let Some(schema) = schema.properties.get(name) {
                    below(value, schema, &path.child(name));
                } else if let Some(schema) = schema.value() {
                    below(value, schema, &path.key(name));
                }
            }
        }
        Json::Array(items) => {
            if let Some(schema) = schema.item() {
                for (n, value) in items.iter().enumerate() {
                    below(value, schema, &path.index(n));
                }
            }
        }
        _ => {}
    }
}

fn validate_object(errors: &mut Errors, object: &Json, path: &Path<'_>, server: Server) {
    let fields = [
        (
            "apiVersion",
            api_version_fault as fn(&str) -> Option<String>,
        ),
        ("kind", kind_fault),
    ];
    for (name, fault) in fields {
        let path = path.child(name);
        match object.get(name) {
            None => errors.push(Error::required(&path, "")),
            Some(Json::String(text)) => {
                errors.extend(fault(text).map(|fault| Error::invalid(&path, text, fault)));
            }
            Some(other) => errors.push(Error::invalid(&path, other, "must be a string")),
        }
    }
    let Some(metadata) = object.get("metadata") else {
        return;
    };
    let path = path.child("metadata");
    match meta::check(metadata) {
        Err(error) => errors.push(Error::invalid(&path, metadata, error.message)),
        Ok(_) => {
            let metadata = MetadataView::new(metadata);
            // An embedded object needs no name.
            let name = match metadata.name() {
                "" => "fakename",
                name => name,
            };
            let namespaced = !metadata.namespace().is_empty();
            let rule = names::path_segment;
            let found = meta::validate_named(metadata, name, namespaced, rule, &path, server);
            errors.extend(meta::without_repetitions(found, server));
        }
    }
}

fn api_version_fault(text: &str) -> Option<String> {
    match text {
        "" => Some("must not be empty".to_owned()),
        text => GroupVersion::parse(text).err(),
    }
}

fn kind_fault(text: &str) -> Option<String> {
    if text.is_empty() {
        return Some("must not be empty".to_owned());
    }
    let faults = names::dns1035_label(names::lower_case(text).as_bytes());
    let may = "may have mixed case, but should otherwise match: ";
    (!faults.is_empty()).then(|| format!("{may}{}", faults.join(",")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schema() -> JsonSchema {
        let object = json!({"type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true});
        serde_json::from_value(json!({
            "properties": {"one": object, "list": {"items": object}, "map": {"additionalProperties": object}},
        }))
        .unwrap()
    }

    #[test]
    fn metadata_of_embedded_objects_is_written_anew() {
        let schema = schema();
        let mut object = json!({
            "metadata": {"x": 1},
            "one": {"metadata": {"name": "", "x": 1}},
            "list": [{"metadata": {"ownerReferences": [{"x": 1, "uid": "u"}]}}, 1],
            "map": {"k.l": {"metadata": null, "spec": {"metadata": {"x": 1}}}},
        });
        let unknown = coerce(&mut object, Some(&schema), false, &Path::root()).unwrap();
        let expected = ["list[0].metadata.ownerReferences[0].x", "one.metadata.x"];
        assert_eq!(unknown, expected);
        let owner = json!({"apiVersion": "", "kind": "", "name": "", "uid": "u"});
        assert_eq!(
            object,
            json!({
                "metadata": {"x": 1},
                "one": {"metadata": {}},
                "list": [{"metadata": {"ownerReferences": [owner]}}, 1],
                "map": {"k.l": {"metadata": {}, "spec": {"metadata": {"x": 1}}}},
            })
        );
    }

    #[test]
    fn malformed_objects_are_refused_unless_they_come_from_storage() {
        let check = |object: Json, expected: &str, stored: Json| {
            let schema = schema();
            let mut requested = object.clone();
            let error = coerce(&mut requested, Some(&schema), false, &Path::root()).unwrap_err();
            assert_eq!(error.to_string(), expected);
            let mut object = object;
            coerce_stored(&mut object, Some(&schema), false);
            assert_eq!(object, stored);
        };
        check(
            json!({"map": {"k": {"kind": 1, "apiVersion": "v1"}}}),
            "map[k].kind: Invalid value: 1: must be a string",
            json!({"map": {"k": {"apiVersion": "v1"}}}),
        );
        check(
            json!({"list": [{"metadata": {"name": "a", "labels": 1}}]}),
            r#"list[0].metadata: Invalid value: {"labels":1,"name":"a"}: json: cannot unmarshal number into Go struct field ObjectMeta.labels of type map[string]string"#,
            json!({"list": [{"metadata": {"name": "a"}}]}),
        );
        check(
            json!({"one": {"metadata": "a"}}),
            r#"one.metadata: Invalid value: "a": json: cannot unmarshal string into Go value of type v1.ObjectMeta"#,
            json!({"one": {"metadata": "a"}}),
        );
    }

    #[test]
    fn errors_and_unknown_fields_are_limited() {
        let key = "k".repeat(1 << 20);
        let objects = vec![json!({"kind": "A", "metadata": {"x": 1}}); 100];
        let mut object = json!({"map": {key: {"list": objects}}});
        let list = json!({"items": {"x-kubernetes-embedded-resource": true}});
        let lists = json!({"additionalProperties": {"properties": {"list": list}}});
        let schema = serde_json::from_value(json!({"properties": {"map": lists}})).unwrap();
        let errors = validate(
            &object,
            Some(&schema),
            false,
            &Path::root(),
            Server::default(),
        );
        assert_eq!(errors.len(), 16);
        let unknown = coerce(&mut object, Some(&schema), false, &Path::root()).unwrap();
        assert_eq!(unknown.len(), 16);
    }

    #[test]
    fn embedded_objects_have_a_type_and_valid_metadata() {
        let check = |object: Json, expected: &[&str]| {
            let errors = validate(
                &object,
                Some(&schema()),
                false,
                &Path::root(),
                Server::default(),
            );
            let errors: Vec<_> = errors.iter().map(ToString::to_string).collect();
            assert_eq!(errors, expected, "{object}");
        };
        check(json!({"one": {"apiVersion": "v1", "kind": "PoD"}}), &[]);
        check(
            json!({"list": [{}]}),
            &[
                "list[0].apiVersion: Required value",
                "list[0].kind: Required value",
            ],
        );
        check(
            json!({"map": {"k": {"apiVersion": "a/b/c", "kind": "1", "metadata": {}}}}),
            &[
                r#"map[k].apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c"#,
                r#"map[k].kind: Invalid value: "1": may have mixed case, but should otherwise match: a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"#,
            ],
        );
        check(
            json!({"one": {"apiVersion": "", "kind": "", "metadata": {"name": "..", "generation": -1}}}),
            &[
                r#"one.apiVersion: Invalid value: "": must not be empty"#,
                r#"one.kind: Invalid value: "": must not be empty"#,
                r#"one.metadata.name: Invalid value: "..": may not be '..'"#,
                "one.metadata.generation: Invalid value: -1: must be greater than or equal to 0",
            ],
        );
        check(
            json!({"one": {"apiVersion": 1, "kind": "A", "metadata": {"name": 1}}}),
            &[
                "one.apiVersion: Invalid value: 1: must be a string",
                r#"one.metadata: Invalid value: {"name":1}: json: cannot unmarshal number into Go struct field ObjectMeta.name of type string"#,
            ],
        );
    }
}

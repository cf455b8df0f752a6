//! Finds the fields of a definition that an API server's strict decoder does not know, and lists where it expects objects
//! (`sigs.k8s.io/json` over apiextensions `pkg/apis/apiextensions/v1/{types,types_jsonschema}.go`).

use gavel_apimachinery::field::Path;
use gavel_apimachinery::meta;
use gavel_engine::value::Json;

/// The maximum number of unknown fields that the decoder reports.
const MAX_UNKNOWN: usize = 100;

/// The fields that the decoder knows in a value.
enum KnownFields {
    /// Any field: the value is not a struct, or its type has a custom decoder, which does not report unknown fields.
    All,
    /// The fields of a struct.
    Fields(&'static [(&'static str, &'static KnownFields)]),
    /// A list with these elements.
    List(&'static KnownFields),
    /// A map with these values.
    Map(&'static KnownFields),
    /// `metav1.ObjectMeta`.
    Metadata,
}

/// The paths of fields that an API server does not know: at most 100, in the order of keys.
pub(super) fn unknown_fields(json: &Json) -> Vec<String> {
    let mut unknown = Vec::new();
    visit(json, &DEFINITION, &Path::root(), &mut unknown);
    unknown.truncate(MAX_UNKNOWN);
    unknown
}

/// The path of a list where an API server expects an object. Schemas are not searched, because the schema reader refuses such lists.
pub(super) fn misplaced_list(json: &Json) -> Option<String> {
    find_list(json, &DEFINITION, &Path::root())
}

fn find_list(value: &Json, known: &KnownFields, path: &Path<'_>) -> Option<String> {
    match (known, value) {
        (KnownFields::Fields(_), Json::Array(_)) => Some(path.strict().to_string()),
        (KnownFields::Fields(known), Json::Object(fields)) => known
            .iter()
            .filter(|(name, _)| *name != "schema")
            .find_map(|(name, known)| find_list(fields.get(*name)?, known, &path.child(name))),
        (KnownFields::List(known), Json::Array(items)) => {
            let mut items = items.iter().enumerate();
            items.find_map(|(n, value)| find_list(value, known, &path.index(n)))
        }
        _ => None,
    }
}

/// Visits a value and the values within it. Recurses as deep as the table of known fields; within schemas, as deep as the schemas are
/// nested.
fn visit(value: &Json, known: &KnownFields, path: &Path<'_>, unknown: &mut Vec<String>) {
    if unknown.len() >= MAX_UNKNOWN {
        return;
    }
    match (known, value) {
        (KnownFields::Fields(known), Json::Object(fields)) => {
            for (name, value) in fields {
                let path = path.child(name);
                match known.iter().find(|(known, _)| known == name) {
                    Some((_, known)) => visit(value, known, &path, unknown),
                    None => add(path.strict().to_string(), unknown),
                }
            }
        }
        (KnownFields::Map(known), Json::Object(entries)) => {
            for (key, value) in entries {
                visit(value, known, &path.child(key), unknown);
            }
        }
        (KnownFields::List(known), Json::Array(items)) => {
            for (n, value) in items.iter().enumerate() {
                visit(value, known, &path.index(n), unknown);
            }
        }
        (KnownFields::Metadata, metadata) => {
            for field in meta::check(metadata).unwrap_or_default() {
                add(format!("{}.{field}", path.strict()), unknown);
            }
        }
        _ => {}
    }
}

/// Adds a path, unless it was added before: field names with dots can make two paths equal.
fn add(path: String, unknown: &mut Vec<String>) {
    if !unknown.contains(&path) {
        unknown.push(path);
    }
}

macro_rules! fields {
    ($($name:literal $(: $known:expr)?),* $(,)?) => {
        KnownFields::Fields(&[$(($name, fields!(@ $($known)?))),*])
    };
    (@) => { &KnownFields::All };
    (@ $known:expr) => { &$known };
}

static DEFINITION: KnownFields = fields! {
    "apiVersion", "kind", "metadata": KnownFields::Metadata, "spec": SPEC, "status": STATUS,
};

static SPEC: KnownFields = fields! {
    "group", "names": NAMES, "scope", "versions": KnownFields::List(&VERSION), "conversion": CONVERSION,
    "preserveUnknownFields",
};

static NAMES: KnownFields =
    fields! { "plural", "singular", "shortNames", "kind", "listKind", "categories" };

static VERSION: KnownFields = fields! {
    "name", "served", "storage", "deprecated", "deprecationWarning",
    "schema": fields! { "openAPIV3Schema": SCHEMA },
    "subresources": fields! {
        "status": fields! {},
        "scale": fields! { "specReplicasPath", "statusReplicasPath", "labelSelectorPath" },
    },
    "additionalPrinterColumns": KnownFields::List(&fields! {
        "name", "type", "format", "description", "priority", "jsonPath"
    }),
    "selectableFields": KnownFields::List(&fields! { "jsonPath" }),
};

static CONVERSION: KnownFields = fields! {
    "strategy",
    "webhook": fields! {
        "clientConfig": fields! {
            "url", "caBundle", "service": fields! { "namespace", "name", "path", "port" }
        },
        "conversionReviewVersions",
    },
};

static STATUS: KnownFields = fields! {
    "conditions": KnownFields::List(&fields! {
        "type", "status", "lastTransitionTime", "reason", "message", "observedGeneration"
    }),
    "acceptedNames": NAMES, "storedVersions", "observedGeneration",
};

/// The fields of a schema. `items`, `additionalProperties`, `additionalItems` and `dependencies` have custom decoders.
static SCHEMA: KnownFields = fields! {
    "id", "$schema", "$ref", "description", "type", "format", "title", "default", "maximum",
    "exclusiveMaximum", "minimum", "exclusiveMinimum", "maxLength", "minLength", "pattern",
    "maxItems", "minItems", "uniqueItems", "multipleOf", "enum", "maxProperties", "minProperties",
    "required", "items",
    "allOf": KnownFields::List(&SCHEMA), "oneOf": KnownFields::List(&SCHEMA), "anyOf": KnownFields::List(&SCHEMA),
    "not": SCHEMA,
    "properties": KnownFields::Map(&SCHEMA), "additionalProperties",
    "patternProperties": KnownFields::Map(&SCHEMA), "dependencies", "additionalItems",
    "definitions": KnownFields::Map(&SCHEMA),
    "externalDocs": fields! { "description", "url" },
    "example", "nullable", "x-kubernetes-preserve-unknown-fields",
    "x-kubernetes-embedded-resource", "x-kubernetes-int-or-string", "x-kubernetes-list-map-keys",
    "x-kubernetes-list-type", "x-kubernetes-map-type",
    "x-kubernetes-validations": KnownFields::List(&fields! {
        "rule", "message", "messageExpression", "reason", "fieldPath", "optionalOldSelf"
    }),
};

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn unknown_fields_are_found_wherever_the_decoder_looks() {
        let schema = json!({
            "type": "object",
            "x-kubernetes-validation": [{"rule": "true"}],
            "default": {"anything": 1},
            "properties": {
                "a.b": {"nope": 1, "not": {"nope": 1}, "allOf": [{}, {"nope": 1}]},
                "c": {"x-kubernetes-validations": [{"rul": ""}], "externalDocs": {"uri": ""}},
                "d": {"items": {"hidden": 1}, "additionalProperties": {"hidden": 1}, "dependencies": {"e": {"hidden": 1}}},
            },
        });
        let found = unknown_fields(&json!({
            "kind": "CustomResourceDefinition",
            "metadata": {"name": "a", "lables": {}, "ownerReferences": [{"x": 1}]},
            "spec": {
                "validation": {},
                "names": {"short": []},
                "versions": [{"schema": {"openAPIV3Schema": schema}, "subresources": {"status": {"x": 1}}}],
            },
            "extra": null,
        }));
        let root = "spec.versions[0].schema.openAPIV3Schema";
        assert_eq!(
            found,
            [
                "extra",
                "metadata.lables",
                "metadata.ownerReferences[0].x",
                "spec.names.short",
                "spec.validation",
                &format!("{root}.properties.a.b.allOf[1].nope"),
                &format!("{root}.properties.a.b.nope"),
                &format!("{root}.properties.a.b.not.nope"),
                &format!("{root}.properties.c.externalDocs.uri"),
                &format!("{root}.properties.c.x-kubernetes-validations[0].rul"),
                &format!("{root}.x-kubernetes-validation"),
                "spec.versions[0].subresources.status.x",
            ]
        );
    }

    #[test]
    fn values_of_other_types_are_left_to_the_reader() {
        assert!(
            unknown_fields(&json!({"spec": [{"x": 1}], "metadata": 1, "status": null})).is_empty()
        );
        let many: Json = (0..200)
            .map(|n| (n.to_string(), json!(n)))
            .collect::<serde_json::Map<_, _>>()
            .into();
        assert_eq!(unknown_fields(&many).len(), 100);
    }
}

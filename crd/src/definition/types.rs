//! The Go types of a definition, as tables (apiextensions `pkg/apis/apiextensions/v1/{types,types_jsonschema}.go`). The decoders of `items`,
//! `additionalProperties` and `dependencies` are in `marshal.go` beside them.

use gavel_apimachinery::meta::OBJECT_META;
use gavel_apimachinery::shape::{Choice, Field, Integers, Presence, Reading, Shape, Struct, read};
use gavel_engine::value::Json;

use Shape::{Boolean, Bytes, Integer, Integer32, List, Map, Number, Raw, Text, Time};

/// Reads a definition as strictly as an API server.
pub(super) fn check(json: &Json) -> Reading {
    read(json, DEFINITION, Integers::AsWritten)
}

const STRING: Shape = Shape::STRING;
const STRINGS: Shape = Shape::STRINGS;

/// A struct: its name in Go, and its fields. They are never written, so their presence does not matter.
macro_rules! go_struct {
    ($go:literal, $($name:literal: $shape:expr),* $(,)?) => {
        Struct { name: $go, fields: &[$(Field { name: $name, shape: $shape, presence: Presence::Always }),*] }
    };
}

/// The shape of a struct.
macro_rules! object {
    ($($part:tt)*) => { Shape::Struct(&go_struct! { $($part)* }) };
}

const DEFINITION: Shape = object! {
    "CustomResourceDefinition",
    "apiVersion": STRING, "kind": STRING, "metadata": OBJECT_META, "spec": SPEC, "status": STATUS,
};

const SPEC: Shape = object! {
    "CustomResourceDefinitionSpec",
    "group": STRING,
    "names": NAMES,
    "scope": Text("v1.ResourceScope"),
    "versions": List("[]v1.CustomResourceDefinitionVersion", &VERSION),
    "conversion": CONVERSION,
    "preserveUnknownFields": Boolean,
};

const NAMES: Shape = object! {
    "CustomResourceDefinitionNames",
    "plural": STRING, "singular": STRING, "shortNames": STRINGS, "kind": STRING, "listKind": STRING, "categories": STRINGS,
};

const VERSION: Shape = object! {
    "CustomResourceDefinitionVersion",
    "name": STRING, "served": Boolean, "storage": Boolean, "deprecated": Boolean, "deprecationWarning": STRING,
    "schema": object! { "CustomResourceValidation", "openAPIV3Schema": Shape::Struct(&JSON_SCHEMA_PROPS) },
    "subresources": object! {
        "CustomResourceSubresources",
        "status": object! { "CustomResourceSubresourceStatus", },
        "scale": object! {
            "CustomResourceSubresourceScale",
            "specReplicasPath": STRING, "statusReplicasPath": STRING, "labelSelectorPath": STRING,
        },
    },
    "additionalPrinterColumns": List("[]v1.CustomResourceColumnDefinition", &COLUMN),
    "selectableFields": List("[]v1.SelectableField", &SELECTABLE_FIELD),
};

const COLUMN: Shape = object! {
    "CustomResourceColumnDefinition",
    "name": STRING, "type": STRING, "format": STRING, "description": STRING, "priority": Integer32, "jsonPath": STRING,
};

const SELECTABLE_FIELD: Shape = object! { "SelectableField", "jsonPath": STRING };

const CONVERSION: Shape = object! {
    "CustomResourceConversion",
    "strategy": Text("v1.ConversionStrategyType"),
    "webhook": object! {
        "WebhookConversion",
        "clientConfig": object! {
            "WebhookClientConfig",
            "url": STRING,
            "service": object! {
                "ServiceReference", "namespace": STRING, "name": STRING, "path": STRING, "port": Integer32,
            },
            "caBundle": Bytes,
        },
        "conversionReviewVersions": STRINGS,
    },
};

const STATUS: Shape = object! {
    "CustomResourceDefinitionStatus",
    "conditions": List("[]v1.CustomResourceDefinitionCondition", &CONDITION),
    "acceptedNames": NAMES,
    "storedVersions": STRINGS,
    "observedGeneration": Integer,
};

const CONDITION: Shape = object! {
    "CustomResourceDefinitionCondition",
    "type": Text("v1.CustomResourceDefinitionConditionType"),
    "status": Text("v1.ConditionStatus"),
    "lastTransitionTime": Time,
    "reason": STRING,
    "message": STRING,
    "observedGeneration": Integer,
};

static SCHEMA: Shape = Shape::Struct(&JSON_SCHEMA_PROPS);

/// The struct of a schema. The tables of schemas are statics, which can refer to one another.
static JSON_SCHEMA_PROPS: Struct = go_struct! {
    "JSONSchemaProps",
    "id": STRING,
    "$schema": Text("v1.JSONSchemaURL"),
    "$ref": STRING,
    "description": STRING,
    "type": STRING,
    "format": STRING,
    "title": STRING,
    "default": Raw,
    "maximum": Number,
    "exclusiveMaximum": Boolean,
    "minimum": Number,
    "exclusiveMinimum": Boolean,
    "maxLength": Integer,
    "minLength": Integer,
    "pattern": STRING,
    "maxItems": Integer,
    "minItems": Integer,
    "uniqueItems": Boolean,
    "multipleOf": Number,
    "enum": List("[]v1.JSON", &Raw),
    "maxProperties": Integer,
    "minProperties": Integer,
    "required": STRINGS,
    "items": Shape::Choice(&SCHEMA_OR_SCHEMAS),
    "allOf": List("[]v1.JSONSchemaProps", &SCHEMA),
    "oneOf": List("[]v1.JSONSchemaProps", &SCHEMA),
    "anyOf": List("[]v1.JSONSchemaProps", &SCHEMA),
    "not": Shape::Struct(&JSON_SCHEMA_PROPS),
    "properties": Map("map[string]v1.JSONSchemaProps", &SCHEMA),
    "additionalProperties": Shape::Choice(&SCHEMA_OR_BOOLEAN),
    "patternProperties": Map("map[string]v1.JSONSchemaProps", &SCHEMA),
    "dependencies": Map("v1.JSONSchemaDependencies", &DEPENDENCY),
    "additionalItems": Shape::Choice(&SCHEMA_OR_BOOLEAN),
    "definitions": Map("v1.JSONSchemaDefinitions", &SCHEMA),
    "externalDocs": object! { "ExternalDocumentation", "description": STRING, "url": STRING },
    "example": Raw,
    "nullable": Boolean,
    "x-kubernetes-preserve-unknown-fields": Boolean,
    "x-kubernetes-embedded-resource": Boolean,
    "x-kubernetes-int-or-string": Boolean,
    "x-kubernetes-list-map-keys": STRINGS,
    "x-kubernetes-list-type": STRING,
    "x-kubernetes-map-type": STRING,
    "x-kubernetes-validations": List("v1.ValidationRules", &RULE),
};

static SCHEMA_OR_SCHEMAS: Choice = Choice {
    object: &SCHEMA,
    list: Some(List("[]v1.JSONSchemaProps", &SCHEMA)),
    refusal: None,
};

static SCHEMA_OR_BOOLEAN: Choice = Choice {
    object: &SCHEMA,
    list: None,
    refusal: Some("boolean or JSON schema expected"),
};

static DEPENDENCY: Shape = Shape::Choice(&SCHEMA_OR_STRINGS);

static SCHEMA_OR_STRINGS: Choice = Choice {
    object: &SCHEMA,
    list: Some(STRINGS),
    refusal: None,
};

const RULE: Shape = object! {
    "ValidationRule",
    "rule": STRING,
    "message": STRING,
    "messageExpression": STRING,
    "reason": Text("v1.FieldValueErrorReason"),
    "fieldPath": STRING,
    "optionalOldSelf": Boolean,
};

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn unknown(definition: &Json) -> Vec<String> {
        check(definition).unknown
    }

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
        let found = unknown(&json!({
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
    fn wrong_types_are_reported_as_the_api_server_reports_them() {
        let versions =
            |schema: Json| json!({"versions": [{"schema": {"openAPIV3Schema": schema}}]});
        let root = "JSONSchemaProps.spec.versions.schema.openAPIV3Schema";
        for (spec, field, message) in [
            (
                json!({"names": "x"}),
                "spec.names",
                "string into Go struct field CustomResourceDefinitionSpec.spec.names of type v1.CustomResourceDefinitionNames",
            ),
            (
                json!({"versions": [{}, {"additionalPrinterColumns": [{"priority": 4294967296_u64}]}]}),
                "spec.versions[1].additionalPrinterColumns[0].priority",
                "number 4294967296 into Go struct field \
                 CustomResourceColumnDefinition.spec.versions.additionalPrinterColumns.priority of type int32",
            ),
            (
                versions(json!({"properties": {"a": {"maxLength": 1.5}, "b": 1}})),
                "spec.versions[0].schema.openAPIV3Schema.properties.a.maxLength",
                &format!(
                    "number 1.5 into Go struct field {root}.properties.maxLength of type int64"
                ),
            ),
            // The type of `items` has its own decoder, whose errors come first and name its own struct.
            (
                versions(
                    json!({"description": 1, "items": {"x-kubernetes-validations": [{"rule": 1}]}}),
                ),
                "spec.versions[0].schema.openAPIV3Schema.items.x-kubernetes-validations[0].rule",
                &format!(
                    "number into Go struct field {root}.items.x-kubernetes-validations.rule of type string"
                ),
            ),
        ] {
            let fault = check(&json!({"spec": spec})).fault.unwrap();
            assert_eq!(fault.field, field);
            assert_eq!(fault.message, format!("json: cannot unmarshal {message}"));
        }
        let other =
            versions(json!({"items": 1, "dependencies": {"a": true}, "additionalItems": true}));
        assert_eq!(check(&json!({"spec": other})).fault, None);
        let bool = versions(json!({"additionalProperties": []}));
        let fault = check(&json!({"spec": bool})).fault.unwrap();
        assert_eq!(fault.message, "boolean or JSON schema expected");
    }

    #[test]
    fn at_most_100_unknown_fields_are_reported() {
        let many: Json = (0..200)
            .map(|n| (n.to_string(), json!(n)))
            .collect::<serde_json::Map<_, _>>()
            .into();
        assert_eq!(unknown(&many).len(), 100);
    }
}

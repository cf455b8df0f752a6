//! The schemas of custom resources as API servers publish them, which type checking uses (apiextensions-apiserver
//! `pkg/controller/openapi/builder`).

use std::sync::Arc;

use gavel_schema::{Items, JsonSchema, SchemaOrBool};
use smol_str::SmolStr;

/// The published schema: the schema in the definition plus `apiVersion`, `kind` and `metadata`. Without a schema in the definition, the
/// published schema is an object without declared fields.
pub(super) fn schema(schema: Option<&JsonSchema>) -> JsonSchema {
    let Some(schema) = schema else {
        return of_type("object");
    };
    let mut schema = schema.clone();
    complete_embedded(&mut schema);
    complete(&mut schema);
    schema
}

/// Adds `apiVersion`, `kind` and `metadata` to the schemas of embedded resources. The recursion is as deep as the schema, whose depth is
/// limited when it is read.
fn complete_embedded(schema: &mut JsonSchema) {
    for name in schema.properties.keys().cloned().collect::<Vec<_>>() {
        schema.properties.get_mut(&name).map(complete_embedded);
    }
    schema.item_mut().map(complete_embedded);
    schema.value_mut().map(complete_embedded);
    if schema.embedded_resource {
        complete(schema);
    }
}

/// Sets the standard schemas of `apiVersion`, `kind` and `metadata`, replacing existing ones.
fn complete(schema: &mut JsonSchema) {
    let all = [
        ("apiVersion", text()),
        ("kind", text()),
        ("metadata", metadata()),
    ];
    let all = all.map(|(name, schema)| (SmolStr::new_static(name), Arc::new(schema)));
    let own = schema.properties.iter();
    let own = own.map(|(name, schema)| (name.clone(), Arc::clone(schema)));
    schema.properties = own.chain(all).collect();
}

/// The schema of `metadata` (apimachinery `pkg/apis/meta/v1`, `ObjectMeta`).
fn metadata() -> JsonSchema {
    let owner = object([
        ("apiVersion", text()),
        ("blockOwnerDeletion", of_type("boolean")),
        ("controller", of_type("boolean")),
        ("kind", text()),
        ("name", text()),
        ("uid", text()),
    ]);
    let managed = object([
        ("apiVersion", text()),
        ("fieldsType", text()),
        ("fieldsV1", of_type("object")),
        ("manager", text()),
        ("operation", text()),
        ("subresource", text()),
        ("time", time()),
    ]);
    object([
        ("annotations", texts_by_name()),
        ("creationTimestamp", time()),
        ("deletionGracePeriodSeconds", of_type("integer")),
        ("deletionTimestamp", time()),
        ("finalizers", list(text())),
        ("generateName", text()),
        ("generation", of_type("integer")),
        ("labels", texts_by_name()),
        ("managedFields", list(managed)),
        ("name", text()),
        ("namespace", text()),
        ("ownerReferences", list(owner)),
        ("resourceVersion", text()),
        ("selfLink", text()),
        ("uid", text()),
    ])
}

fn of_type(kind: &str) -> JsonSchema {
    JsonSchema {
        kind: kind.into(),
        ..JsonSchema::default()
    }
}

fn text() -> JsonSchema {
    of_type("string")
}

fn time() -> JsonSchema {
    JsonSchema {
        format: SmolStr::new_static("date-time"),
        ..text()
    }
}

fn texts_by_name() -> JsonSchema {
    JsonSchema {
        additional_properties: Some(SchemaOrBool::Schema(Arc::new(text()))),
        ..of_type("object")
    }
}

fn list(item: JsonSchema) -> JsonSchema {
    JsonSchema {
        items: Some(Items::Schema(Arc::new(item))),
        ..of_type("array")
    }
}

fn object<const N: usize>(properties: [(&str, JsonSchema); N]) -> JsonSchema {
    let properties = properties.map(|(name, schema)| (SmolStr::new(name), Arc::new(schema)));
    JsonSchema {
        properties: properties.into_iter().collect(),
        ..of_type("object")
    }
}

//! Schemas that cannot be converted to structural ones (apiextensions-apiserver `pkg/apiserver/schema/convert.go`).

use gavel_schema::{Items, JsonSchema, SchemaOrBool};

/// The first reason why a schema cannot be converted to a structural schema; `None` if it can be converted.
pub(crate) fn conversion_error(schema: &JsonSchema) -> Option<String> {
    unsupported(schema)
        .or_else(|| junctors(schema).find_map(conversion_error))
        .or_else(|| extension(schema))
        .or_else(|| items(schema))
        .or_else(|| {
            let mut within = schema.properties.values().chain(schema.value());
            within.find_map(|schema| conversion_error(schema))
        })
}

/// The schemas under `allOf`, `anyOf`, `oneOf` and `not`.
fn junctors(schema: &JsonSchema) -> impl Iterator<Item = &JsonSchema> {
    let not = schema.combinations.not.as_deref().into_iter();
    not.chain(&schema.combinations.all_of)
        .chain(&schema.combinations.any_of)
        .chain(&schema.combinations.one_of)
}

fn unsupported(schema: &JsonSchema) -> Option<String> {
    let unsupported = &schema.unsupported;
    let reference = unsupported.reference.as_deref().unwrap_or_default();
    let fields = [
        (!unsupported.id.is_empty(), "id"),
        (!unsupported.schema.is_empty(), "schema"),
        (!reference.is_empty(), "$ref"),
        (
            !unsupported.pattern_properties.is_empty(),
            "patternProperties",
        ),
        (!unsupported.dependencies.is_empty(), "dependencies"),
        (unsupported.additional_items.is_some(), "additionalItems"),
        (!unsupported.definitions.is_empty(), "definitions"),
    ];
    let (_, name) = fields.into_iter().find(|(is_set, _)| *is_set)?;
    Some(format!("OpenAPIV3Schema '{name}' is not supported"))
}

fn extension(schema: &JsonSchema) -> Option<String> {
    let error = "internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined";
    (schema.preserve_unknown_fields == Some(false)).then(|| error.to_owned())
}

fn items(schema: &JsonSchema) -> Option<String> {
    let error = "OpenAPIV3Schema 'items' must be a schema, but is an array";
    match schema.items.as_ref()? {
        Items::Schema(item) => conversion_error(item),
        Items::Positions(positions) => (!positions.is_empty()).then(|| error.to_owned()),
    }
}

/// The `additionalProperties` of a schema under `allOf`, `anyOf`, `oneOf` or `not`. Upstream treats `false` as absent.
pub(super) fn values_beside(schema: &JsonSchema) -> Option<&SchemaOrBool> {
    let values = schema.additional_properties.as_ref();
    values.filter(|values| **values != SchemaOrBool::Allows(false))
}

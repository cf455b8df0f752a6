//! Schemas that cannot be converted to structural ones (apiextensions-apiserver `pkg/apiserver/schema/convert.go`).

use gavel_schema::{Items, JsonSchema, SchemaOrBool};

/// The first reason why a schema cannot be converted to a structural schema; `None` if it can be converted.
pub(crate) fn conversion_error(schema: &JsonSchema) -> Option<&'static str> {
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

fn unsupported(schema: &JsonSchema) -> Option<&'static str> {
    let reference = schema.unsupported.reference.as_deref().unwrap_or_default();
    let unsupported = [
        (
            !schema.unsupported.id.is_empty(),
            "OpenAPIV3Schema 'id' is not supported",
        ),
        (
            !schema.unsupported.schema.is_empty(),
            "OpenAPIV3Schema 'schema' is not supported",
        ),
        (
            !reference.is_empty(),
            "OpenAPIV3Schema '$ref' is not supported",
        ),
        (
            !schema.unsupported.pattern_properties.is_empty(),
            "OpenAPIV3Schema 'patternProperties' is not supported",
        ),
        (
            !schema.unsupported.dependencies.is_empty(),
            "OpenAPIV3Schema 'dependencies' is not supported",
        ),
        (
            schema.unsupported.additional_items.is_some(),
            "OpenAPIV3Schema 'additionalItems' is not supported",
        ),
        (
            !schema.unsupported.definitions.is_empty(),
            "OpenAPIV3Schema 'definitions' is not supported",
        ),
    ];
    let mut present = unsupported.into_iter().filter(|(present, _)| *present);
    present.next().map(|(_, message)| message)
}

fn extension(schema: &JsonSchema) -> Option<&'static str> {
    let refused = schema.preserve_unknown_fields == Some(false);
    refused.then_some(
        "internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined",
    )
}

fn items(schema: &JsonSchema) -> Option<&'static str> {
    match schema.items.as_ref()? {
        Items::Schema(item) => conversion_error(item),
        Items::Positions(positions) => (!positions.is_empty())
            .then_some("OpenAPIV3Schema 'items' must be a schema, but is an array"),
    }
}

/// The `additionalProperties` of a schema under `allOf`, `anyOf`, `oneOf` or `not`. Upstream treats `false` as absent.
pub(super) fn values_beside(schema: &JsonSchema) -> Option<&SchemaOrBool> {
    let values = schema.additional_properties.as_ref();
    values.filter(|values| **values != SchemaOrBool::Allows(false))
}

//! Checks the root schema of a version that has the subresource `status`. The API server also uses the schema of the status separately, so
//! the root must not constrain the status.

use gavel_apimachinery::field::{BadValue, Error, Errors, Path};
use gavel_schema::JsonSchema;

use crate::definition::go_json;

const ALLOWED: &str = "only [Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations] fields are allowed at the root of the schema if the status subresource is enabled";

/// Checks the root of a schema; `path` is the field that contains `openAPIV3Schema`, such as `spec.versions[0].schema`. Only the first
/// error is reported.
pub(super) fn check(schema: &JsonSchema, path: &Path<'_>, errors: &mut Errors) {
    let before_type = !schema.unsupported.id.is_empty()
        || !schema.unsupported.schema.is_empty()
        || schema.unsupported.reference.is_some();
    if !before_type && !schema.kind.is_empty() && schema.kind != "object" {
        let detail = "only \"object\" is allowed as the type at the root of the schema if the status subresource is enabled";
        let path = path.child("openAPIV3Schema.type");
        errors.push(Error::invalid(&path, &*schema.kind, detail));
        return;
    }
    let after_type = [
        schema.nullable,
        schema.default.is_some(),
        schema.bounds.enumeration.is_present(),
        schema.bounds.max_properties.is_some(),
        schema.bounds.min_properties.is_some(),
        schema.combinations.all_of.is_present(),
        schema.combinations.one_of.is_present(),
        schema.combinations.any_of.is_present(),
        schema.combinations.not.is_some(),
        schema.additional_properties.is_some(),
        schema.unsupported.pattern_properties.is_present(),
        schema.unsupported.dependencies.is_present(),
        schema.unsupported.additional_items.is_some(),
        schema.unsupported.definitions.is_present(),
        schema.embedded_resource,
        schema.int_or_string,
        schema.topology.list_map_keys.is_present(),
        schema.topology.list_type.is_some(),
        schema.topology.map_type.is_some(),
    ];
    if before_type || after_type.contains(&true) {
        let value = BadValue::Text(go_json::schema(schema));
        let path = path.child("openAPIV3Schema");
        errors.push(Error::invalid(&path, value, ALLOWED));
    }
}

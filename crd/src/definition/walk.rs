//! Walks over all schemas within a schema.

use gavel_schema::{Dependency, Items, JsonSchema, SchemaOrBool};

/// Calls `visit` with a schema and all schemas within it: first those of list elements, then those under `allOf`, `anyOf`, `oneOf` and
/// `not`, then those of fields and all others.
pub(super) fn each_schema<'s>(schema: &'s JsonSchema, visit: &mut dyn FnMut(&'s JsonSchema)) {
    visit(schema);
    match &schema.items {
        Some(Items::Schema(item)) => each_schema(item, visit),
        Some(Items::Positions(items)) => items.iter().for_each(|item| each_schema(item, visit)),
        None => {}
    }
    for schemas in [
        &schema.combinations.all_of,
        &schema.combinations.any_of,
        &schema.combinations.one_of,
    ] {
        schemas.iter().for_each(|schema| each_schema(schema, visit));
    }
    if let Some(not) = &schema.combinations.not {
        each_schema(not, visit);
    }
    schema
        .properties
        .values()
        .for_each(|schema| each_schema(schema, visit));
    if let Some(SchemaOrBool::Schema(schema)) = &schema.additional_properties {
        each_schema(schema, visit);
    }
    schema
        .unsupported
        .pattern_properties
        .values()
        .for_each(|schema| each_schema(schema, visit));
    if let Some(SchemaOrBool::Schema(schema)) = &schema.unsupported.additional_items {
        each_schema(schema, visit);
    }
    schema
        .unsupported
        .definitions
        .values()
        .for_each(|schema| each_schema(schema, visit));
    for (_, dependency) in &schema.unsupported.dependencies {
        if let Dependency::Schema(schema) = dependency {
            each_schema(schema, visit);
        }
    }
}

/// Whether `holds` is true for a schema or any schema within it.
pub(super) fn any_schema(schema: &JsonSchema, holds: &dyn Fn(&JsonSchema) -> bool) -> bool {
    let mut any = false;
    each_schema(schema, &mut |schema| any = any || holds(schema));
    any
}

//! OpenAPI schemas as CEL types, JSON as CEL values, and what a schema says of an object. Layer 1: on the engine, no IO.

pub mod correlate;
mod equal;
mod json_schema;

pub use json_schema::{
    Dependency, ExternalDocumentation, Items, JsonSchema, MAX_DEPTH, SchemaOrBool, SchemaReadError,
    ValidationRule,
};

/// How deep schemas and what is walked along them may be nested: deeper than any that is meant. Keeps hostile ones from
/// using up the stack.
pub(crate) const MAX_DEPTH: usize = 1_000;

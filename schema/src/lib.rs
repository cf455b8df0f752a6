//! OpenAPI schemas as CEL types, JSON as CEL values, and what a schema says of an object. Layer 2: no IO.

pub mod cel;
pub mod correlate;
pub mod default;
mod duration;
pub mod embedded;
mod equal;
mod json_schema;
pub mod merge;
pub mod openapi;
pub mod prune;
mod read;
pub mod validate;

pub use json_schema::{
    Bounds, Combinations, Dependency, Docs, ExternalDocumentation, Items, JsonSchema, MAX_DEPTH,
    OptionalList, Pool, Rare, SchemaMap, SchemaOrBool, SchemaReadError, SchemaReader, Topology,
    Unsupported, ValidationRule,
};
pub use read::read_value;

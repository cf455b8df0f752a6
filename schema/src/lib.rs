//! Reads OpenAPI schemas as CEL types and JSON as CEL values, and validates objects against schemas. Layer 2: no IO.
//!
//! A [`JsonSchema`] is a structural schema of a CustomResourceDefinition. [`cel::CelSchema`] gives it a CEL type and reads JSON through it;
//! [`validate`] validates, [`default`] sets defaults, [`prune`] drops unknown fields, [`merge`] merges as server-side apply does.
//!
//! ```
//! use gavel_apimachinery::server::Server;
//! use gavel_schema::{JsonSchema, cel::CelSchema};
//! use serde_json::json;
//!
//! let schema: JsonSchema = serde_json::from_value(json!({
//!     "type": "object",
//!     "properties": {"at": {"type": "string", "format": "date-time"}},
//! }))?;
//! let schema = CelSchema::new(&schema, false);
//! let object = json!({"at": "2026-01-01T00:00:00Z"});
//! let viewed = schema.view(&object);                       // borrowed: `at` reads as a timestamp
//! # let _ = viewed;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! References (`$ref`) are not resolved: structural schemas have none.

pub mod built_in;
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

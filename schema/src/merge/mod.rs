//! Merges values as server-side apply does (structured-merge-diff v6, apiserver `pkg/admission/plugin/policy/mutating/patch/smd.go`).
//!
//! ```
//! use gavel_apimachinery::server::Server;
//! use gavel_schema::JsonSchema;
//! use gavel_schema::merge::{MergeType, Plain, apply};
//! use serde_json::json;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let schema: JsonSchema = serde_json::from_value(json!({"type": "object", "properties": {
//!     "tags": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
//! }}))?;
//! let [live, patch, expected] = [json!(["a"]), json!(["b"]), json!(["a", "b"])]
//!     .map(|tags| Plain::from(json!({"tags": tags})));
//! let ty = MergeType::custom_resource(&schema, Server::default());
//! let merged = apply(live, patch, ty, false)?;
//! assert_eq!(merged, expected);
//! # Ok(())
//! # }
//! ```

mod atomics;
mod element;
mod merged;
mod resolved;
mod shape;
mod types;
mod unknown;
mod validate;
mod value;

#[cfg(test)]
mod tests;

pub use shape::Shape;
pub use types::MergeType;
pub use unknown::{UnknownField, undeclared_fields, unknown_fields};
pub use value::{Foreign, Plain};

use validate::Leniency;

/// The API server's message for a patch that cannot be applied.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct MergeError(String);

/// Merges a patch into an object. Nothing is removed. With `keeps_unknown`, the object may have fields that the type does not declare;
/// these fields stay unchanged.
///
/// # Errors
///
/// The object or the patch does not fit the type, or the patch would replace a whole list or map.
pub fn apply(
    live: Plain,
    patch: Plain,
    ty: MergeType<'_>,
    keeps_unknown: bool,
) -> Result<Plain, MergeError> {
    let unfit = |what: &str, faults| {
        MergeError(format!(
            "failed to convert {what} object to typed object: {faults}"
        ))
    };
    validate::validate(&patch, ty, Leniency::default()).map_err(|faults| unfit("patch", faults))?;
    let atomics = atomics::find(&patch, ty);
    if !atomics.is_empty() {
        return Err(MergeError(format!(
            "invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: {}",
            atomics.join(", ")
        )));
    }
    let leniency = Leniency {
        duplicates: true,
        unknown_fields: keeps_unknown,
    };
    validate::validate(&live, ty, leniency).map_err(|faults| unfit("original", faults))?;
    Ok(merged::merge(Some(live), Some(patch), ty).unwrap_or(Plain::Null))
}

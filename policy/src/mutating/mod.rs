//! Applies mutating admission policies to objects (apiserver `pkg/admission/plugin/policy/mutating`).

mod difference;
mod dispatch;
mod failure;
mod go_text;
mod invocation;
mod json_patch;
mod patch;
mod plain;
mod reinvocation;
mod schemas;
mod version;

pub use difference::difference;
pub use dispatch::{Mutated, mutate, mutate_by};
pub use schemas::ObjectSchemas;

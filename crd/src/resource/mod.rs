//! Validates custom resources against their definition, as an API server does when they are created or updated (apiextensions-apiserver
//! `pkg/registry/customresource`, `pkg/apiserver/schema/cel`).

mod accessor;
mod compile;
mod decode;
mod finalizers;
mod prepare;
mod scale;
mod validate;

pub use crate::rule::{COST_BUDGET, RuleObserver};
pub use compile::{CompileError, CompiledCrd, UnknownVersion};
pub use decode::{DecodeOptions, Decoded};
pub use finalizers::finalizer_warnings;
pub use gavel_apimachinery::serializer::DecodeError;
pub use gavel_golang::work::Interrupt;
pub use validate::{Outcome, RuleRun, ValidateOptions};

#[cfg(test)]
mod tests;

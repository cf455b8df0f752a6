//! An invocation of a policy for a request.

use crate::compiled_mutating::{CompiledMutatingBinding, CompiledMutatingPolicy};
use crate::kept::KeptObject;
use crate::matching::Matched;

/// A policy with one of its bindings and params. The policy and the binding match the request.
#[derive(Debug, Clone, Copy)]
pub(super) struct Invocation<'a> {
    pub(super) policy: &'a CompiledMutatingPolicy,
    pub(super) binding: &'a CompiledMutatingBinding,
    pub(super) param: Option<&'a KeptObject>,
    /// The kind and resource with which the policy matches the request.
    pub(super) matched: Matched<'a>,
}

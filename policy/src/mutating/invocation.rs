//! The invocation of a policy for a request, with a binding and a param.

use crate::compiled_mutating::{CompiledMutatingBinding, CompiledMutatingPolicy};
use crate::kept::KeptObject;
use crate::matching::Matched;

/// A policy with a binding and a param, which match the request.
#[derive(Debug, Clone, Copy)]
pub(super) struct Invocation<'a> {
    pub(super) policy: &'a CompiledMutatingPolicy,
    pub(super) binding: &'a CompiledMutatingBinding,
    pub(super) param: Option<&'a KeptObject>,
    /// The kind and resource with which the policy matches the request.
    pub(super) matched: Matched<'a>,
}

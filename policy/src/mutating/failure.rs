//! Failures of mutating policies, and the denial that they cause (apiserver `pkg/admission/plugin/policy/mutating/dispatcher.go`).

use std::fmt;

use gavel_apimachinery::status::Status;

use crate::compiled::FailurePolicy;
use crate::compiled_mutating::{CompiledMutatingBinding, CompiledMutatingPolicy};
use crate::decision::denied_mutation;
use crate::observer::Observer;
use crate::request::AdmissionRequest;

/// The failure of a policy, which denies the request unless `failurePolicy` is `Ignore`.
#[derive(Debug)]
pub(super) struct PolicyFailure<'a> {
    pub(super) policy: &'a CompiledMutatingPolicy,
    pub(super) binding: Option<&'a CompiledMutatingBinding>,
    pub(super) message: String,
    /// The reason in the status: `Invalid`, or empty if the policy or binding could not be evaluated at all, for example because the params
    /// were not found.
    pub(super) reason: &'static str,
}

/// The status that denies the request, if a policy failed whose `failurePolicy` is not `Ignore`. Reports ignored failures to the observer.
pub(super) fn denial(
    failures: &[PolicyFailure<'_>],
    request: &AdmissionRequest<'_>,
    observer: &dyn Observer,
) -> Option<Status> {
    let minded =
        |failure: &&PolicyFailure<'_>| *failure.policy.failure_policy() != FailurePolicy::Ignore;
    for failure in failures.iter().filter(|failure| !minded(failure)) {
        let binding = failure.binding.map(CompiledMutatingBinding::name);
        observer.ignored(failure.policy.name(), binding, &failure.message);
    }
    let minded: Vec<_> = failures.iter().filter(minded).collect();
    let causes = minded.iter().map(|failure| failure.to_string()).collect();
    Some(denied_mutation(request, minded.first()?.reason, causes))
}

impl fmt::Display for PolicyFailure<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let policy = self.policy.name();
        match self.binding {
            Some(binding) => write!(
                f,
                "policy '{policy}' with binding '{}' denied request: {}",
                binding.name(),
                self.message
            ),
            None => write!(
                f,
                "policy {} denied request: {}",
                gavel_golang::quote::quote(policy),
                self.message
            ),
        }
    }
}

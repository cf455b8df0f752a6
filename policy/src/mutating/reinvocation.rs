//! Determines which invocations run again in the second pass (apiserver `pkg/admission/plugin/policy/mutating/reinvocationcontext.go`).

use std::collections::BTreeSet;
use std::mem;

use super::invocation::Invocation;
use crate::kept::KeptObject;

/// The invocations that have run and may run again, and the invocations that will run again.
#[derive(Debug, Default)]
pub(super) struct Reinvocation {
    /// Invocations that may run again and have run since the last change of the object.
    invoked: BTreeSet<Key>,
    /// Invocations that will run again.
    flagged: BTreeSet<Key>,
    /// Whether a second pass is needed.
    pub(super) wanted: bool,
}

/// An invocation: the names of the policy and the binding, and the namespace and name of the param.
type Key = [String; 4];

fn key(invocation: &Invocation<'_>) -> Key {
    let of_param =
        |name: fn(&KeptObject) -> &str| invocation.param.map(name).unwrap_or_default().to_owned();
    [
        invocation.policy.name().to_owned(),
        invocation.binding.name().to_owned(),
        of_param(KeptObject::namespace),
        of_param(KeptObject::name),
    ]
}

impl Reinvocation {
    /// Whether an invocation must run in the second pass.
    pub(super) fn is_flagged(&self, invocation: &Invocation<'_>) -> bool {
        self.flagged.contains(&key(invocation))
    }

    /// Records an invocation that has run, if its policy may run again.
    pub(super) fn ran(&mut self, invocation: &Invocation<'_>) {
        if invocation.policy.is_reinvoked() {
            self.invoked.insert(key(invocation));
        }
    }

    /// Records that the object changed. All recorded invocations will run again.
    pub(super) fn changed(&mut self) {
        self.flagged.append(&mut mem::take(&mut self.invoked));
        self.wanted = true;
    }
}

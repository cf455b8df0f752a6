//! The results of a policy's expressions.

/// The results of a policy for a binding and a param; empty if its match conditions are not met.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Evaluation {
    /// The result of each validation; if the policy as a whole failed, only one result.
    pub decisions: Vec<PolicyDecision>,
    /// The result of each audit annotation.
    pub audit_annotations: Vec<PolicyAuditAnnotation>,
}

impl Evaluation {
    /// Whether a validation failed.
    pub(crate) fn has_failed(&self) -> bool {
        let mut decisions = self.decisions.iter();
        decisions.any(|decision| decision.evaluation == PolicyDecisionEvaluation::Error)
    }

    /// Drops all results.
    pub(crate) fn clear(&mut self) {
        self.decisions.clear();
        self.audit_annotations.clear();
    }
}

/// The result of a validation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyDecision {
    /// Whether the validation denies the request.
    pub denies: bool,
    /// The evaluation.
    pub evaluation: PolicyDecisionEvaluation,
    /// The message; can be empty.
    pub message: String,
    /// The reason of the status; can be empty.
    pub reason: String,
}

/// The result of an expression: `EvalAdmit`, `EvalDeny`, `EvalError` upstream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PolicyDecisionEvaluation {
    /// The expression was true.
    Admit,
    /// The expression was false.
    Deny,
    /// The expression failed; the failure policy decides.
    Error,
}

/// The result of an audit annotation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyAuditAnnotation {
    /// The key, without the policy's name.
    pub key: String,
    /// The outcome.
    pub outcome: AuditOutcome,
}

/// The outcome of an audit annotation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuditOutcome {
    /// The annotation is added to the audit event with this value.
    Publish(String),
    /// The annotation is left out. The error is the reason; it may be empty.
    Exclude {
        /// The error; can be empty.
        error: String,
    },
    /// The annotation failed, which denies the request.
    Error(String),
}

/// The result of match conditions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConditionsOutcome {
    /// All match conditions are true; or match conditions failed, and Kubernetes does not know the failure policy.
    Match,
    /// A match condition is false; or match conditions failed, and the failure policy is `Ignore`.
    NoMatch {
        /// The name of the first condition that is false; empty if none is false.
        failed: String,
    },
    /// The match conditions failed.
    Error(String),
}

//! The results of a policy's expressions.

/// The results of a policy for one binding and one param; empty if its match conditions do not match.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Evaluation {
    /// The result of each validation, by position. A policy that failed as a whole has a single result. Unless the observer
    /// [follows expressions](crate::Observer::follows_expressions), the results end with the last validation that is not true.
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

    /// Whether all validations admit the request, and there are no audit annotations.
    pub(crate) fn is_silent(&self) -> bool {
        let mut decisions = self.decisions.iter();
        self.audit_annotations.is_empty()
            && decisions.all(|decision| decision.evaluation == PolicyDecisionEvaluation::Admit)
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
    /// Whether the expression was true, was false or failed.
    pub evaluation: PolicyDecisionEvaluation,
    /// The message of the denial or the error; may be empty.
    pub message: String,
    /// The `reason` of the status; may be empty.
    pub reason: String,
}

/// The result of a validation's expression: `EvalAdmit`, `EvalDeny` or `EvalError` upstream.
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
    /// Whether the annotation is added, left out or failed.
    pub outcome: AuditOutcome,
}

/// The outcome of an audit annotation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuditOutcome {
    /// The annotation is added to the audit event with this value.
    Publish(String),
    /// The annotation is left out: its value is empty or null, or it failed and the failure policy is `Ignore`.
    Exclude {
        /// The error if the annotation failed; otherwise empty.
        error: String,
    },
    /// The annotation failed, which denies the request.
    Error(String),
}

/// The outcome of a policy's match conditions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConditionsOutcome {
    /// All match conditions are true. A failed condition also counts as true if the failure policy is a value that Kubernetes does not
    /// define.
    Match,
    /// A match condition is false. Or a condition failed, none is false, and the failure policy is `Ignore`.
    NoMatch {
        /// The name of the first false condition; empty if no condition is false.
        failed: String,
    },
    /// A match condition failed, none is false, and the failure policy is `Fail`.
    Error(String),
}

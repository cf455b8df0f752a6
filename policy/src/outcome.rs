//! What the expressions of a policy came to.

/// What a policy came to for a binding and a param. Nothing, where its match conditions do not hold.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Evaluation {
    /// What each validation came to or, where the policy as a whole failed, that alone.
    pub decisions: Vec<PolicyDecision>,
    /// What each audit annotation came to.
    pub audit_annotations: Vec<PolicyAuditAnnotation>,
}

/// What a validation came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyDecision {
    /// Whether the validation is against the request.
    pub denies: bool,
    /// What it came to.
    pub evaluation: PolicyDecisionEvaluation,
    /// What is said of it; empty where there is nothing to say.
    pub message: String,
    /// The reason for a status; empty where there is none.
    pub reason: String,
}

/// Whether an expression was true: `EvalAdmit`, `EvalDeny`, `EvalError` upstream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PolicyDecisionEvaluation {
    /// It was.
    Admit,
    /// It was not.
    Deny,
    /// It could not be told; the failure policy decides.
    Error,
}

/// What an audit annotation came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyAuditAnnotation {
    /// The key, without the policy's name.
    pub key: String,
    /// What becomes of it.
    pub outcome: AuditOutcome,
}

/// What becomes of an audit annotation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuditOutcome {
    /// It is added to the audit event with this value.
    Publish(String),
    /// It is left out. The error says why, if the failure policy allows that there is one.
    Exclude {
        /// What went wrong; empty where nothing did.
        error: String,
    },
    /// It denies the request: this went wrong.
    Error(String),
}

/// What the match conditions came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConditionsOutcome {
    /// All hold.
    Match,
    /// One does not hold, the first of these is named; or they could not be told and the failure policy ignores that.
    NoMatch {
        /// The name of the condition; empty where none is false.
        failed: String,
    },
    /// They cannot be told.
    Error(String),
}

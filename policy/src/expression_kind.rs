//! What the expressions of policies are for.

/// What an expression is for, which says what it must come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExpressionKind {
    /// Whether a policy or webhook is to look at the request at all: `bool`.
    MatchCondition,
    /// A variable of the policy: anything.
    Variable,
    /// What must be true: `bool`.
    Validation,
    /// What a denial says: `string`.
    Message,
    /// The value of an audit annotation: `string` or `null`.
    AuditAnnotation,
    /// What the object is merged with: `Object`.
    ApplyConfiguration,
    /// The operations of a JSON patch: `list(JSONPatch)`.
    JsonPatch,
}

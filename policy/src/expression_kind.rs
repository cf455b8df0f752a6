//! The kinds of expressions in policies.

/// The kind of an expression, which determines the type of its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ExpressionKind {
    /// Returns whether a policy or webhook applies to the request: `bool`.
    MatchCondition,
    /// A variable of the policy: any type.
    Variable,
    /// A condition that must be true: `bool`.
    Validation,
    /// The message of a denial: `string`.
    Message,
    /// The value of an audit annotation: `string` or `null`.
    AuditAnnotation,
    /// The apply configuration, which is merged with the object: `Object`.
    ApplyConfiguration,
    /// The operations of a JSON patch: `list(JSONPatch)`.
    JsonPatch,
}

impl ExpressionKind {
    /// The name in texts for people.
    pub const fn name(self) -> &'static str {
        match self {
            ExpressionKind::MatchCondition => "match condition",
            ExpressionKind::Variable => "variable",
            ExpressionKind::Validation => "validation",
            ExpressionKind::Message => "message",
            ExpressionKind::AuditAnnotation => "audit annotation",
            ExpressionKind::ApplyConfiguration => "apply configuration",
            ExpressionKind::JsonPatch => "JSON patch",
        }
    }
}

//! Failures at run time.

use std::borrow::Cow;
use std::fmt;

use gavel_golang::work::Interrupted;

use crate::source::ExprId;

/// The error of a failed evaluation, with Kubernetes' message. Its size is one machine word.
#[derive(Debug, Clone)]
pub struct EvalError(Box<Details>);

#[derive(Debug, Clone)]
struct Details {
    kind: EvalErrorKind,
    message: Cow<'static, str>,
    expr_id: Option<ExprId>,
}

/// The kind of an [`EvalError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum EvalErrorKind {
    /// An operation failed. `&&`, `||` and the quantifiers can absorb it.
    Evaluation,
    /// The cost limit was exceeded.
    CostLimit,
    /// The memory limit was exceeded.
    MemoryLimit,
    /// The host interrupted the evaluation: the deadline has passed, or the evaluation was cancelled.
    Interrupted,
    /// Upstream's code panics in this operation. The error has the message of the panic, and no operator absorbs it.
    Internal,
}

impl EvalError {
    /// The error of a failed operation.
    #[cold]
    pub fn new(message: impl Into<Cow<'static, str>>) -> Self {
        Self::of_kind(EvalErrorKind::Evaluation, message)
    }

    /// The error of an operation in which upstream's code panics.
    #[cold]
    pub fn internal(message: impl fmt::Display) -> Self {
        Self::of_kind(
            EvalErrorKind::Internal,
            format!("internal error: {message}"),
        )
    }

    /// The error for a value that cannot be a map key or a member of a set, because its Go type cannot be hashed.
    #[cold]
    pub fn unhashable(go_type: &str) -> Self {
        Self::internal(format_args!(
            "runtime error: hash of unhashable type {go_type}"
        ))
    }

    /// An argument's type fits no overload.
    #[cold]
    pub fn no_such_overload() -> Self {
        Self::new("no such overload")
    }

    /// An argument's type fits no overload of a function; `what` is the function's internal name, or its name with the
    /// argument types.
    #[cold]
    pub fn no_such_overload_of(what: impl fmt::Display) -> Self {
        Self::new(format!("no such overload: {what}"))
    }

    /// Kubernetes cannot convert a Go value of this type to CEL; `text` is the value as Go prints it.
    #[cold]
    pub fn unsupported_conversion(go_type: &str, text: &str) -> Self {
        Self::new(format!(
            "unsupported conversion to ref.Val: ({go_type}){text}"
        ))
    }

    /// A map or object has no such key or field.
    #[cold]
    pub fn no_such_key(key: impl fmt::Display) -> Self {
        Self::new(format!("no such key: {key}"))
    }

    /// The cost limit was exceeded.
    #[cold]
    pub fn cost_limit() -> Self {
        Self::of_kind(
            EvalErrorKind::CostLimit,
            "operation cancelled: actual cost limit exceeded",
        )
    }

    /// The memory limit was exceeded. Upstream has no such limit.
    #[cold]
    pub fn memory_limit() -> Self {
        Self::of_kind(
            EvalErrorKind::MemoryLimit,
            "operation cancelled: memory limit exceeded",
        )
    }

    /// The host interrupted the evaluation: the deadline has passed, or the evaluation was cancelled.
    #[cold]
    pub fn interrupted() -> Self {
        Self::of_kind(EvalErrorKind::Interrupted, "operation interrupted")
    }

    fn of_kind(kind: EvalErrorKind, message: impl Into<Cow<'static, str>>) -> Self {
        EvalError(Box::new(Details {
            kind,
            message: message.into(),
            expr_id: None,
        }))
    }

    /// Attaches the node that failed, unless a node is attached already, or a limit or an interrupt ended the whole evaluation.
    #[cold]
    #[must_use]
    pub fn at(mut self, id: ExprId) -> Self {
        if let EvalErrorKind::Evaluation | EvalErrorKind::Internal = self.0.kind {
            self.0.expr_id.get_or_insert(id);
        }
        self
    }

    /// The innermost node that failed. `None` if a limit or an interrupt ended the whole evaluation, or if the failure happened outside of
    /// an evaluation.
    pub fn expr_id(&self) -> Option<ExprId> {
        self.0.expr_id
    }

    /// The kind of the failure.
    pub fn kind(&self) -> EvalErrorKind {
        self.0.kind
    }

    /// Whether the whole evaluation ends with this failure, so that no operator can absorb it.
    pub fn is_fatal(&self) -> bool {
        self.0.kind != EvalErrorKind::Evaluation
    }

    /// The error message.
    pub fn message(&self) -> &str {
        &self.0.message
    }
}

impl fmt::Display for EvalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for EvalError {}

impl From<Interrupted> for EvalError {
    fn from(_: Interrupted) -> Self {
        EvalError::interrupted()
    }
}

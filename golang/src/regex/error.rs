//! Errors of regular expressions, in Go's words (`regexp/syntax/parse.go`).

use thiserror::Error;

use crate::work::Interrupted;

/// The error for an invalid regular expression. Prints like Go's error: ``error parsing regexp: missing closing ]: `[` ``.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(transparent)]
pub struct RegexError(#[from] Repr);

#[derive(Debug, Clone, PartialEq, Eq, Error)]
enum Repr {
    #[error("error parsing regexp: {problem}: `{expression}`")]
    Syntax {
        problem: Problem,
        expression: String,
    },
    /// The program of the pattern exceeds the size limit. DIFFERENCE: Go counts instructions slightly differently, so a pattern just below
    /// Go's limit can fail with this error.
    #[error("regular expression needs too much memory")]
    TooMuchMemory,
    #[error("operation interrupted")]
    Interrupted,
}

impl From<Interrupted> for RegexError {
    fn from(_: Interrupted) -> Self {
        RegexError(Repr::Interrupted)
    }
}

impl RegexError {
    /// Whether the work was interrupted before the pattern was compiled.
    pub fn is_interrupted(&self) -> bool {
        self.0 == Repr::Interrupted
    }

    /// An error that quotes the invalid part of the pattern.
    pub(super) fn syntax(problem: Problem, expression: &str) -> Self {
        RegexError(Repr::Syntax {
            problem,
            expression: expression.to_owned(),
        })
    }

    /// The error for a pattern whose program exceeds the size limit.
    pub(super) fn too_much_memory() -> Self {
        RegexError(Repr::TooMuchMemory)
    }
}

/// What is wrong with a regular expression, in the words of Go's `regexp/syntax`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub(super) enum Problem {
    #[error("invalid character class range")]
    InvalidCharRange,
    #[error("invalid escape sequence")]
    InvalidEscape,
    #[error("invalid named capture")]
    InvalidNamedCapture,
    #[error("invalid or unsupported Perl syntax")]
    InvalidPerlOp,
    #[error("invalid nested repetition operator")]
    InvalidRepeatOp,
    #[error("invalid repeat count")]
    InvalidRepeatSize,
    #[error("missing closing ]")]
    MissingBracket,
    #[error("missing closing )")]
    MissingParen,
    #[error("missing argument to repetition operator")]
    MissingRepeatArgument,
    #[error("trailing backslash at end of expression")]
    TrailingBackslash,
    #[error("unexpected )")]
    UnexpectedParen,
    #[error("expression nests too deeply")]
    NestingDepth,
    #[error("expression too large")]
    Large,
}

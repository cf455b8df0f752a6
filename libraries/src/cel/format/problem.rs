//! Why `format` fails.

use std::borrow::Cow;
use std::fmt;

use gavel_engine::error::EvalError;

use super::template::Verb;

/// Why a value cannot be written.
#[derive(Debug)]
pub(super) enum Problem {
    /// The clause or value is invalid, for the reason in the message.
    Words(Cow<'static, str>),
    /// An object has a field that is not in its schema. Upstream's key for the field is nil, and reading it panics.
    NoKey,
    /// A limit or an interrupt ended the evaluation.
    Ended(EvalError),
}

impl Problem {
    pub(super) fn new(message: impl Into<Cow<'static, str>>) -> Self {
        Problem::Words(message.into())
    }

    /// The problem of a clause that does not accept values of a type. The message is the specification's; cel-go's version 4 has another.
    #[cold]
    pub(super) fn misfit(verb: Verb, type_name: &str) -> Self {
        let what = match verb {
            Verb::String => {
                "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, \
                 durations, and timestamps"
            }
            Verb::Decimal => "decimal clause can only be used on integers",
            Verb::Fixed => "fixed-point clause can only be used on doubles",
            Verb::Scientific => "scientific clause can only be used on doubles",
            Verb::Binary => "only integers and bools can be formatted as binary",
            Verb::Hex | Verb::UpperHex => {
                "only integers, byte buffers, and strings can be formatted as hex"
            }
            Verb::Octal => "octal clause can only be used on integers",
        };
        Problem::new(format!("{what}, was given {type_name}"))
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::Words(words) => write!(f, "error during formatting: {words}"),
            Problem::NoKey => {
                f.write_str("runtime error: invalid memory address or nil pointer dereference")
            }
            Problem::Ended(error) => write!(f, "{error}"),
        }
    }
}

impl From<Problem> for EvalError {
    fn from(problem: Problem) -> Self {
        match problem {
            Problem::Words(_) => EvalError::new(problem.to_string()),
            Problem::NoKey => EvalError::internal(problem),
            Problem::Ended(error) => error,
        }
    }
}

impl From<fmt::Error> for Problem {
    /// A placeholder for the failure of an [`Output`](super::output::Output), whose `check` returns the actual cause.
    fn from(error: fmt::Error) -> Self {
        Problem::new(error.to_string())
    }
}

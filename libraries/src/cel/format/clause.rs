//! Which values a clause takes, and the clauses that write integers and bits.

use std::borrow::Cow;
use std::fmt::{self, Write};

use gavel_engine::error::EvalError;
use gavel_engine::value::{Value, ValueKind};

use super::output::Output;
use super::template::Verb;

/// Why a value cannot be written.
#[derive(Debug)]
pub(super) enum Problem {
    /// In the words of the message.
    Words(Cow<'static, str>),
    /// It is the key of a field that the schema does not know: upstream has none, and looks at it.
    NoKey,
    /// The evaluation ends.
    Ended(EvalError),
}

impl Problem {
    pub(super) fn new(message: impl Into<Cow<'static, str>>) -> Self {
        Problem::Words(message.into())
    }

    /// The clause does not take values of a type. The words are those of the specification; cel-go's version 4 has
    /// others.
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
    /// Never asked for: writing to a text in memory succeeds.
    fn from(error: fmt::Error) -> Self {
        Problem::new(error.to_string())
    }
}

/// Deeper values are not written; it bounds recursion, beyond what parsers let through.
pub(super) const MAX_DEPTH: usize = 1_000;

/// One level down in a value of which `out` is written so far.
pub(super) fn deeper(depth: usize, out: &Output<'_, '_>) -> Result<usize, Problem> {
    out.check()?;
    let too_deep = || Problem::new("values are nested too deeply");
    depth.checked_sub(1).ok_or_else(too_deep)
}

/// Writes what all versions write alike: integers, and the bits of integers, bools, texts and bytes.
pub(super) fn write_integer(
    out: &mut Output<'_, '_>,
    verb: Verb,
    value: &Value<'_>,
) -> Result<(), Problem> {
    let magnitude = match (verb, value.kind()) {
        (Verb::Binary, ValueKind::Bool(bit)) => {
            out.push(if bit { '1' } else { '0' });
            return Ok(());
        }
        (Verb::Hex | Verb::UpperHex, ValueKind::String(text)) => {
            return write_bytes(out, verb, text.as_bytes());
        }
        (Verb::Hex | Verb::UpperHex, ValueKind::Bytes(bytes)) => {
            return write_bytes(out, verb, bytes);
        }
        (_, ValueKind::Int(int)) => {
            out.push_str(if int < 0 { "-" } else { "" });
            int.unsigned_abs()
        }
        (_, ValueKind::Uint(uint)) => uint,
        _ => return Err(Problem::misfit(verb, value.type_name())),
    };
    match verb {
        Verb::Binary => write!(out, "{magnitude:b}")?,
        Verb::Octal => write!(out, "{magnitude:o}")?,
        Verb::Hex => write!(out, "{magnitude:x}")?,
        Verb::UpperHex => write!(out, "{magnitude:X}")?,
        _ => write!(out, "{magnitude}")?,
    }
    Ok(())
}

fn write_bytes(out: &mut Output<'_, '_>, verb: Verb, bytes: &[u8]) -> Result<(), Problem> {
    for byte in bytes {
        match verb {
            Verb::UpperHex => write!(out, "{byte:02X}")?,
            _ => write!(out, "{byte:02x}")?,
        }
    }
    Ok(())
}

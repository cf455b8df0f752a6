//! The clauses of `format` that all versions write alike: `%d`, `%b`, `%o`, `%x` and `%X`.

use std::fmt::Write;

use gavel_engine::value::{Value, ValueKind};

use super::output::Output;
use super::problem::Problem;
use super::template::Verb;

pub(super) use gavel_engine::value::MAX_DEPTH;

/// The nesting depth that remains for the elements of a collection. Fails if `depth` is 0.
pub(super) fn deeper(depth: usize, out: &Output<'_, '_>) -> Result<usize, Problem> {
    out.check()?;
    let too_deep = || Problem::new("values are nested too deeply");
    depth.checked_sub(1).ok_or_else(too_deep)
}

/// Writes the clauses that all versions format alike: `%d`, `%b`, `%o`, `%x` and `%X`.
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

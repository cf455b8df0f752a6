//! `format` of the strings library (cel-go `ext/formatting.go`, `ext/formatting_v2.go`): values written into a template.
//!
//! Versions 1 to 3 write doubles as in American English, with commas between thousands; version 4, which follows CEL's specification,
//! writes them without a locale. Kubernetes has version 2.

mod clause;
mod constant;
mod locale;
mod localized;
mod output;
mod portable;
mod problem;
mod template;
pub mod validator;

use gavel_engine::body;
use gavel_engine::cost::formulas;
use gavel_engine::decl::{CallContext, LiteralRule, Overload, declared};
use gavel_engine::error::EvalError;
use gavel_engine::value::{List, Value};

use self::output::Output;
use self::problem::Problem;
use self::template::{Clause, Piece, Template, Verb};

/// The function `format` of versions 1 to 3.
#[rustfmt::skip] // One row per line.
pub const FORMAT_BEFORE_4: &[Overload] = &[
    FORMAT.body(body!(localized)).variadic().example("'%s has %d, %.1f%%'.format(['a', 2, 1234.5]) == 'a has 2, 1,234.5%'"),
];

/// The function `format` since version 4.
#[rustfmt::skip] // One row per line.
pub const FORMAT_SINCE_4: &[Overload] = &[
    FORMAT.body(body!(portable)).variadic().example("'%s has %d, %.1f%%'.format(['a', 2, 1234.5]) == 'a has 2, 1234.5%'"),
];

const FORMAT: Overload = declared("format", "string_format", "string.(list(dyn)) -> string")
    .specialize(constant::read)
    .cost(formulas::FORMAT)
    .literals(LiteralRule::Mixed);

fn localized<'a>(
    call: &CallContext<'a>,
    template: &str,
    values: List<'a>,
) -> Result<&'a str, EvalError> {
    format(call, template, values, localized::write)
}

fn portable<'a>(
    call: &CallContext<'a>,
    template: &str,
    values: List<'a>,
) -> Result<&'a str, EvalError> {
    format(call, template, values, portable::write)
}

/// A function that writes one value according to its clause.
type Write = fn(&mut Output<'_, '_>, Clause, &Value<'_>) -> Result<(), Problem>;

/// The expected length of a formatted value, in bytes.
const BYTES_PER_VALUE: usize = 24;

/// The largest number of values for which memory is reserved at the beginning.
const MOST_EXPECTED: usize = 64;

/// Formats the values. Values that no clause uses are ignored.
fn format<'a>(
    call: &CallContext<'a>,
    template: &str,
    values: List<'a>,
    write: Write,
) -> Result<&'a str, EvalError> {
    let expected = values
        .len()
        .min(MOST_EXPECTED)
        .saturating_mul(BYTES_PER_VALUE);
    let mut text = Output::new(call, template.len().saturating_add(expected))?;
    let mut next = 0_usize;
    for piece in Template::new(template) {
        match piece {
            Piece::Text(part) => text.push_str(part),
            Piece::Clause(clause) => {
                let value = values
                    .get(next)
                    .ok_or_else(|| EvalError::new(template::missing_value(next)))?;
                next = next.saturating_add(1);
                // `%s` writes a text unchanged.
                if let (Ok(clause), Some(part)) = (&clause, value.as_str())
                    && clause.verb == Verb::String
                {
                    text.push_str(part);
                    text.check()?;
                    continue;
                }
                // A value that cannot be read is passed on unread, and every clause rejects it.
                let value = value.read(call.arena).unwrap_or(value);
                let clause = clause.map_err(|error| EvalError::new(error.to_string()))?;
                let written = write(&mut text, clause, &value);
                text.check()?;
                written?;
            }
        }
    }
    text.finish()
}

#[cfg(test)]
mod tests;

//! `format` of the strings library (cel-go `ext/formatting.go`, `ext/formatting_v2.go`): values written into a template.
//!
//! Versions 1 to 3 write doubles for people who read English, with commas between thousands; version 4, which is CEL's
//! specification, writes them for programs. Kubernetes has version 2.

mod clause;
mod locale;
mod localized;
mod portable;
mod template;
pub mod validator;

use bumpalo::collections::String;
use gavel_engine::cost::formulas;
use gavel_engine::decl::{CallContext, Implementation, Overload};
use gavel_engine::error::EvalError;
use gavel_engine::value::Value;

use self::clause::Problem;
use self::template::{Clause, Piece, Template};
use super::limit::check_length;

/// `format` of the versions 1 to 3.
pub const FORMAT_BEFORE_4: &[Overload] = &[Overload {
    implementation: Implementation::Variadic(|call, args| format(call, args, localized::write)),
    example: "'%s has %d, %.1f%%'.format(['a', 2, 1234.5]) == 'a has 2, 1,234.5%'",
    ..FORMAT
}];

/// `format` since version 4.
pub const FORMAT_SINCE_4: &[Overload] = &[Overload {
    implementation: Implementation::Variadic(|call, args| format(call, args, portable::write)),
    example: "'%s has %d, %.1f%%'.format(['a', 2, 1234.5]) == 'a has 2, 1234.5%'",
    ..FORMAT
}];

const FORMAT: Overload = Overload {
    function: "format",
    id: "string_format",
    signature: "string.(list(dyn)) -> string",
    implementation: Implementation::Declared,
    cost: formulas::FORMAT,
    example: "",
};

/// Writes one value as its clause says.
type Write = fn(&mut String<'_>, Clause, &Value<'_>) -> Result<(), Problem>;

/// Values that no clause asks for are passed over.
fn format<'a>(
    call: &CallContext<'a>,
    args: &[Value<'a>],
    write: Write,
) -> Result<Value<'a>, EvalError> {
    let [Value::String(template), values] = args else {
        return Err(EvalError::no_such_overload());
    };
    let values = values.as_list().ok_or_else(EvalError::no_such_overload)?;
    let mut text = String::with_capacity_in(template.len(), call.arena.bump());
    let mut next = 0_usize;
    for piece in Template::new(template) {
        match piece {
            Piece::Text(part) => text.push_str(part),
            Piece::Clause(clause) => {
                let value = values
                    .get(next)
                    .ok_or_else(|| EvalError::new(template::missing_value(next)))?;
                next = next.saturating_add(1);
                // What cannot be read has no clause.
                let value = value.read(call.arena).unwrap_or(value);
                let clause = clause.map_err(|error| EvalError::new(error.to_string()))?;
                write(&mut text, clause, &value)?;
                check_length(&text)?;
            }
        }
    }
    Ok(Value::String(text.into_bump_str()))
}

#[cfg(test)]
mod tests;

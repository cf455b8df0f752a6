//! CEL's standard functions and operators (cel-go `common/stdlib/standard.go`): their rows and implementations.

use crate::decl::Overload;
use crate::error::EvalError;
use crate::value::Value;

mod arithmetic;
mod containers;
mod conversion;
mod equality;
mod logic;
mod ordering;
mod text;
mod time;

/// The rows, in the order in which the checker tries the overloads of a function.
pub const TABLES: &[&[Overload]] = &[
    logic::ROWS,
    equality::ROWS,
    arithmetic::ROWS,
    ordering::LESS_ROWS,
    ordering::LESS_EQUALS_ROWS,
    ordering::GREATER_ROWS,
    ordering::GREATER_EQUALS_ROWS,
    containers::ROWS,
    conversion::ROWS,
    text::ROWS,
    time::ROWS,
];

/// Rows for CEL's specification. They replace the rows with the same ids in [`TABLES`].
pub const SPECIFIED: &[Overload] = time::SPECIFIED;

/// `duration(int)`, which newer versions of Kubernetes do not declare.
pub const DURATION_OF_INT: &[Overload] = conversion::DURATION_OF_INT;

/// Rows for Kubernetes 1.37 and later. They replace the rows with the same ids in [`TABLES`]. The cost of `text.startsWith(part)` and
/// `text.endsWith(part)` depends on the length of `part`. A global call of `matches` costs as much as a receiver-style call.
pub const COSTED_BY_WHAT_IS_READ: &[Overload] = text::COSTED_BY_WHAT_IS_READ;

/// The rows of [`TABLES`] and [`DURATION_OF_INT`].
pub fn rows() -> impl Iterator<Item = &'static Overload> {
    TABLES.iter().copied().flatten().chain(DURATION_OF_INT)
}

/// The error for an operand whose type does not support the operator or function. The message names the function, except for texts,
/// durations and timestamps.
#[cold]
fn missing_operator(function: &str, args: &[Value<'_>]) -> EvalError {
    match args.first() {
        Some(first) if first.has_methods() => EvalError::no_such_overload(),
        _ => EvalError::no_such_overload_of(function),
    }
}

#[cfg(test)]
mod tests;

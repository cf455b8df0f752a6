//! `==` and `!=`.

use crate::ast::operators::{EQUALS, NOT_EQUALS};
use crate::body;
use crate::cost::formulas::COMPARISON;
use crate::decl::{Overload, row};
use crate::error::EvalError;
use crate::value::Value;

#[rustfmt::skip] // A table: a row a line.
pub(super) const ROWS: &[Overload] = &[
    row(EQUALS, "equals", "(A, A) -> bool", body!(equals), "dyn(3.0) == 3").shared().cost(COMPARISON),
    row(NOT_EQUALS, "not_equals", "(A, A) -> bool", body!(not_equals), "'a' != 'b'").shared().cost(COMPARISON),
];

fn equals(left: Value<'_>, right: Value<'_>) -> Result<bool, EvalError> {
    left.equals(&right)
}

/// What cannot be compared differs, as upstream has it.
fn not_equals(left: Value<'_>, right: Value<'_>) -> Result<bool, EvalError> {
    left.differs_from(&right)
}

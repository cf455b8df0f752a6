//! `==` and `!=`.

use crate::ast::operators::{EQUALS, NOT_EQUALS};
use crate::body;
use crate::cost::formulas::COMPARISON;
use crate::decl::{CallContext, Form, Overload, Reads, row};
use crate::error::EvalError;
use crate::value::Value;

#[rustfmt::skip] // One row per line.
pub(super) const ROWS: &[Overload] = &[
    row(EQUALS, "equals", "(A, A) -> bool", body!(equals), "dyn(3.0) == 3").form(Form::Equal).reads(Reads::All).shared().cost(COMPARISON),
    row(NOT_EQUALS, "not_equals", "(A, A) -> bool", body!(not_equals), "'a' != 'b'").form(Form::NotEqual).reads(Reads::All).shared().cost(COMPARISON),
];

fn equals<'a>(
    call: &CallContext<'a>,
    left: Value<'a>,
    right: Value<'a>,
) -> Result<bool, EvalError> {
    left.equals_with(&right, call.host())
}

/// Whether values differ. Like upstream, treats values that cannot be compared as different.
fn not_equals<'a>(
    call: &CallContext<'a>,
    left: Value<'a>,
    right: Value<'a>,
) -> Result<bool, EvalError> {
    left.differs_from(&right, call.host())
}

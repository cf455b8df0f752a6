//! `==` and `!=`.

use super::shared;
use crate::ast::operators::{EQUALS, NOT_EQUALS};
use crate::cost::formulas::COMPARISON;
use crate::decl::{CallContext, Overload};
use crate::error::EvalError;
use crate::value::Value;

pub(super) const ROWS: &[Overload] = &[
    shared(
        EQUALS,
        "equals",
        "(A, A) -> bool",
        equals,
        COMPARISON,
        "dyn(3.0) == 3",
    ),
    shared(
        NOT_EQUALS,
        "not_equals",
        "(A, A) -> bool",
        not_equals,
        COMPARISON,
        "'a' != 'b'",
    ),
];

fn equals<'a>(_: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    match args {
        [left, right] => left.equals(right).map(Value::Bool),
        _ => Err(EvalError::no_such_overload()),
    }
}

/// What cannot be compared differs, as upstream has it.
fn not_equals<'a>(_: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    match args {
        [left, right] => left.differs_from(right).map(Value::Bool),
        _ => Err(EvalError::no_such_overload()),
    }
}

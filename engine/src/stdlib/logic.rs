//! Logic: `&&`, `||`, `!`, `?:`, and the function that lets quantifiers continue after errors.

use crate::ast::operators::{
    CONDITIONAL, LOGICAL_AND, LOGICAL_NOT, LOGICAL_OR, NOT_STRICTLY_FALSE,
};
use crate::decl::{Form, Overload, planned};

#[rustfmt::skip] // One row per line.
pub(super) const ROWS: &[Overload] = &[
    planned(CONDITIONAL, "conditional", "(bool, A, A) -> A", Form::Conditional, "(2 > 1 ? 'yes' : 'no') == 'yes'"),
    planned(LOGICAL_AND, "logical_and", "(bool, bool) -> bool", Form::And, "true && true"),
    planned(LOGICAL_OR, "logical_or", "(bool, bool) -> bool", Form::Or, "1 / 0 > 0 || true"),
    planned(LOGICAL_NOT, "logical_not", "(bool) -> bool", Form::Not, "!false"),
    planned(NOT_STRICTLY_FALSE, "not_strictly_false", "(bool) -> bool", Form::NotStrictlyFalse, "![1, 0].all(x, 1 / x > 1)"),
];

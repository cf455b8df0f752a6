//! Logic: `&&`, `||`, `!`, `?:` and what keeps quantifiers going past errors.

use super::{planned, shared};
use crate::ast::operators::{
    CONDITIONAL, LOGICAL_AND, LOGICAL_NOT, LOGICAL_OR, NOT_STRICTLY_FALSE,
};
use crate::cost::Cost;
use crate::decl::{CallContext, Overload};
use crate::error::EvalError;
use crate::value::Value;

pub(super) const ROWS: &[Overload] = &[
    planned(
        CONDITIONAL,
        "conditional",
        "(bool, A, A) -> A",
        "(2 > 1 ? 'yes' : 'no') == 'yes'",
    ),
    planned(
        LOGICAL_AND,
        "logical_and",
        "(bool, bool) -> bool",
        "true && true",
    ),
    planned(
        LOGICAL_OR,
        "logical_or",
        "(bool, bool) -> bool",
        "1 / 0 > 0 || true",
    ),
    shared(
        LOGICAL_NOT,
        "logical_not",
        "(bool) -> bool",
        not,
        Cost::ONE,
        "!false",
    ),
    planned(
        NOT_STRICTLY_FALSE,
        "not_strictly_false",
        "(bool) -> bool",
        "![1, 0].all(x, 1 / x > 1)",
    ),
];

fn not<'a>(_: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    match args {
        [Value::Bool(b)] => Ok(Value::Bool(!b)),
        _ => Err(EvalError::no_such_overload()),
    }
}

#[cfg(test)]
mod tests {
    use crate::stdlib::tests::{check, fails};
    use crate::value::Value;

    #[test]
    fn only_bools_are_negated() {
        check("!_", &[Value::Bool(true)], Value::Bool(false));
        fails("!_", &[Value::Int(1)], "no such overload");
    }
}

//! `<`, `<=`, `>` and `>=`.

use std::cmp::Ordering;

use super::missing_operator;
use crate::ast::operators::{GREATER, GREATER_EQUALS, LESS, LESS_EQUALS};
use crate::body;
use crate::cost::Cost;
use crate::cost::formulas::COMPARISON;
use crate::decl::{Form, Overload, row};
use crate::error::EvalError;
use crate::value::Value;

/// The rows of an operator. `$side` selects the operands of the examples: in `below`, the left operand is less; in `above`, it is greater.
macro_rules! rows {
    ($operator:ident $form:ident $name:literal $symbol:literal $body:ident $side:ident) => {
        &[
            rows!(@row $operator $form $name $symbol $body $side "bool", "bool, bool", Cost::ONE,
                below "false" "true", above "true" "false"),
            rows!(@row $operator $form $name $symbol $body $side "int64", "int, int", Cost::ONE,
                below "-2" "3", above "3" "-2"),
            rows!(@row $operator $form $name $symbol $body $side "int64_double", "int, double", Cost::ONE,
                below "1" "1.5", above "2" "1.5"),
            rows!(@row $operator $form $name $symbol $body $side "int64_uint64", "int, uint", Cost::ONE,
                below "-1" "2u", above "3" "2u"),
            rows!(@row $operator $form $name $symbol $body $side "uint64", "uint, uint", Cost::ONE,
                below "1u" "2u", above "3u" "2u"),
            rows!(@row $operator $form $name $symbol $body $side "uint64_double", "uint, double", Cost::ONE,
                below "1u" "1.5", above "2u" "1.5"),
            rows!(@row $operator $form $name $symbol $body $side "uint64_int64", "uint, int", Cost::ONE,
                below "1u" "2", above "0u" "-1"),
            rows!(@row $operator $form $name $symbol $body $side "double", "double, double", Cost::ONE,
                below "1.5" "2.5", above "2.5" "1.5"),
            rows!(@row $operator $form $name $symbol $body $side "double_int64", "double, int", Cost::ONE,
                below "1.5" "2", above "2.5" "2"),
            rows!(@row $operator $form $name $symbol $body $side "double_uint64", "double, uint", Cost::ONE,
                below "-1.5" "2u", above "2.5" "2u"),
            rows!(@row $operator $form $name $symbol $body $side "string", "string, string", COMPARISON,
                below "'a'" "'b'", above "'b'" "'a'"),
            rows!(@row $operator $form $name $symbol $body $side "bytes", "bytes, bytes", COMPARISON,
                below "b'a'" "b'ab'", above "b'b'" "b'ab'"),
            rows!(@row $operator $form $name $symbol $body $side "timestamp", "timestamp, timestamp", Cost::ONE,
                below "timestamp(0)" "timestamp('2001-01-01T00:00:00Z')",
                above "timestamp('2001-01-01T00:00:00Z')" "timestamp(0)"),
            rows!(@row $operator $form $name $symbol $body $side "duration", "duration, duration", Cost::ONE,
                below "duration('59s')" "duration('1m')", above "duration('1h')" "duration('59m')"),
        ]
    };
    (@row $operator:ident $form:ident $name:literal $symbol:literal $body:ident below $type:literal, $types:literal, $cost:expr,
        below $left:literal $right:literal, above $_left:literal $_right:literal) => {
        rows!(@done $operator $form $name $symbol $body $type, $types, $cost, $left $right)
    };
    (@row $operator:ident $form:ident $name:literal $symbol:literal $body:ident above $type:literal, $types:literal, $cost:expr,
        below $_left:literal $_right:literal, above $left:literal $right:literal) => {
        rows!(@done $operator $form $name $symbol $body $type, $types, $cost, $left $right)
    };
    (@done $operator:ident $form:ident $name:literal $symbol:literal $body:ident $type:literal, $types:literal, $cost:expr,
        $left:literal $right:literal) => {
        row($operator, concat!($name, "_", $type), concat!("(", $types, ") -> bool"), body!($body), concat!($left, " ", $symbol, " ", $right)).shared().form(Form::$form).cost($cost)
    };
}

pub(super) const LESS_ROWS: &[Overload] = rows!(LESS Less "less" "<" less below);
pub(super) const LESS_EQUALS_ROWS: &[Overload] =
    rows!(LESS_EQUALS LessOrEqual "less_equals" "<=" less_equals below);
pub(super) const GREATER_ROWS: &[Overload] = rows!(GREATER Greater "greater" ">" greater above);
pub(super) const GREATER_EQUALS_ROWS: &[Overload] =
    rows!(GREATER_EQUALS GreaterOrEqual "greater_equals" ">=" greater_equals above);

fn less(left: Value<'_>, right: Value<'_>) -> Result<bool, EvalError> {
    order(LESS, left, right).map(Ordering::is_lt)
}

fn less_equals(left: Value<'_>, right: Value<'_>) -> Result<bool, EvalError> {
    order(LESS_EQUALS, left, right).map(Ordering::is_le)
}

fn greater(left: Value<'_>, right: Value<'_>) -> Result<bool, EvalError> {
    order(GREATER, left, right).map(Ordering::is_gt)
}

fn greater_equals(left: Value<'_>, right: Value<'_>) -> Result<bool, EvalError> {
    order(GREATER_EQUALS, left, right).map(Ordering::is_ge)
}

fn order(operator: &str, left: Value<'_>, right: Value<'_>) -> Result<Ordering, EvalError> {
    match left.is_ordered() {
        true => left.compare(&right),
        false => Err(missing_operator(operator, &[left])),
    }
}

#[cfg(test)]
mod tests {
    use crate::stdlib::tests::{check, fails};
    use crate::value::Value;

    #[test]
    fn each_operator_reads_the_order() {
        for (left, right, holding) in [
            (1, 2, ["_<_", "_<=_"].as_slice()),
            (2, 2, &["_<=_", "_>=_"]),
            (3, 2, &["_>_", "_>=_"]),
        ] {
            for operator in ["_<_", "_<=_", "_>_", "_>=_"] {
                let expected = Value::from(holding.contains(&operator));
                check(operator, &[Value::from(left), Value::from(right)], expected);
            }
        }
    }

    #[test]
    fn unordered_operands_are_named_by_the_operator() {
        fails("_<_", &[Value::NULL, Value::NULL], "no such overload: _<_");
        fails(
            "_>=_",
            &[Value::type_named("int"), Value::from(1)],
            "no such overload: _>=_",
        );
        fails("_<_", &[Value::from(1), Value::NULL], "no such overload");
    }
}

//! `+`, `-`, `*`, `/`, `%` and unary `-`.

use super::missing_operator;
use crate::ast::operators::{ADD, DIVIDE, MODULO, MULTIPLY, NEGATE, SUBTRACT};
use crate::body;
use crate::cost::formulas::{CONCATENATION, LIST_CONCATENATION};
use crate::decl::{CallContext, Overload, Yield, row};
use crate::error::EvalError;
use crate::value::{
    Value, ValueKind, arithmetic as checked, concat_bytes, concat_lists, concat_strings,
};

#[rustfmt::skip] // One row per line.
pub(super) const ROWS: &[Overload] = &[
    row(ADD, "add_bytes", "(bytes, bytes) -> bytes", body!(add), "b'a' + b'b' == b'ab'").yields(Yield::Sum).shared().cost(CONCATENATION),
    row(ADD, "add_double", "(double, double) -> double", body!(add), "0.5 + 0.25 == 0.75").yields(Yield::Sum).shared(),
    row(ADD, "add_duration_duration", "(duration, duration) -> duration", body!(add), "duration('1m') + duration('1s') == duration('61s')").yields(Yield::Sum).shared(),
    row(ADD, "add_duration_timestamp", "(duration, timestamp) -> timestamp", body!(add), "duration('1m') + timestamp(0) == timestamp(60)").yields(Yield::Sum).shared(),
    row(ADD, "add_timestamp_duration", "(timestamp, duration) -> timestamp", body!(add), "timestamp(0) + duration('1m') == timestamp(60)").yields(Yield::Sum).shared(),
    row(ADD, "add_int64", "(int, int) -> int", body!(add), "1 + 2 == 3").yields(Yield::Sum).shared(),
    row(ADD, "add_list", "(list(A), list(A)) -> list(A)", body!(add), "[1] + [2] == [1, 2]").yields(Yield::Sum).shared().cost(LIST_CONCATENATION),
    row(ADD, "add_string", "(string, string) -> string", body!(add), "'a' + 'b' == 'ab'").yields(Yield::Sum).shared().cost(CONCATENATION),
    row(ADD, "add_uint64", "(uint, uint) -> uint", body!(add), "1u + 2u == 3u").yields(Yield::Sum).shared(),
    row(DIVIDE, "divide_double", "(double, double) -> double", body!(divide), "1.0 / 4.0 == 0.25").shared(),
    row(DIVIDE, "divide_int64", "(int, int) -> int", body!(divide), "-7 / 2 == -3").shared(),
    row(DIVIDE, "divide_uint64", "(uint, uint) -> uint", body!(divide), "7u / 2u == 3u").shared(),
    row(MODULO, "modulo_int64", "(int, int) -> int", body!(modulo), "-7 % 2 == -1").shared(),
    row(MODULO, "modulo_uint64", "(uint, uint) -> uint", body!(modulo), "7u % 2u == 1u").shared(),
    row(MULTIPLY, "multiply_double", "(double, double) -> double", body!(multiply), "1.5 * 2.0 == 3.0").shared(),
    row(MULTIPLY, "multiply_int64", "(int, int) -> int", body!(multiply), "-2 * 3 == -6").shared(),
    row(MULTIPLY, "multiply_uint64", "(uint, uint) -> uint", body!(multiply), "2u * 3u == 6u").shared(),
    row(NEGATE, "negate_double", "(double) -> double", body!(negate), "-(1.5) < 0.0").shared(),
    row(NEGATE, "negate_int64", "(int) -> int", body!(negate), "-(1 + 1) == -2").shared(),
    row(SUBTRACT, "subtract_double", "(double, double) -> double", body!(subtract), "0.75 - 0.5 == 0.25").shared(),
    row(SUBTRACT, "subtract_duration_duration", "(duration, duration) -> duration", body!(subtract), "duration('1m') - duration('1s') == duration('59s')").shared(),
    row(SUBTRACT, "subtract_int64", "(int, int) -> int", body!(subtract), "5 - 7 == -2").shared(),
    row(SUBTRACT, "subtract_timestamp_duration", "(timestamp, duration) -> timestamp", body!(subtract), "timestamp(60) - duration('1m') == timestamp(0)").shared(),
    row(SUBTRACT, "subtract_timestamp_timestamp", "(timestamp, timestamp) -> duration", body!(subtract), "timestamp(60) - timestamp(0) == duration('1m')").shared(),
    row(SUBTRACT, "subtract_uint64", "(uint, uint) -> uint", body!(subtract), "5u - 3u == 2u").shared(),
];

fn add<'a>(
    call: &CallContext<'a>,
    left: Value<'a>,
    right: Value<'a>,
) -> Result<Value<'a>, EvalError> {
    use ValueKind::{Bytes, Double, Duration, Int, List, String, Timestamp, Uint};
    match (left.kind(), right.kind()) {
        (Int(l), Int(r)) => checked::add_int(l, r).map(Value::from),
        (Uint(l), Uint(r)) => checked::add_uint(l, r).map(Value::from),
        (Double(l), Double(r)) => Ok(Value::from(l + r)),
        (String(l), String(r)) => concat_strings(call.arena, l, r).map(Value::from),
        (Bytes(l), Bytes(r)) => concat_bytes(call.arena, l, r).map(Value::from),
        (Duration(l), Duration(r)) => checked::add_duration(l, r).map(Value::from),
        (Duration(l), Timestamp(r)) => checked::add_to_timestamp(r, l).map(Value::from),
        (Timestamp(l), Duration(r)) => checked::add_to_timestamp(l, r).map(Value::from),
        (List(l), List(r)) => concat_lists(call.arena, l, r, call.work_counter()),
        (List(_), _) => Err(EvalError::no_such_overload()),
        _ => Err(unfit(ADD, left)),
    }
}

fn subtract<'a>(left: Value<'a>, right: Value<'a>) -> Result<Value<'a>, EvalError> {
    use ValueKind::{Double, Duration, Int, Timestamp, Uint};
    match (left.kind(), right.kind()) {
        (Int(l), Int(r)) => checked::subtract_int(l, r).map(Value::from),
        (Uint(l), Uint(r)) => checked::subtract_uint(l, r).map(Value::from),
        (Double(l), Double(r)) => Ok(Value::from(l - r)),
        (Duration(l), Duration(r)) => checked::subtract_duration(l, r).map(Value::from),
        (Timestamp(l), Duration(r)) => checked::subtract_from_timestamp(l, r).map(Value::from),
        (Timestamp(l), Timestamp(r)) => checked::subtract_timestamp(l, r).map(Value::from),
        _ => Err(unfit(SUBTRACT, left)),
    }
}

fn multiply<'a>(left: Value<'a>, right: Value<'a>) -> Result<Value<'a>, EvalError> {
    use ValueKind::{Double, Int, Uint};
    match (left.kind(), right.kind()) {
        (Int(l), Int(r)) => checked::multiply_int(l, r).map(Value::from),
        (Uint(l), Uint(r)) => checked::multiply_uint(l, r).map(Value::from),
        (Double(l), Double(r)) => Ok(Value::from(l * r)),
        _ => Err(unfit(MULTIPLY, left)),
    }
}

fn divide<'a>(left: Value<'a>, right: Value<'a>) -> Result<Value<'a>, EvalError> {
    use ValueKind::{Double, Int, Uint};
    match (left.kind(), right.kind()) {
        (Int(l), Int(r)) => checked::divide_int(l, r).map(Value::from),
        (Uint(l), Uint(r)) => checked::divide_uint(l, r).map(Value::from),
        (Double(l), Double(r)) => Ok(Value::from(l / r)),
        _ => Err(unfit(DIVIDE, left)),
    }
}

fn modulo<'a>(left: Value<'a>, right: Value<'a>) -> Result<Value<'a>, EvalError> {
    use ValueKind::{Int, Uint};
    match (left.kind(), right.kind()) {
        (Int(l), Int(r)) => checked::modulo_int(l, r).map(Value::from),
        (Uint(l), Uint(r)) => checked::modulo_uint(l, r).map(Value::from),
        _ => Err(unfit(MODULO, left)),
    }
}

fn negate<'a>(operand: Value<'a>) -> Result<Value<'a>, EvalError> {
    match operand.kind() {
        ValueKind::Int(int) => checked::negate_int(int).map(Value::from),
        ValueKind::Double(double) => Ok(Value::from(-double)),
        // No overload negates durations, but an operand of type `dyn` can be a duration.
        ValueKind::Duration(duration) => checked::negate_duration(duration).map(Value::from),
        // Like upstream, the error for a bool does not name the operator.
        ValueKind::Bool(_) => Err(EvalError::no_such_overload()),
        _ => Err(missing_operator(NEGATE, &[operand])),
    }
}

/// The error for operands whose types the operator does not accept. The wording depends on the operator and the type of the left operand.
#[cold]
fn unfit(operator: &str, left: Value<'_>) -> EvalError {
    match (operator, left.kind()) {
        (_, ValueKind::Int(_) | ValueKind::Uint(_))
        | (ADD, ValueKind::Bytes(_))
        | (ADD | SUBTRACT | MULTIPLY | DIVIDE, ValueKind::Double(_)) => {
            EvalError::no_such_overload()
        }
        _ => missing_operator(operator, &[left]),
    }
}

#[cfg(test)]
mod tests {
    use crate::stdlib::tests::{check, fails};
    use crate::value::{Arena, Duration, Timestamp, Value};

    fn min() -> Value<'static> {
        Value::from(i64::MIN)
    }

    fn max() -> Value<'static> {
        Value::from(i64::MAX)
    }

    fn one() -> Value<'static> {
        Value::from(1)
    }

    fn duration(nanos: i64) -> Value<'static> {
        Value::from(Duration(nanos))
    }

    fn timestamp(seconds: i64, nanos: u32) -> Value<'static> {
        Value::from(Timestamp {
            seconds,
            nanos,
            offset: 0,
        })
    }

    #[test]
    fn ints_overflow_instead_of_wrapping() {
        check("_+_", &[Value::from(2), Value::from(-3)], Value::from(-1));
        check("_/_", &[Value::from(-7), Value::from(2)], Value::from(-3));
        check("_%_", &[Value::from(-7), Value::from(2)], Value::from(-1));
        for (operator, args) in [
            ("_+_", [max(), one()].as_slice()),
            ("_-_", &[min(), one()]),
            ("_*_", &[max(), Value::from(2)]),
            ("_/_", &[min(), Value::from(-1)]),
            ("_%_", &[min(), Value::from(-1)]),
            ("-_", &[min()]),
        ] {
            fails(operator, args, "integer overflow");
        }
        fails("_/_", &[one(), Value::from(0)], "division by zero");
        fails("_%_", &[one(), Value::from(0)], "modulus by zero");
    }

    #[test]
    fn uints_stay_unsigned() {
        check(
            "_-_",
            &[Value::from(3_u64), Value::from(2_u64)],
            Value::from(1_u64),
        );
        fails(
            "_-_",
            &[Value::from(2_u64), Value::from(3_u64)],
            "unsigned integer overflow",
        );
        fails(
            "_*_",
            &[Value::from(u64::MAX), Value::from(2_u64)],
            "unsigned integer overflow",
        );
        fails(
            "_%_",
            &[Value::from(2_u64), Value::from(0_u64)],
            "modulus by zero",
        );
    }

    #[test]
    fn texts_bytes_and_lists_are_concatenated() {
        let arena = Arena::new();
        let list = |values: &[i64]| {
            let values: Vec<_> = values.iter().copied().map(Value::from).collect();
            arena.list(&values)
        };
        check(
            "_+_",
            &[Value::from("a"), Value::from("ä")],
            Value::from("aä"),
        );
        check(
            "_+_",
            &[Value::from(b"a"), Value::from(b"b")],
            Value::from(b"ab"),
        );
        check("_+_", &[list(&[1]), list(&[2, 3])], list(&[1, 2, 3]));
        check("_+_", &[list(&[]), list(&[2])], list(&[2]));
    }

    #[test]
    fn times_move_within_their_range() {
        let last = timestamp(253_402_300_799, 999_999_999);
        check(
            "_+_",
            &[timestamp(0, 999_999_999), duration(2)],
            timestamp(1, 1),
        );
        check(
            "_+_",
            &[duration(-1), timestamp(0, 0)],
            timestamp(-1, 999_999_999),
        );
        check(
            "_-_",
            &[timestamp(0, 0), duration(1)],
            timestamp(-1, 999_999_999),
        );
        check(
            "_-_",
            &[timestamp(1, 1), timestamp(0, 2)],
            duration(999_999_999),
        );
        check("-_", &[duration(1)], duration(-1));
        fails("_+_", &[last, duration(1)], "timestamp overflow");
        fails(
            "_-_",
            &[timestamp(0, 0), duration(i64::MIN)],
            "integer overflow",
        );
        fails(
            "_-_",
            &[last, timestamp(-62_135_596_800, 0)],
            "integer overflow",
        );
        fails(
            "_+_",
            &[duration(i64::MAX), duration(1)],
            "integer overflow",
        );
    }

    #[test]
    fn the_left_operand_words_the_error() {
        let arena = Arena::new();
        let list = arena.list(&[]);
        for (operator, args, expected) in [
            ("_+_", [Value::NULL, one()], "no such overload: _+_"),
            ("_+_", [one(), Value::NULL], "no such overload"),
            ("_+_", [list, one()], "no such overload"),
            ("_-_", [list, one()], "no such overload: _-_"),
            ("_-_", [Value::from("a"), one()], "no such overload"),
            ("_-_", [Value::from(b"a"), one()], "no such overload: _-_"),
            ("_*_", [duration(1), one()], "no such overload"),
            (
                "_%_",
                [Value::from(1.0), Value::from(1.0)],
                "no such overload: _%_",
            ),
            ("_+_", [Value::from(true), one()], "no such overload: _+_"),
        ] {
            fails(operator, &args, expected);
        }
        fails("-_", &[Value::from(1_u64)], "no such overload: -_");
        fails("-_", &[Value::from(true)], "no such overload");
        fails("-_", &[Value::from("a")], "no such overload");
    }
}

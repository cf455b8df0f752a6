//! `+`, `-`, `*`, `/`, `%` and unary `-`.

use super::{missing_operator, shared};
use crate::ast::operators::{ADD, DIVIDE, MODULO, MULTIPLY, NEGATE, SUBTRACT};
use crate::cost::Cost;
use crate::cost::formulas::{CONCATENATION, LIST_CONCATENATION};
use crate::decl::{CallContext, Overload};
use crate::error::EvalError;
use crate::value::{Value, arithmetic as checked, concat_bytes, concat_lists, concat_strings};

pub(super) const ROWS: &[Overload] = &[
    shared(
        ADD,
        "add_bytes",
        "(bytes, bytes) -> bytes",
        add,
        CONCATENATION,
        "b'a' + b'b' == b'ab'",
    ),
    shared(
        ADD,
        "add_double",
        "(double, double) -> double",
        add,
        Cost::ONE,
        "0.5 + 0.25 == 0.75",
    ),
    shared(
        ADD,
        "add_duration_duration",
        "(duration, duration) -> duration",
        add,
        Cost::ONE,
        "duration('1m') + duration('1s') == duration('61s')",
    ),
    shared(
        ADD,
        "add_duration_timestamp",
        "(duration, timestamp) -> timestamp",
        add,
        Cost::ONE,
        "duration('1m') + timestamp(0) == timestamp(60)",
    ),
    shared(
        ADD,
        "add_timestamp_duration",
        "(timestamp, duration) -> timestamp",
        add,
        Cost::ONE,
        "timestamp(0) + duration('1m') == timestamp(60)",
    ),
    shared(
        ADD,
        "add_int64",
        "(int, int) -> int",
        add,
        Cost::ONE,
        "1 + 2 == 3",
    ),
    shared(
        ADD,
        "add_list",
        "(list(A), list(A)) -> list(A)",
        add,
        LIST_CONCATENATION,
        "[1] + [2] == [1, 2]",
    ),
    shared(
        ADD,
        "add_string",
        "(string, string) -> string",
        add,
        CONCATENATION,
        "'a' + 'b' == 'ab'",
    ),
    shared(
        ADD,
        "add_uint64",
        "(uint, uint) -> uint",
        add,
        Cost::ONE,
        "1u + 2u == 3u",
    ),
    shared(
        DIVIDE,
        "divide_double",
        "(double, double) -> double",
        divide,
        Cost::ONE,
        "1.0 / 4.0 == 0.25",
    ),
    shared(
        DIVIDE,
        "divide_int64",
        "(int, int) -> int",
        divide,
        Cost::ONE,
        "-7 / 2 == -3",
    ),
    shared(
        DIVIDE,
        "divide_uint64",
        "(uint, uint) -> uint",
        divide,
        Cost::ONE,
        "7u / 2u == 3u",
    ),
    shared(
        MODULO,
        "modulo_int64",
        "(int, int) -> int",
        modulo,
        Cost::ONE,
        "-7 % 2 == -1",
    ),
    shared(
        MODULO,
        "modulo_uint64",
        "(uint, uint) -> uint",
        modulo,
        Cost::ONE,
        "7u % 2u == 1u",
    ),
    shared(
        MULTIPLY,
        "multiply_double",
        "(double, double) -> double",
        multiply,
        Cost::ONE,
        "1.5 * 2.0 == 3.0",
    ),
    shared(
        MULTIPLY,
        "multiply_int64",
        "(int, int) -> int",
        multiply,
        Cost::ONE,
        "-2 * 3 == -6",
    ),
    shared(
        MULTIPLY,
        "multiply_uint64",
        "(uint, uint) -> uint",
        multiply,
        Cost::ONE,
        "2u * 3u == 6u",
    ),
    shared(
        NEGATE,
        "negate_double",
        "(double) -> double",
        negate,
        Cost::ONE,
        "-(1.5) < 0.0",
    ),
    shared(
        NEGATE,
        "negate_int64",
        "(int) -> int",
        negate,
        Cost::ONE,
        "-(1 + 1) == -2",
    ),
    shared(
        SUBTRACT,
        "subtract_double",
        "(double, double) -> double",
        subtract,
        Cost::ONE,
        "0.75 - 0.5 == 0.25",
    ),
    shared(
        SUBTRACT,
        "subtract_duration_duration",
        "(duration, duration) -> duration",
        subtract,
        Cost::ONE,
        "duration('1m') - duration('1s') == duration('59s')",
    ),
    shared(
        SUBTRACT,
        "subtract_int64",
        "(int, int) -> int",
        subtract,
        Cost::ONE,
        "5 - 7 == -2",
    ),
    shared(
        SUBTRACT,
        "subtract_timestamp_duration",
        "(timestamp, duration) -> timestamp",
        subtract,
        Cost::ONE,
        "timestamp(60) - duration('1m') == timestamp(0)",
    ),
    shared(
        SUBTRACT,
        "subtract_timestamp_timestamp",
        "(timestamp, timestamp) -> duration",
        subtract,
        Cost::ONE,
        "timestamp(60) - timestamp(0) == duration('1m')",
    ),
    shared(
        SUBTRACT,
        "subtract_uint64",
        "(uint, uint) -> uint",
        subtract,
        Cost::ONE,
        "5u - 3u == 2u",
    ),
];

fn add<'a>(context: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    use Value::{Bytes, Double, Duration, Int, String, Timestamp, Uint};
    match *args {
        [Int(l), Int(r)] => checked::add_int(l, r).map(Int),
        [Uint(l), Uint(r)] => checked::add_uint(l, r).map(Uint),
        [Double(l), Double(r)] => Ok(Double(l + r)),
        [String(l), String(r)] => Ok(String(concat_strings(context.arena, l, r))),
        [Bytes(l), Bytes(r)] => Ok(Bytes(concat_bytes(context.arena, l, r))),
        [Duration(l), Duration(r)] => checked::add_duration(l, r).map(Duration),
        [Duration(l), Timestamp(r)] => checked::add_to_timestamp(r, l).map(Timestamp),
        [Timestamp(l), Duration(r)] => checked::add_to_timestamp(l, r).map(Timestamp),
        [left, right] => match (left.as_list(), right.as_list()) {
            (Some(l), Some(r)) => concat_lists(context.arena, l, r),
            (Some(_), None) => Err(EvalError::no_such_overload()),
            _ => Err(unfit(ADD, args)),
        },
        _ => Err(unfit(ADD, args)),
    }
}

fn subtract<'a>(_: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    use Value::{Double, Duration, Int, Timestamp, Uint};
    match *args {
        [Int(l), Int(r)] => checked::subtract_int(l, r).map(Int),
        [Uint(l), Uint(r)] => checked::subtract_uint(l, r).map(Uint),
        [Double(l), Double(r)] => Ok(Double(l - r)),
        [Duration(l), Duration(r)] => checked::subtract_duration(l, r).map(Duration),
        [Timestamp(l), Duration(r)] => checked::subtract_from_timestamp(l, r).map(Timestamp),
        [Timestamp(l), Timestamp(r)] => checked::subtract_timestamp(l, r).map(Duration),
        _ => Err(unfit(SUBTRACT, args)),
    }
}

fn multiply<'a>(_: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    match *args {
        [Value::Int(l), Value::Int(r)] => checked::multiply_int(l, r).map(Value::Int),
        [Value::Uint(l), Value::Uint(r)] => checked::multiply_uint(l, r).map(Value::Uint),
        [Value::Double(l), Value::Double(r)] => Ok(Value::Double(l * r)),
        _ => Err(unfit(MULTIPLY, args)),
    }
}

fn divide<'a>(_: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    match *args {
        [Value::Int(l), Value::Int(r)] => checked::divide_int(l, r).map(Value::Int),
        [Value::Uint(l), Value::Uint(r)] => checked::divide_uint(l, r).map(Value::Uint),
        [Value::Double(l), Value::Double(r)] => Ok(Value::Double(l / r)),
        _ => Err(unfit(DIVIDE, args)),
    }
}

fn modulo<'a>(_: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    match *args {
        [Value::Int(l), Value::Int(r)] => checked::modulo_int(l, r).map(Value::Int),
        [Value::Uint(l), Value::Uint(r)] => checked::modulo_uint(l, r).map(Value::Uint),
        _ => Err(unfit(MODULO, args)),
    }
}

fn negate<'a>(_: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    match *args {
        [Value::Int(int)] => checked::negate_int(int).map(Value::Int),
        [Value::Double(double)] => Ok(Value::Double(-double)),
        // Declared by no overload, but reached by values of unknown type.
        [Value::Duration(duration)] => checked::negate_duration(duration).map(Value::Duration),
        // Upstream's bools can be negated, but not by this operator.
        [Value::Bool(_)] => Err(EvalError::no_such_overload()),
        _ => Err(missing_operator(NEGATE, args)),
    }
}

/// The error of operands that do not fit: whether the left one could have been an operand decides the words.
fn unfit(operator: &str, args: &[Value<'_>]) -> EvalError {
    match (operator, args.first()) {
        (_, Some(Value::Int(_) | Value::Uint(_)))
        | (ADD, Some(Value::Bytes(_)))
        | (ADD | SUBTRACT | MULTIPLY | DIVIDE, Some(Value::Double(_))) => {
            EvalError::no_such_overload()
        }
        _ => missing_operator(operator, args),
    }
}

#[cfg(test)]
mod tests {
    use crate::stdlib::tests::{check, fails};
    use crate::value::{Arena, Duration, Timestamp, Value};

    const MIN: Value<'_> = Value::Int(i64::MIN);
    const MAX: Value<'_> = Value::Int(i64::MAX);
    const ONE: Value<'_> = Value::Int(1);

    fn duration(nanos: i64) -> Value<'static> {
        Value::Duration(Duration(nanos))
    }

    fn timestamp(seconds: i64, nanos: u32) -> Value<'static> {
        Value::Timestamp(Timestamp {
            seconds,
            nanos,
            offset: 0,
        })
    }

    #[test]
    fn ints_overflow_instead_of_wrapping() {
        check("_+_", &[Value::Int(2), Value::Int(-3)], Value::Int(-1));
        check("_/_", &[Value::Int(-7), Value::Int(2)], Value::Int(-3));
        check("_%_", &[Value::Int(-7), Value::Int(2)], Value::Int(-1));
        for (operator, args) in [
            ("_+_", [MAX, ONE].as_slice()),
            ("_-_", &[MIN, ONE]),
            ("_*_", &[MAX, Value::Int(2)]),
            ("_/_", &[MIN, Value::Int(-1)]),
            ("_%_", &[MIN, Value::Int(-1)]),
            ("-_", &[MIN]),
        ] {
            fails(operator, args, "integer overflow");
        }
        fails("_/_", &[ONE, Value::Int(0)], "division by zero");
        fails("_%_", &[ONE, Value::Int(0)], "modulus by zero");
    }

    #[test]
    fn uints_stay_unsigned() {
        check("_-_", &[Value::Uint(3), Value::Uint(2)], Value::Uint(1));
        fails(
            "_-_",
            &[Value::Uint(2), Value::Uint(3)],
            "unsigned integer overflow",
        );
        fails(
            "_*_",
            &[Value::Uint(u64::MAX), Value::Uint(2)],
            "unsigned integer overflow",
        );
        fails("_%_", &[Value::Uint(2), Value::Uint(0)], "modulus by zero");
    }

    #[test]
    fn texts_bytes_and_lists_are_concatenated() {
        let arena = Arena::new();
        let list = |values: &[i64]| {
            let values: Vec<_> = values.iter().copied().map(Value::Int).collect();
            arena.list(&values)
        };
        check(
            "_+_",
            &[Value::String("a"), Value::String("ä")],
            Value::String("aä"),
        );
        check(
            "_+_",
            &[Value::Bytes(b"a"), Value::Bytes(b"b")],
            Value::Bytes(b"ab"),
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
            ("_+_", [Value::Null, ONE], "no such overload: _+_"),
            ("_+_", [ONE, Value::Null], "no such overload"),
            ("_+_", [list, ONE], "no such overload"),
            ("_-_", [list, ONE], "no such overload: _-_"),
            ("_-_", [Value::String("a"), ONE], "no such overload"),
            ("_-_", [Value::Bytes(b"a"), ONE], "no such overload: _-_"),
            ("_*_", [duration(1), ONE], "no such overload"),
            (
                "_%_",
                [Value::Double(1.0), Value::Double(1.0)],
                "no such overload: _%_",
            ),
            ("_+_", [Value::Bool(true), ONE], "no such overload: _+_"),
        ] {
            fails(operator, &args, expected);
        }
        fails("-_", &[Value::Uint(1)], "no such overload: -_");
        fails("-_", &[Value::Bool(true)], "no such overload");
        fails("-_", &[Value::String("a")], "no such overload");
    }
}

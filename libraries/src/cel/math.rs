//! Mathematics (cel-go `ext/math.go`, version 2).
//!
//! `math.greatest` and `math.least` take any number of arguments: they are macros over `math.@max` and `math.@min`.

use std::cmp::Ordering;

use gavel_engine::ast::{Constant, Expr, ExprKind};
use gavel_engine::body;
use gavel_engine::decl::{CallContext, Function, Overload, row};
use gavel_engine::error::EvalError;
use gavel_engine::syntax::{Expansion, Macro, MacroCall, MacroContext, MacroError, Receiver};
use gavel_engine::value::Value;
use smallvec::smallvec;

/// The functions of the math library.
#[rustfmt::skip] // One row per line.
pub const MATH: &[Overload] = &[
    least("math_@min_double", "(double) -> double", "math.least(1.5) == 1.5"),
    least("math_@min_int", "(int) -> int", "math.least(1) == 1"),
    least("math_@min_uint", "(uint) -> uint", "math.least(1u) == 1u"),
    least("math_@min_double_double", "(double, double) -> double", "math.least(1.5, 0.5) == 0.5"),
    least("math_@min_int_int", "(int, int) -> int", "math.least(1, -2) == -2"),
    least("math_@min_uint_uint", "(uint, uint) -> uint", "math.least(1u, 2u) == 1u"),
    least("math_@min_int_uint", "(int, uint) -> dyn", "math.least(1, 2u) == 1"),
    least("math_@min_int_double", "(int, double) -> dyn", "math.least(1, 0.5) == 0.5"),
    least("math_@min_double_int", "(double, int) -> dyn", "math.least(0.5, 1) == 0.5"),
    least("math_@min_double_uint", "(double, uint) -> dyn", "math.least(0.5, 1u) == 0.5"),
    least("math_@min_uint_int", "(uint, int) -> dyn", "math.least(1u, 2) == 1u"),
    least("math_@min_uint_double", "(uint, double) -> dyn", "math.least(1u, 0.5) == 0.5"),
    least("math_@min_list_double", "(list(double)) -> double", "math.least(1.5, 0.5, 2.5) == 0.5"),
    least("math_@min_list_int", "(list(int)) -> int", "math.least([3, 1, 2]) == 1"),
    least("math_@min_list_uint", "(list(uint)) -> uint", "math.least(3u, 1u, 2u) == 1u"),
    greatest("math_@max_double", "(double) -> double", "math.greatest(1.5) == 1.5"),
    greatest("math_@max_int", "(int) -> int", "math.greatest(1) == 1"),
    greatest("math_@max_uint", "(uint) -> uint", "math.greatest(1u) == 1u"),
    greatest("math_@max_double_double", "(double, double) -> double", "math.greatest(1.5, 0.5) == 1.5"),
    greatest("math_@max_int_int", "(int, int) -> int", "math.greatest(1, -2) == 1"),
    greatest("math_@max_uint_uint", "(uint, uint) -> uint", "math.greatest(1u, 2u) == 2u"),
    greatest("math_@max_int_uint", "(int, uint) -> dyn", "math.greatest(1, 2u) == 2u"),
    greatest("math_@max_int_double", "(int, double) -> dyn", "math.greatest(1, 0.5) == 1"),
    greatest("math_@max_double_int", "(double, int) -> dyn", "math.greatest(0.5, 1) == 1"),
    greatest("math_@max_double_uint", "(double, uint) -> dyn", "math.greatest(0.5, 1u) == 1u"),
    greatest("math_@max_uint_int", "(uint, int) -> dyn", "math.greatest(1u, 2) == 2"),
    greatest("math_@max_uint_double", "(uint, double) -> dyn", "math.greatest(1u, 0.5) == 1u"),
    greatest("math_@max_list_double", "(list(double)) -> double", "math.greatest(1.5, 0.5, 2.5) == 2.5"),
    greatest("math_@max_list_int", "(list(int)) -> int", "math.greatest([3, 1, 2]) == 3"),
    greatest("math_@max_list_uint", "(list(uint)) -> uint", "math.greatest(3u, 1u, 2u) == 3u"),
    row("math.ceil", "math_ceil_double", "(double) -> double", body!(f64::ceil), "math.ceil(1.2) == 2.0"),
    row("math.floor", "math_floor_double", "(double) -> double", body!(f64::floor), "math.floor(1.2) == 1.0"),
    row("math.round", "math_round_double", "(double) -> double", body!(f64::round), "math.round(-1.5) == -2.0"),
    row("math.trunc", "math_trunc_double", "(double) -> double", body!(f64::trunc), "math.trunc(-1.5) == -1.0"),
    row("math.isInf", "math_isInf_double", "(double) -> bool", body!(f64::is_infinite), "math.isInf(1.0 / 0.0)"),
    row("math.isNaN", "math_isNaN_double", "(double) -> bool", body!(f64::is_nan), "math.isNaN(0.0 / 0.0)"),
    row("math.isFinite", "math_isFinite_double", "(double) -> bool", body!(f64::is_finite), "math.isFinite(1.5)"),
    row("math.abs", "math_abs_double", "(double) -> double", body!(f64::abs), "math.abs(-1.5) == 1.5"),
    row("math.abs", "math_abs_int", "(int) -> int", body!(abs_int), "math.abs(-1) == 1"),
    row("math.abs", "math_abs_uint", "(uint) -> uint", body!(|uint: u64| uint), "math.abs(1u) == 1u"),
    row("math.sign", "math_sign_double", "(double) -> double", body!(sign), "math.sign(-1.5) == -1.0"),
    row("math.sign", "math_sign_int", "(int) -> int", body!(i64::signum), "math.sign(-7) == -1"),
    row("math.sign", "math_sign_uint", "(uint) -> uint", body!(|uint: u64| uint.min(1)), "math.sign(7u) == 1u"),
    row("math.bitAnd", "math_bitAnd_int_int", "(int, int) -> int", body!(|left: i64, right: i64| left & right), "math.bitAnd(3, 5) == 1"),
    row("math.bitAnd", "math_bitAnd_uint_uint", "(uint, uint) -> uint", body!(|left: u64, right: u64| left & right), "math.bitAnd(3u, 5u) == 1u"),
    row("math.bitOr", "math_bitOr_int_int", "(int, int) -> int", body!(|left: i64, right: i64| left | right), "math.bitOr(1, 2) == 3"),
    row("math.bitOr", "math_bitOr_uint_uint", "(uint, uint) -> uint", body!(|left: u64, right: u64| left | right), "math.bitOr(1u, 2u) == 3u"),
    row("math.bitXor", "math_bitXor_int_int", "(int, int) -> int", body!(|left: i64, right: i64| left ^ right), "math.bitXor(3, 5) == 6"),
    row("math.bitXor", "math_bitXor_uint_uint", "(uint, uint) -> uint", body!(|left: u64, right: u64| left ^ right), "math.bitXor(3u, 5u) == 6u"),
    row("math.bitNot", "math_bitNot_int_int", "(int) -> int", body!(|int: i64| !int), "math.bitNot(1) == -2"),
    row("math.bitNot", "math_bitNot_uint_uint", "(uint) -> uint", body!(|uint: u64| !uint), "math.bitNot(0u) == 18446744073709551615u"),
    row("math.bitShiftLeft", "math_bitShiftLeft_int_int", "(int, int) -> int", body!(shift_left_int), "math.bitShiftLeft(1, 2) == 4"),
    row("math.bitShiftLeft", "math_bitShiftLeft_uint_int", "(uint, int) -> uint", body!(shift_left_uint), "math.bitShiftLeft(1u, 2) == 4u"),
    row("math.bitShiftRight", "math_bitShiftRight_int_int", "(int, int) -> int", body!(shift_right_int), "math.bitShiftRight(1024, 2) == 256"),
    row("math.bitShiftRight", "math_bitShiftRight_uint_int", "(uint, int) -> uint", body!(shift_right_uint), "math.bitShiftRight(1024u, 2) == 256u"),
    row("math.sqrt", "math_sqrt_double", "(double) -> double", body!(f64::sqrt), "math.sqrt(6.25) == 2.5"),
    row("math.sqrt", "math_sqrt_int", "(int) -> double", body!(|int: i64| (int as f64).sqrt()), "math.sqrt(81) == 9.0"),
    row("math.sqrt", "math_sqrt_uint", "(uint) -> double", body!(|uint: u64| (uint as f64).sqrt()), "math.sqrt(81u) == 9.0"),
];

/// `math.greatest(a, b, …)` and `math.least(a, b, …)`.
pub const MATH_MACROS: &[Macro] = &[
    of_math("greatest", |context, call| {
        expand(context, call, "math.@max", "math.greatest()")
    }),
    of_math("least", |context, call| {
        expand(context, call, "math.@min", "math.least()")
    }),
];

const fn least(id: &'static str, signature: &'static str, example: &'static str) -> Overload {
    let body: Function = |call, args| extreme(call, args, Ordering::Less, "math.@min");
    row("math.@min", id, signature, body, example)
}

const fn greatest(id: &'static str, signature: &'static str, example: &'static str) -> Overload {
    let body: Function = |call, args| extreme(call, args, Ordering::Greater, "math.@max");
    row("math.@max", id, signature, body, example)
}

const fn of_math(name: &'static str, expand: gavel_engine::syntax::Expander) -> Macro {
    Macro {
        name,
        arguments: None,
        receiver: Receiver::Namespace("math"),
        expand,
    }
}

/// Expands to a call with one or two arguments, or with a list if there are more. Literals that are not numbers are rejected.
fn expand(
    context: &mut MacroContext<'_>,
    call: MacroCall,
    function: &'static str,
    name: &'static str,
) -> Expansion {
    let receiver = call.receiver();
    let args = call.into_args();
    match (args.as_slice(), receiver) {
        ([], Some(receiver)) => {
            let message = format!("{name} requires at least one argument");
            return Err(MacroError::new(receiver, message));
        }
        ([only], _)
            if !may_be_number(context.expr(*only)) && !may_be_numbers(context.expr(*only)) =>
        {
            let message = format!("{name} invalid single argument value");
            return Err(MacroError::new(*only, message));
        }
        ([_], _) => {}
        (several, _) => {
            if let Some(wrong) = several
                .iter()
                .find(|arg| !may_be_number(context.expr(**arg)))
            {
                let message = format!("{name} simple literal arguments must be numeric");
                return Err(MacroError::new(*wrong, message));
            }
        }
    }
    let args = match args.len() {
        1 | 2 => args,
        _ => smallvec![context.list(&args)],
    };
    Ok(context.call(function, &args))
}

fn may_be_number(arg: Expr<'_>) -> bool {
    match arg.kind() {
        ExprKind::Constant(constant) => {
            matches!(
                constant,
                Constant::Int(_) | Constant::Uint(_) | Constant::Double(_)
            )
        }
        ExprKind::List(_) | ExprKind::Map(_) | ExprKind::Struct(_) => false,
        _ => true,
    }
}

fn may_be_numbers(arg: Expr<'_>) -> bool {
    match arg.kind() {
        ExprKind::List(list) => {
            !list.elements.is_empty() && list.elements.iter().all(may_be_number)
        }
        _ => false,
    }
}

/// Returns the least value if `wanted` is `Less`, and the greatest if it is `Greater`. The values are two arguments or the elements of
/// a list. Of equal values, the first is returned.
fn extreme<'a>(
    call: &CallContext<'a>,
    args: &[Value<'a>],
    wanted: Ordering,
    name: &str,
) -> Result<Value<'a>, EvalError> {
    let better = |best: Value<'a>, next: Value<'a>| {
        let replaces = best.compare(&next)? == wanted.reverse();
        Ok(if replaces { next } else { best })
    };
    match *args {
        [left, right] => better(left, right)
            .map_err(|error: EvalError| EvalError::new(format!("{}: {name}", error.message()))),
        [value] => {
            let Some(list) = value.as_list() else {
                return Ok(value);
            };
            let mut elements = list.iter();
            let Some(mut best) = elements.next() else {
                return Err(EvalError::new(format!(
                    "{name}(list) argument must not be empty"
                )));
            };
            for next in elements {
                call.look(&next)?;
                // Upstream reports every failure with the same message.
                best = better(best, next).map_err(|_| EvalError::no_such_overload_of(name))?;
            }
            Ok(best)
        }
        _ => Err(EvalError::no_such_overload()),
    }
}

fn abs_int(value: i64) -> Result<i64, EvalError> {
    let overflow = || EvalError::new("integer overflow");
    value.checked_abs().ok_or_else(overflow)
}

/// The sign of a number: -1, 0 or 1; NaN for NaN.
fn sign(value: f64) -> f64 {
    match value {
        0.0 => 0.0,
        value => value.signum(),
    }
}

fn shift_left_int(value: i64, offset: i64) -> Result<i64, EvalError> {
    shift_left_uint(value.cast_unsigned(), offset).map(u64::cast_signed)
}

fn shift_left_uint(value: u64, offset: i64) -> Result<u64, EvalError> {
    shift(value, offset, "math.bitShiftLeft()", u64::checked_shl)
}

/// Shifts bits to the right. Zeros are inserted on the left, even for negative numbers.
fn shift_right_int(value: i64, offset: i64) -> Result<i64, EvalError> {
    shift_right_uint(value.cast_unsigned(), offset).map(u64::cast_signed)
}

fn shift_right_uint(value: u64, offset: i64) -> Result<u64, EvalError> {
    shift(value, offset, "math.bitShiftRight()", u64::checked_shr)
}

/// Shifts bits; a shift by 64 or more gives 0.
fn shift(
    value: u64,
    offset: i64,
    name: &str,
    shift: fn(u64, u32) -> Option<u64>,
) -> Result<u64, EvalError> {
    if offset < 0 {
        return Err(EvalError::new(format!("{name} negative offset: {offset}")));
    }
    let offset = u32::try_from(offset).unwrap_or(u32::MAX);
    Ok(shift(value, offset).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cel_env;
    use crate::testing::check;
    use gavel_engine::value::Arena;

    #[test]
    fn of_equal_numbers_the_first_is_taken() {
        let (int, uint) = (Value::from(1), Value::from(1_u64));
        let nan = Value::from(f64::NAN);
        let unordered = Err("NaN values cannot be ordered: math.@max");
        check(
            MATH,
            "math_@max_int_uint",
            &[int, Value::from(2_u64)],
            Ok("2"),
        );
        check(MATH, "math_@min_int_uint", &[int, uint], Ok("1"));
        check(MATH, "math_@max_int_double", &[int, nan], unordered);
    }

    #[test]
    fn operands_in_lists_fail_like_operands() {
        let arena = Arena::new();
        let check = |values: &[Value<'_>], expected| {
            check(MATH, "math_@min_list_int", &[arena.list(values)], expected);
        };
        check(&[Value::from(2), Value::from(1.5)], Ok("1.5"));
        check(&[], Err("math.@min(list) argument must not be empty"));
        check(
            &[Value::from(1), Value::NULL],
            Err("no such overload: math.@min"),
        );
    }

    #[test]
    fn numbers_at_the_edge() {
        let overflow = Err("integer overflow");
        check(MATH, "math_abs_int", &[Value::from(i64::MIN)], overflow);
        check(MATH, "math_sign_double", &[Value::from(-0.0)], Ok("0"));
        check(
            MATH,
            "math_sign_double",
            &[Value::from(f64::NAN)],
            Ok("NaN"),
        );
        check(MATH, "math_round_double", &[Value::from(2.5)], Ok("3"));
    }

    #[test]
    fn shifts_past_the_width_leave_nothing() {
        let negative = Err("math.bitShiftLeft() negative offset: -1");
        let left = "math_bitShiftLeft_int_int";
        let right = "math_bitShiftRight_int_int";
        check(
            MATH,
            left,
            &[Value::from(1), Value::from(63)],
            Ok("-9223372036854775808"),
        );
        check(MATH, left, &[Value::from(1), Value::from(64)], Ok("0"));
        check(
            MATH,
            left,
            &[Value::from(1), Value::from(i64::MAX)],
            Ok("0"),
        );
        check(MATH, left, &[Value::from(1), Value::from(-1)], negative);
        check(
            MATH,
            right,
            &[Value::from(-1), Value::from(1)],
            Ok("9223372036854775807"),
        );
    }

    #[test]
    fn literals_that_are_no_numbers_are_refused() {
        let env = cel_env().unwrap();
        for (expression, message) in [
            (
                "math.least()",
                "1:1: math.least() requires at least one argument",
            ),
            (
                "math.least('a')",
                "1:12: math.least() invalid single argument value",
            ),
            (
                "math.greatest([])",
                "1:15: math.greatest() invalid single argument value",
            ),
            (
                "math.least(1, 'a')",
                "1:15: math.least() simple literal arguments must be numeric",
            ),
            (
                "math.least(1, x, {})",
                "1:18: math.least() simple literal arguments must be numeric",
            ),
        ] {
            let issues = env.parse(expression).unwrap_err().to_string();
            assert!(issues.contains(message), "{expression}: {issues}");
        }
        assert!(env.parse("other.least('a')").is_ok());
    }
}

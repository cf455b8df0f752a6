//! How values are ordered (the `Compare` methods of cel-go's `common/types`).

use std::cmp::Ordering;

use super::number::{compare_int_double, compare_int_uint, compare_uint_double};
use super::{Arena, Value};
use crate::error::EvalError;

impl Value<'_> {
    /// Whether values of this type can be ordered at all.
    pub fn is_ordered(&self) -> bool {
        if let Value::Unread(json, shape) = self {
            return shape.look(json, |value| value.is_ok_and(|value| value.is_ordered()));
        }
        matches!(
            self,
            Value::Bool(_)
                | Value::Int(_)
                | Value::Uint(_)
                | Value::Double(_)
                | Value::String(_)
                | Value::Bytes(_)
                | Value::Duration(_)
                | Value::Timestamp(_)
        )
    }

    /// How this value stands to another: numbers of all types by value, texts by code point, timestamps by instant.
    /// An error for values of different types and for NaN.
    pub fn compare(&self, other: &Value<'_>) -> Result<Ordering, EvalError> {
        let ordering = match (self, other) {
            (Value::Bool(l), Value::Bool(r)) => l.cmp(r),
            (Value::Int(l), Value::Int(r)) => l.cmp(r),
            (Value::Int(l), Value::Uint(r)) => compare_int_uint(*l, *r),
            (Value::Int(l), Value::Double(r)) => ordered(compare_int_double(*l, *r))?,
            (Value::Uint(l), Value::Uint(r)) => l.cmp(r),
            (Value::Uint(l), Value::Int(r)) => compare_int_uint(*r, *l).reverse(),
            (Value::Uint(l), Value::Double(r)) => ordered(compare_uint_double(*l, *r))?,
            (Value::Double(l), Value::Double(r)) => ordered(l.partial_cmp(r))?,
            (Value::Double(l), Value::Int(r)) => ordered(compare_int_double(*r, *l))?.reverse(),
            (Value::Double(l), Value::Uint(r)) => ordered(compare_uint_double(*r, *l))?.reverse(),
            (Value::Double(l), _) if l.is_nan() => ordered(None)?,
            (Value::String(l), Value::String(r)) => l.cmp(r),
            (Value::Bytes(l), Value::Bytes(r)) => l.cmp(r),
            (Value::Duration(l), Value::Duration(r)) => l.cmp(r),
            (Value::Timestamp(l), Value::Timestamp(r)) => l.cmp(r),
            (Value::Unread(..), _) | (_, Value::Unread(..)) => {
                let arena = Arena::new();
                return self.read(&arena)?.compare(&other.read(&arena)?);
            }
            _ => return Err(EvalError::no_such_overload()),
        };
        Ok(ordering)
    }
}

fn ordered(ordering: Option<Ordering>) -> Result<Ordering, EvalError> {
    ordering.ok_or_else(|| EvalError::new("NaN values cannot be ordered"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Duration;

    fn check(left: Value<'_>, right: Value<'_>, expected: Result<Ordering, &str>) {
        let actual = left.compare(&right);
        let actual = actual.as_ref().map_err(EvalError::message);
        assert_eq!(actual.copied(), expected, "{left:?} and {right:?}");
    }

    #[test]
    fn numbers_of_all_types_stand_in_one_order() {
        use Ordering::{Equal, Greater, Less};
        check(Value::Int(1), Value::Int(2), Ok(Less));
        check(Value::Int(1), Value::Uint(1), Ok(Equal));
        check(Value::Int(-1), Value::Uint(0), Ok(Less));
        check(Value::Uint(u64::MAX), Value::Int(i64::MAX), Ok(Greater));
        check(Value::Int(1), Value::Double(1.5), Ok(Less));
        check(Value::Double(1.5), Value::Int(1), Ok(Greater));
        check(Value::Double(-1.0), Value::Uint(0), Ok(Less));
        check(Value::Uint(2), Value::Double(1e300), Ok(Less));
        // An int is rounded to a double before it is compared to one.
        check(
            Value::Int(9_007_199_254_740_993),
            Value::Double(9_007_199_254_740_992.0),
            Ok(Equal),
        );
    }

    #[test]
    fn each_other_type_has_its_own_order() {
        use Ordering::{Greater, Less};
        check(Value::Bool(false), Value::Bool(true), Ok(Less));
        check(Value::String("b"), Value::String("abc"), Ok(Greater));
        check(
            Value::String("\u{ffff}"),
            Value::String("\u{10000}"),
            Ok(Less),
        );
        check(Value::Bytes(b"a"), Value::Bytes(b"ab"), Ok(Less));
        check(
            Value::Duration(Duration(-1)),
            Value::Duration(Duration(0)),
            Ok(Less),
        );
    }

    #[test]
    fn nan_and_different_types_have_no_order() {
        const NAN: &str = "NaN values cannot be ordered";
        check(Value::Double(f64::NAN), Value::Double(1.0), Err(NAN));
        check(Value::Int(1), Value::Double(f64::NAN), Err(NAN));
        check(Value::Double(f64::NAN), Value::Int(1), Err(NAN));
        check(Value::Double(f64::NAN), Value::String("a"), Err(NAN));
        check(Value::Int(1), Value::String("1"), Err("no such overload"));
        check(Value::String("1"), Value::Int(1), Err("no such overload"));
        check(Value::Null, Value::Null, Err("no such overload"));
    }
}

//! The order of values (the `Compare` methods of cel-go's `common/types`).

use std::cmp::Ordering;

use super::number::{compare_int_double, compare_int_uint, compare_uint_double};
use super::{Arena, Repr, Value};
use crate::error::EvalError;

impl Value<'_> {
    /// Whether values of this type have an order.
    pub fn is_ordered(&self) -> bool {
        if let Value(Repr::Unread(json, shape)) = self {
            return shape.look(json, |value| value.is_ok_and(|value| value.is_ordered()));
        }
        matches!(
            self,
            Value(Repr::Bool(_))
                | Value(Repr::Int(_))
                | Value(Repr::Uint(_))
                | Value(Repr::Double(_))
                | Value(Repr::String(_))
                | Value(Repr::Bytes(_))
                | Value(Repr::Duration(_))
                | Value(Repr::Timestamp(_))
        )
    }

    /// Compares two values. Numbers of all types are compared by value, texts by code point, and timestamps by instant.
    ///
    /// # Errors
    ///
    /// The values have different types and are not both numbers, their type has no order, or one of them is NaN.
    pub fn compare(&self, other: &Value<'_>) -> Result<Ordering, EvalError> {
        let ordering = match (self, other) {
            (Value(Repr::Bool(l)), Value(Repr::Bool(r))) => l.cmp(r),
            (Value(Repr::Int(l)), Value(Repr::Int(r))) => l.cmp(r),
            (Value(Repr::Int(l)), Value(Repr::Uint(r))) => compare_int_uint(*l, *r),
            (Value(Repr::Int(l)), Value(Repr::Double(r))) => ordered(compare_int_double(*l, *r))?,
            (Value(Repr::Uint(l)), Value(Repr::Uint(r))) => l.cmp(r),
            (Value(Repr::Uint(l)), Value(Repr::Int(r))) => compare_int_uint(*r, *l).reverse(),
            (Value(Repr::Uint(l)), Value(Repr::Double(r))) => ordered(compare_uint_double(*l, *r))?,
            (Value(Repr::Double(l)), Value(Repr::Double(r))) => ordered(l.partial_cmp(r))?,
            (Value(Repr::Double(l)), Value(Repr::Int(r))) => {
                ordered(compare_int_double(*r, *l))?.reverse()
            }
            (Value(Repr::Double(l)), Value(Repr::Uint(r))) => {
                ordered(compare_uint_double(*r, *l))?.reverse()
            }
            (Value(Repr::Double(l)), _) if l.is_nan() => ordered(None)?,
            (Value(Repr::String(l)), Value(Repr::String(r))) => l.cmp(r),
            (Value(Repr::Bytes(l)), Value(Repr::Bytes(r))) => l.cmp(r),
            (Value(Repr::Duration(l)), Value(Repr::Duration(r))) => l.cmp(r),
            (Value(Repr::Timestamp(l)), Value(Repr::Timestamp(r))) => l.cmp(r),
            (Value(Repr::Unread(..)), _) | (_, Value(Repr::Unread(..))) => {
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
        check(Value::from(1), Value::from(2), Ok(Less));
        check(Value::from(1), Value::from(1_u64), Ok(Equal));
        check(Value::from(-1), Value::from(0_u64), Ok(Less));
        check(Value::from(u64::MAX), Value::from(i64::MAX), Ok(Greater));
        check(Value::from(1), Value::from(1.5), Ok(Less));
        check(Value::from(1.5), Value::from(1), Ok(Greater));
        check(Value::from(-1.0), Value::from(0_u64), Ok(Less));
        check(Value::from(2_u64), Value::from(1e300), Ok(Less));
        // An int is rounded to a double before it is compared with a double.
        check(
            Value::from(9_007_199_254_740_993_i64),
            Value::from(9_007_199_254_740_992.0),
            Ok(Equal),
        );
    }

    #[test]
    fn each_other_type_has_its_own_order() {
        use Ordering::{Greater, Less};
        check(Value::from(false), Value::from(true), Ok(Less));
        check(Value::from("b"), Value::from("abc"), Ok(Greater));
        check(Value::from("\u{ffff}"), Value::from("\u{10000}"), Ok(Less));
        check(Value::from(b"a"), Value::from(b"ab"), Ok(Less));
        check(
            Value::from(Duration(-1)),
            Value::from(Duration(0)),
            Ok(Less),
        );
    }

    #[test]
    fn nan_and_different_types_have_no_order() {
        const NAN: &str = "NaN values cannot be ordered";
        check(Value::from(f64::NAN), Value::from(1.0), Err(NAN));
        check(Value::from(1), Value::from(f64::NAN), Err(NAN));
        check(Value::from(f64::NAN), Value::from(1), Err(NAN));
        check(Value::from(f64::NAN), Value::from("a"), Err(NAN));
        check(Value::from(1), Value::from("1"), Err("no such overload"));
        check(Value::from("1"), Value::from(1), Err("no such overload"));
        check(Value::NULL, Value::NULL, Err("no such overload"));
    }
}

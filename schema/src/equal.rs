//! Compares JSON values as Go's `reflect.DeepEqual` compares decoded values: 1 is not equal to 1.0.

use std::hash::{Hash, Hasher};

use gavel_engine::value::Json;
use serde_json::Number;

/// A number as Kubernetes reads it.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub(crate) enum Numeric {
    /// A number that is an integer and fits into 64 bits.
    Int(i64),
    /// Any other number.
    Double(f64),
}

impl From<&Number> for Numeric {
    fn from(number: &Number) -> Self {
        match number.as_i64() {
            Some(int) => Numeric::Int(int),
            None => Numeric::Double(number.as_f64().unwrap_or(f64::NAN)),
        }
    }
}

/// Whether two values of any depth are equal.
pub(crate) fn deep_equal(left: &Json, right: &Json) -> bool {
    let mut pending = vec![(left, right)];
    while let Some((left, right)) = pending.pop() {
        let same = match (left, right) {
            (Json::Number(left), Json::Number(right)) => {
                Numeric::from(left) == Numeric::from(right)
            }
            (Json::Array(left), Json::Array(right)) => {
                pending.extend(left.iter().zip(right));
                left.len() == right.len()
            }
            (Json::Object(left), Json::Object(right)) => {
                let found = left.iter().all(|(key, value)| match right.get(key) {
                    Some(other) => {
                        pending.push((value, other));
                        true
                    }
                    None => false,
                });
                found && left.len() == right.len()
            }
            (Json::Null | Json::Bool(_) | Json::String(_), _) => left == right,
            _ => false,
        };
        if !same {
            return false;
        }
    }
    true
}

/// A value in a set whose members are compared by [`deep_equal`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Same<'a>(pub(crate) &'a Json);

impl PartialEq for Same<'_> {
    fn eq(&self, other: &Self) -> bool {
        deep_equal(self.0, other.0)
    }
}

/// JSON has no NaN, so each value equals itself.
impl Eq for Same<'_> {}

impl Hash for Same<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let mut pending = vec![self.0];
        while let Some(value) = pending.pop() {
            std::mem::discriminant(value).hash(state);
            match value {
                Json::Null => {}
                Json::Bool(bool) => bool.hash(state),
                Json::Number(number) => match Numeric::from(number) {
                    Numeric::Int(int) => int.hash(state),
                    // Adding 0.0 turns -0.0 into 0.0, so that both get the same hash.
                    Numeric::Double(double) => (double + 0.0).to_bits().hash(state),
                },
                Json::String(text) => text.hash(state),
                Json::Array(items) => {
                    items.len().hash(state);
                    pending.extend(items);
                }
                Json::Object(fields) => {
                    fields.len().hash(state);
                    for (key, value) in fields {
                        key.hash(state);
                        pending.push(value);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use serde_json::json;

    use super::*;

    #[test]
    fn integers_are_not_doubles() {
        for (left, right, expected) in [
            (json!(1), json!(1), true),
            (json!(1), json!(1.0), false),
            (json!(-0.0), json!(0.0), true),
            (json!(u64::MAX), json!(u64::MAX as f64), true),
            (json!(null), json!(false), false),
            (
                json!({"a": [1, {"b": "x"}]}),
                json!({"a": [1, {"b": "x"}]}),
                true,
            ),
            (json!({"a": [1]}), json!({"a": [1, 2]}), false),
            (json!({"a": 1}), json!({"b": 1}), false),
            (json!({"a": 1}), json!({"a": 1, "b": 1}), false),
            (json!([]), json!({}), false),
        ] {
            assert_eq!(deep_equal(&left, &right), expected, "{left} {right}");
            let distinct = HashSet::from([Same(&left), Same(&right)]).len();
            assert_eq!(distinct == 1, expected, "{left} {right}");
        }
    }
}

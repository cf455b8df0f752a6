//! Sets of values for many membership tests with the semantics of `==`.

use std::collections::HashSet;

use gavel_engine::decl::CallContext;
use gavel_engine::error::EvalError;
use gavel_engine::value::{Host, List, Value, ValueKind, list_contains};

/// A set of values for many equality lookups.
///
/// Upstream compares a value with every element. This set hashes bools, ints, uints and strings, so that the time for long lists does not
/// grow with the square of their length. Other values are compared one by one.
#[derive(Debug, Default)]
pub(super) struct Members<'a> {
    all: Vec<Value<'a>>,
    keys: HashSet<Key<'a>>,
    without_key: Vec<Value<'a>>,
}

/// The hash key of a value. Two values that both have a key are equal if and only if their keys are equal. A value with a key can also
/// equal a value without one: an int can equal a double.
#[derive(Debug, PartialEq, Eq, Hash)]
enum Key<'a> {
    Bool(bool),
    Int(i64),
    /// A uint that does not fit in an int.
    Uint(u64),
    Text(&'a str),
}

impl<'a> Key<'a> {
    fn of(value: &Value<'a>) -> Option<Self> {
        match value.kind() {
            ValueKind::Bool(value) => Some(Key::Bool(value)),
            ValueKind::Int(int) => Some(Key::Int(int)),
            ValueKind::Uint(uint) => Some(i64::try_from(uint).map_or(Key::Uint(uint), Key::Int)),
            ValueKind::String(text) => Some(Key::Text(text)),
            _ => None,
        }
    }
}

impl<'a> Members<'a> {
    /// Creates a set of the elements of a list.
    pub(super) fn of(list: List<'a>, call: &CallContext<'a>) -> Result<Self, EvalError> {
        call.reserve(Members::bytes(list))?;
        let mut members = Members::default();
        for element in list {
            call.look(&element)?;
            members.insert(element);
        }
        Ok(members)
    }

    /// The approximate memory that a set of the list's elements takes, in bytes.
    pub(super) fn bytes(list: List<'_>) -> usize {
        const EACH: usize = 2 * size_of::<Value<'_>>() + 2 * size_of::<Key<'_>>();
        list.len().saturating_mul(EACH)
    }

    /// Adds a value.
    pub(super) fn insert(&mut self, value: Value<'a>) {
        self.all.push(value);
        match Key::of(&value) {
            Some(key) => {
                self.keys.insert(key);
            }
            None => self.without_key.push(value),
        }
    }

    /// Whether a value is in the set.
    pub(super) fn contain(&self, value: &Value<'_>, host: &Host<'_>) -> Result<bool, EvalError> {
        host.spend(value.work())?;
        match Key::of(value) {
            Some(key) if self.keys.contains(&key) => Ok(true),
            Some(_) => list_contains(List::from(self.without_key.as_slice()), value, host),
            None => list_contains(List::from(self.all.as_slice()), value, host),
        }
    }

    /// The values, in the order in which they were added.
    pub(super) fn values(&self) -> &[Value<'a>] {
        &self.all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_equal_elements() {
        let list = [
            Value::from(1),
            Value::from(u64::MAX),
            Value::from(2.5),
            Value::from(3.0),
            Value::from("a"),
            Value::NULL,
            Value::from(f64::NAN),
        ];
        let arena = gavel_engine::value::Arena::new();
        let call = CallContext::new(&arena);
        let members = Members::of(List::from(list.as_slice()), &call).unwrap();
        for (value, expected) in [
            (Value::from(1_u64), true),
            (Value::from(1.0), true),
            (Value::from(2), false),
            (Value::from(3), true),
            (Value::from(3_u64), true),
            (Value::from(u64::MAX as f64), true),
            (Value::from(u64::MAX), true),
            (Value::from(-1), false),
            (Value::from(true), false),
            (Value::from("a"), true),
            (Value::from(b"a"), false),
            (Value::NULL, true),
            (Value::from(f64::NAN), false),
        ] {
            let found = members.contain(&value, &Host::default()).unwrap();
            assert_eq!(found, expected, "{value:?}");
            assert_eq!(
                list_contains(List::from(list.as_slice()), &value, &Host::default()).unwrap(),
                expected
            );
        }
    }
}

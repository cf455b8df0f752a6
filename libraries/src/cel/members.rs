//! Membership as `==` decides it, for many questions to one list.

use std::collections::HashSet;

use gavel_engine::error::EvalError;
use gavel_engine::value::{List, Value, list_contains};

/// Values that can be asked whether one of them equals another value.
///
/// Upstream compares with each of them. What cannot equal a value of another type is looked up here instead, so that
/// long lists do not take the square of their length.
#[derive(Debug, Default)]
pub(super) struct Members<'a> {
    all: Vec<Value<'a>>,
    keys: HashSet<Key<'a>>,
    without_key: Vec<Value<'a>>,
}

/// A value that equals exactly the values with the same key, and perhaps values without one.
#[derive(Debug, PartialEq, Eq, Hash)]
enum Key<'a> {
    Bool(bool),
    Int(i64),
    /// A uint that is no int.
    Uint(u64),
    Text(&'a str),
}

impl<'a> Key<'a> {
    fn of(value: &Value<'a>) -> Option<Self> {
        match *value {
            Value::Bool(value) => Some(Key::Bool(value)),
            Value::Int(int) => Some(Key::Int(int)),
            Value::Uint(uint) => Some(i64::try_from(uint).map_or(Key::Uint(uint), Key::Int)),
            Value::String(text) => Some(Key::Text(text)),
            _ => None,
        }
    }
}

impl<'a> Members<'a> {
    /// The elements of a list.
    pub(super) fn of(list: List<'a>) -> Self {
        let mut members = Members::default();
        for element in list {
            members.insert(element);
        }
        members
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

    /// Whether a value is among them.
    pub(super) fn contain(&self, value: &Value<'_>) -> Result<bool, EvalError> {
        match Key::of(value) {
            Some(key) if self.keys.contains(&key) => Ok(true),
            Some(_) => list_contains(List::Values(&self.without_key), value),
            None => list_contains(List::Values(&self.all), value),
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
    fn finds_what_equals() {
        let list = [
            Value::Int(1),
            Value::Uint(u64::MAX),
            Value::Double(2.5),
            Value::Double(3.0),
            Value::String("a"),
            Value::Null,
            Value::Double(f64::NAN),
        ];
        let members = Members::of(List::Values(&list));
        for (value, expected) in [
            (Value::Uint(1), true),
            (Value::Double(1.0), true),
            (Value::Int(2), false),
            (Value::Int(3), true),
            (Value::Uint(3), true),
            (Value::Double(u64::MAX as f64), true),
            (Value::Uint(u64::MAX), true),
            (Value::Int(-1), false),
            (Value::Bool(true), false),
            (Value::String("a"), true),
            (Value::Bytes(b"a"), false),
            (Value::Null, true),
            (Value::Double(f64::NAN), false),
        ] {
            assert_eq!(members.contain(&value).unwrap(), expected, "{value:?}");
            assert_eq!(
                list_contains(List::Values(&list), &value).unwrap(),
                expected
            );
        }
    }
}

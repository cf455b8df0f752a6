//! The order of values as map keys.

use std::cmp::Ordering;

use super::{OpaqueKey, Repr, Value};
use crate::error::EvalError;

/// A map key in a sorted collection. Keys are compared by [`key_order`].
#[derive(Debug, Clone, Copy)]
pub(super) struct Key<'a>(pub Value<'a>);

impl PartialEq for Key<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Key<'_> {}

impl PartialOrd for Key<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Key<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        key_order(&self.0, &other.0)
    }
}

/// A total order of map keys: by type, then by value. Numbers of different types are different keys. Lists, maps and other values that
/// upstream compares by identity are ordered by their address.
pub fn key_order(left: &Value<'_>, right: &Value<'_>) -> Ordering {
    match (left, right) {
        (Value(Repr::String(l)), Value(Repr::String(r))) => l.cmp(r),
        (Value(Repr::Int(l)), Value(Repr::Int(r))) => l.cmp(r),
        (Value(Repr::Uint(l)), Value(Repr::Uint(r))) => l.cmp(r),
        (Value(Repr::Bool(l)), Value(Repr::Bool(r))) => l.cmp(r),
        // Adding zero makes -0.0 and 0.0 the same key.
        (Value(Repr::Double(l)), Value(Repr::Double(r))) => (l + 0.0).total_cmp(&(r + 0.0)),
        (Value(Repr::Bytes(l)), Value(Repr::Bytes(r))) => l.cmp(r),
        (Value(Repr::Duration(l)), Value(Repr::Duration(r))) => l.cmp(r),
        (Value(Repr::Timestamp(l)), Value(Repr::Timestamp(r))) => l.cmp(r),
        (Value(Repr::Type(l)), Value(Repr::Type(r))) => l.cmp(r),
        (Value(Repr::Opaque(l)), Value(Repr::Opaque(r))) => l
            .type_name()
            .cmp(r.type_name())
            .then_with(|| match (l.key(), r.key()) {
                (OpaqueKey::Place, OpaqueKey::Place) => address(left).cmp(&address(right)),
                (l, r) => l.cmp(&r),
            }),
        _ => rank(left)
            .cmp(&rank(right))
            .then_with(|| address(left).cmp(&address(right))),
    }
}

/// Fails for values that cannot be map keys or set members.
pub(crate) fn check_hashable(key: &Value<'_>) -> Result<(), EvalError> {
    match key.0 {
        Repr::Bytes(_) => Err(EvalError::unhashable("types.Bytes")),
        Repr::Opaque(opaque) if opaque.key() == OpaqueKey::Unhashable => {
            Err(EvalError::unhashable(&opaque.go_type()))
        }
        _ => Ok(()),
    }
}

fn rank(key: &Value<'_>) -> u8 {
    match key.0 {
        Repr::Null => 0,
        Repr::Bool(_) => 1,
        Repr::Int(_) => 2,
        Repr::Uint(_) => 3,
        Repr::Double(_) => 4,
        Repr::String(_) => 5,
        Repr::Bytes(_) => 6,
        Repr::Duration(_) => 7,
        Repr::Timestamp(_) => 8,
        Repr::Type(_) => 9,
        _ => 10,
    }
}

/// The address of a value that upstream compares by identity; 0 for other values.
pub(super) fn address(key: &Value<'_>) -> usize {
    match key.0 {
        Repr::List(values) | Repr::Items(values) => values.as_ptr().addr(),
        Repr::JsonList(items) => items.as_ptr().addr(),
        Repr::ShapedList(items, _) => items.as_ptr().addr(),
        Repr::OwnedList(values) => values.as_ptr().addr(),
        Repr::ListView(view) => std::ptr::from_ref(view).addr(),
        Repr::Map(map) => std::ptr::from_ref(map).addr(),
        Repr::JsonMap(map) | Repr::ShapedMap(map, _) => std::ptr::from_ref(map).addr(),
        Repr::Fields(fields) => fields.as_ptr().addr(),
        Repr::MapView(view) => std::ptr::from_ref(view).addr(),
        Repr::Optional(Some(value)) => std::ptr::from_ref(value).addr(),
        Repr::Opaque(opaque) => std::ptr::from_ref(opaque).addr(),
        _ => 0,
    }
}

//! Values that outlive the data they came from: folded constants, results that a host keeps.

use std::sync::Arc;

use super::map::{check_hashable, key_order};
use super::{Duration, MapView, Opaque, Reach, Timestamp, Value};
use crate::error::EvalError;

/// A deep copy of a [`Value`], which borrows from nothing. Cheap to clone, and to view as a value again.
#[derive(Debug, Clone)]
pub struct OwnedValue(Repr);

#[derive(Debug, Clone)]
enum Repr {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    Duration(Duration),
    Timestamp(Timestamp),
    /// `optional.none()`
    Absent,
    String(Arc<str>),
    Bytes(Arc<[u8]>),
    List(Arc<[OwnedValue]>),
    Map(Box<OwnedMap>),
    Type(Arc<str>),
    Opaque(Arc<dyn Opaque>),
}

impl OwnedValue {
    /// Copies a value. An error for optionals, which have no view, and where a host's map fails.
    pub fn copy_of(value: &Value<'_>) -> Result<Self, EvalError> {
        copy(value, &mut Reach::default())
    }

    /// `true` or `false`.
    pub fn from_bool(value: bool) -> Self {
        OwnedValue(Repr::Bool(value))
    }

    /// The value again. Allocates nothing.
    pub fn as_value(&self) -> Value<'_> {
        match &self.0 {
            Repr::Null => Value::Null,
            Repr::Bool(value) => Value::Bool(*value),
            Repr::Int(value) => Value::Int(*value),
            Repr::Uint(value) => Value::Uint(*value),
            Repr::Double(value) => Value::Double(*value),
            Repr::Duration(value) => Value::Duration(*value),
            Repr::Timestamp(value) => Value::Timestamp(*value),
            Repr::Absent => Value::Optional(None),
            Repr::String(text) => Value::String(text),
            Repr::Bytes(bytes) => Value::Bytes(bytes),
            Repr::List(list) => Value::OwnedList(list),
            Repr::Map(map) => Value::MapView(&**map),
            Repr::Type(name) => Value::Type(name),
            Repr::Opaque(opaque) => Value::Opaque(&**opaque),
        }
    }
}

fn copy(value: &Value<'_>, reach: &mut Reach) -> Result<OwnedValue, EvalError> {
    let repr = match *value {
        Value::Null => Repr::Null,
        Value::Bool(value) => Repr::Bool(value),
        Value::Int(value) => Repr::Int(value),
        Value::Uint(value) => Repr::Uint(value),
        Value::Double(value) => Repr::Double(value),
        Value::Duration(value) => Repr::Duration(value),
        Value::Timestamp(value) => Repr::Timestamp(value),
        Value::Optional(None) => Repr::Absent,
        Value::Optional(Some(_)) => return Err(EvalError::internal("an optional cannot be kept")),
        Value::Object(_) => return Err(EvalError::internal("an object cannot be kept")),
        Value::String(text) => Repr::String(text.into()),
        Value::Bytes(bytes) => Repr::Bytes(bytes.into()),
        Value::Type(name) => Repr::Type(name.into()),
        Value::Opaque(opaque) => Repr::Opaque(opaque.share()),
        Value::List(_)
        | Value::JsonList(_)
        | Value::ShapedList(..)
        | Value::OwnedList(_)
        | Value::Items(_)
        | Value::ListView(_) => copy_list(value, reach)?,
        Value::Map(_)
        | Value::JsonMap(_)
        | Value::ShapedMap(..)
        | Value::Fields(_)
        | Value::MapView(_) => copy_map(value, reach)?,
        Value::Unread(json, shape) => return shape.look(json, |value| copy(&value?, reach)),
    };
    Ok(OwnedValue(repr))
}

fn copy_list(value: &Value<'_>, reach: &mut Reach) -> Result<Repr, EvalError> {
    let Some(list) = value.as_list() else {
        return Ok(Repr::List(Arc::default()));
    };
    let copies: Result<_, _> = reach.within(list.len(), |reach| {
        list.iter().map(|element| copy(&element, reach)).collect()
    });
    Ok(Repr::List(copies?))
}

fn copy_map(value: &Value<'_>, reach: &mut Reach) -> Result<Repr, EvalError> {
    let mut entries = Vec::new();
    if let Some(map) = value.as_map() {
        reach.within(map.len(), |reach| {
            for entry in map.iter() {
                let (key, value) = entry?;
                entries.push((copy(&key, reach)?, copy(&value, reach)?));
            }
            Ok(())
        })?;
    }
    entries.sort_by(|(l, _), (r, _)| key_order(&l.as_value(), &r.as_value()));
    Ok(Repr::Map(Box::new(OwnedMap {
        type_name: value.type_name().into(),
        entries: entries.into(),
    })))
}

/// Entries ordered by key.
#[derive(Debug, Clone)]
struct OwnedMap {
    type_name: Arc<str>,
    entries: Arc<[(OwnedValue, OwnedValue)]>,
}

impl MapView for OwnedMap {
    fn type_name(&self) -> &str {
        &self.type_name
    }

    fn len(&self) -> usize {
        self.entries.len()
    }

    fn get(&self, key: &Value<'_>) -> Result<Option<Value<'_>>, EvalError> {
        match key {
            Value::Double(double) if double.is_nan() => return Ok(None),
            _ if self.entries.is_empty() => return Ok(None),
            _ => check_hashable(key)?,
        }
        let found = self
            .entries
            .binary_search_by(|(k, _)| key_order(&k.as_value(), key));
        let entry = found.ok().and_then(|index| self.entries.get(index));
        Ok(entry.map(|(_, value)| value.as_value()))
    }

    fn key(&self, position: usize) -> Option<Value<'_>> {
        self.entries.get(position).map(|(key, _)| key.as_value())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::{Arena, Json, MapBuilder};

    #[test]
    fn a_copy_equals_its_original_and_outlives_it() {
        let copy = {
            let arena = Arena::new();
            let json: Json = serde_json::json!({"a": [1, 2.5, null, "x"], "b": {"c": true}});
            let mut map = MapBuilder::new();
            map.insert(Value::Int(2), Value::from(&json));
            map.insert(Value::Bool(true), Value::Bytes(b"x"));
            map.insert(Value::String("k"), Value::Type("int"));
            let original = map.build(&arena);
            let copy = OwnedValue::copy_of(&original).expect("no optional");
            assert!(original.equals(&copy.as_value()).expect("comparable"));
            assert!(copy.as_value().equals(&original).expect("comparable"));
            copy
        };
        let map = copy.clone().as_value().as_map().map(|map| map.len());
        assert_eq!(map, Some(3));
        let found = copy
            .as_value()
            .as_map()
            .expect("a map")
            .get(&Value::Double(2.0));
        assert_eq!(
            found.expect("no failure").expect("found").type_name(),
            "map"
        );
    }

    #[test]
    fn optionals_and_bottomless_values_are_refused() {
        let arena = Arena::new();
        assert!(OwnedValue::copy_of(&arena.some(Value::Null)).is_err());
        let deep = (0..2_000).fold(Value::Null, |value, _| arena.list(&[value]));
        assert!(OwnedValue::copy_of(&deep).is_err());
    }
}

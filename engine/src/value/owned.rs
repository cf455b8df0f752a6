//! Values that outlive the data from which they were copied: folded constants, and results that a host stores.

use std::sync::Arc;

use super::key::{check_hashable, key_order};
use super::{Duration, MapView, Opaque, Reach, Repr, Timestamp, Value};
use crate::error::EvalError;

/// A deep copy of a [`Value`]. The copy borrows nothing. Cloning it and viewing it as a value are cheap.
#[derive(Debug, Clone)]
pub struct OwnedValue(Kept);

#[derive(Debug, Clone)]
enum Kept {
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
    /// Copies a value.
    ///
    /// # Errors
    ///
    /// The value contains an object of a host's type, or an optional that is not empty; JSON in the value cannot be converted through its
    /// shape; the value is too large to walk; or a host's map fails.
    pub fn copy_of(value: &Value<'_>) -> Result<Self, EvalError> {
        copy(value, &mut Reach::default())
    }

    /// A text, shared with the caller.
    pub(crate) fn from_text(text: Arc<str>) -> Self {
        OwnedValue(Kept::String(text))
    }

    /// `true` or `false`.
    pub fn from_bool(value: bool) -> Self {
        OwnedValue(Kept::Bool(value))
    }

    /// Borrows the copy as a value. Allocates nothing.
    #[inline]
    pub fn as_value(&self) -> Value<'_> {
        match &self.0 {
            Kept::Int(value) => Value(Repr::Int(*value)),
            Kept::String(text) => Value(Repr::String(text)),
            Kept::List(list) => Value(Repr::OwnedList(list)),
            _ => self.as_other_value(),
        }
    }

    fn as_other_value(&self) -> Value<'_> {
        match &self.0 {
            Kept::Null => Value(Repr::Null),
            Kept::Bool(value) => Value::from(*value),
            Kept::Int(value) => Value(Repr::Int(*value)),
            Kept::Uint(value) => Value(Repr::Uint(*value)),
            Kept::Double(value) => Value(Repr::Double(*value)),
            Kept::Duration(value) => Value(Repr::Duration(*value)),
            Kept::Timestamp(value) => Value(Repr::Timestamp(*value)),
            Kept::Absent => Value(Repr::Optional(None)),
            Kept::String(text) => Value(Repr::String(text)),
            Kept::Bytes(bytes) => Value(Repr::Bytes(bytes)),
            Kept::List(list) => Value(Repr::OwnedList(list)),
            Kept::Map(map) => Value(Repr::MapView(&**map)),
            Kept::Type(name) => Value(Repr::Type(name)),
            Kept::Opaque(opaque) => Value(Repr::Opaque(&**opaque)),
        }
    }
}

fn copy(value: &Value<'_>, reach: &mut Reach<'_>) -> Result<OwnedValue, EvalError> {
    let repr = match value.0 {
        Repr::Null => Kept::Null,
        Repr::Bool(value) => Kept::Bool(value.holds()),
        Repr::Int(value) => Kept::Int(value),
        Repr::Uint(value) => Kept::Uint(value),
        Repr::Double(value) => Kept::Double(value),
        Repr::Duration(value) => Kept::Duration(value),
        Repr::Timestamp(value) => Kept::Timestamp(value),
        Repr::Optional(None) => Kept::Absent,
        Repr::Optional(Some(_)) => return Err(EvalError::internal("an optional cannot be kept")),
        Repr::Object(_) => return Err(EvalError::internal("an object cannot be kept")),
        Repr::String(text) => Kept::String(text.into()),
        Repr::Bytes(bytes) => Kept::Bytes(bytes.into()),
        Repr::Type(name) => Kept::Type(name.into()),
        Repr::Opaque(opaque) => Kept::Opaque(opaque.share()),
        Repr::List(_)
        | Repr::JsonList(_)
        | Repr::ShapedList(..)
        | Repr::OwnedList(_)
        | Repr::Items(_)
        | Repr::ListView(_) => copy_list(value, reach)?,
        Repr::Map(_)
        | Repr::JsonMap(_)
        | Repr::ShapedMap(..)
        | Repr::Fields(_)
        | Repr::MapView(_) => copy_map(value, reach)?,
        Repr::Unread(json, shape) => return shape.look(json, |value| copy(&value?, reach)),
    };
    Ok(OwnedValue(repr))
}

fn copy_list(value: &Value<'_>, reach: &mut Reach<'_>) -> Result<Kept, EvalError> {
    let Some(list) = value.as_list() else {
        return Ok(Kept::List(Arc::default()));
    };
    let copies: Result<_, _> = reach.within(list.len(), |reach| {
        list.iter().map(|element| copy(&element, reach)).collect()
    });
    Ok(Kept::List(copies?))
}

fn copy_map(value: &Value<'_>, reach: &mut Reach<'_>) -> Result<Kept, EvalError> {
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
    Ok(Kept::Map(Box::new(OwnedMap {
        type_name: value.type_name().into(),
        entries: entries.into(),
    })))
}

/// A map that owns its entries. The entries are sorted by key.
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
        match key.0 {
            Repr::Double(double) if double.is_nan() => return Ok(None),
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
            map.insert(Value::from(2), Value::from(&json));
            map.insert(Value::from(true), Value::from(b"x"));
            map.insert(Value::from("k"), Value::type_named("int"));
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
            .get(&Value::from(2.0));
        assert_eq!(
            found.expect("no failure").expect("found").type_name(),
            "map"
        );
    }

    #[test]
    fn optionals_and_bottomless_values_are_refused() {
        let arena = Arena::new();
        assert!(OwnedValue::copy_of(&arena.some(Value::NULL)).is_err());
        let deep = (0..2_000).fold(Value::NULL, |value, _| arena.list(&[value]));
        assert!(OwnedValue::copy_of(&deep).is_err());
    }
}

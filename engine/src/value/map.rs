//! Maps of every representation, and the lookup of keys.
//!
//! Go's maps have no order. Gavel's maps are sorted by key, so that results that depend on the order are always the same.

use std::collections::BTreeMap;

use bumpalo::collections::Vec as ArenaVec;

use super::arena::sort_by_unique_key;
use super::field::field_named;
use super::key::{Key, check_hashable, key_order};
use super::{Arena, JsonObject, MapView, Repr, Shape, Value};
use crate::error::EvalError;

/// A map: computed, in a JSON document, or provided by a host.
#[derive(Debug, Clone, Copy)]
pub struct Map<'a>(pub(super) MapRepr<'a>);

/// The representation of a map.
#[derive(Debug, Clone, Copy)]
pub(super) enum MapRepr<'a> {
    /// A map that an expression computed.
    Values(&'a MapValue<'a>),
    /// An object in a JSON document.
    Json(&'a JsonObject),
    /// An object in a JSON document that a host views through a shape.
    Shaped(&'a JsonObject, &'a Shape),
    /// An object in a JSON document that was parsed into an arena. The fields are sorted by name.
    Fields(&'a [(&'a str, Value<'a>)]),
    /// A map provided by a host.
    View(&'a dyn MapView),
}

/// The largest initial capacity of a computed map whose size is not known exactly, in entries.
const MOST_EXPECTED: usize = 8;

impl<'a> Map<'a> {
    /// A computed map with text keys. If several entries have the same key, the last entry is used.
    pub fn of_texts(
        entries: impl IntoIterator<Item = (&'a str, Value<'a>)>,
        arena: &'a Arena,
    ) -> Self {
        let entries = entries.into_iter();
        let entries = entries.map(|(key, value)| (Value(Repr::String(key)), value));
        let (least, most) = entries.size_hint();
        let expected = most.unwrap_or(least).min(MOST_EXPECTED).max(least);
        let mut sorted = ArenaVec::with_capacity_in(expected, arena.bump());
        sorted.extend(entries);
        sort_by_unique_key(&mut sorted, |(key, _)| key.as_str());
        let map = MapValue::ordered(sorted.into_bump_slice());
        Map(MapRepr::Values(arena.bump().alloc(map)))
    }

    /// Whether the map is an object of a JSON document that a host views through a shape.
    pub fn is_shaped(&self) -> bool {
        matches!(self.0, MapRepr::Shaped(..))
    }

    /// Whether the map is one of Kubernetes' [lazy maps](MapView::is_lazy).
    pub fn is_lazy(&self) -> bool {
        matches!(self.0, MapRepr::View(view) if view.is_lazy())
    }

    /// The number of entries.
    pub fn len(&self) -> usize {
        match self.0 {
            MapRepr::Values(map) => map.entries.len(),
            MapRepr::Json(map) => map.len(),
            MapRepr::Shaped(map, _) => map.len(),
            MapRepr::Fields(fields) => fields.len(),
            MapRepr::View(view) => view.len(),
        }
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value of a text key; `None` if the key is absent.
    ///
    /// # Errors
    ///
    /// The host's map fails.
    pub fn get_str(&self, key: &str) -> Result<Option<Value<'a>>, EvalError> {
        match self.0 {
            MapRepr::Values(map) => Ok(map.get(&Value(Repr::String(key)))),
            MapRepr::Json(map) => Ok(map.get(key).map(Value::from)),
            MapRepr::Shaped(map, shape) => Ok(shape.find(map, key)),
            MapRepr::Fields(fields) => Ok(field_named(fields, key).copied()),
            MapRepr::View(view) => view.get(&Value(Repr::String(key))),
        }
    }

    /// The value of a key; `None` if the key is absent. As in CEL, a number also finds an equal key of another number type: a double finds
    /// an int or uint key, an int finds a uint key, and a uint finds an int key. A double key is only found by a double.
    ///
    /// # Errors
    ///
    /// The key has a type that cannot be a key, or the host's map fails.
    pub fn get(&self, key: &Value<'_>) -> Result<Option<Value<'a>>, EvalError> {
        let found = self.get_exact(key)?;
        if found.is_some() {
            return Ok(found);
        }
        for key in other_keys(key).into_iter().flatten() {
            let found = self.get_exact(&key)?;
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    fn get_exact(&self, key: &Value<'_>) -> Result<Option<Value<'a>>, EvalError> {
        match (*self, key) {
            (Map(MapRepr::Values(map)), _) if map.entries.is_empty() => Ok(None),
            (Map(MapRepr::Values(map)), _) => {
                check_hashable(key)?;
                Ok(map.get(key))
            }
            (Map(MapRepr::Json(map)), Value(Repr::String(text))) => {
                Ok(map.get(*text).map(Value::from))
            }
            (Map(MapRepr::Fields(fields)), Value(Repr::String(text))) => {
                Ok(field_named(fields, text).copied())
            }
            (Map(MapRepr::Json(_)) | Map(MapRepr::Fields(_)), _) => Ok(None),
            (Map(MapRepr::Shaped(map, shape)), Value(Repr::String(text))) => {
                Ok(shape.find(map, text))
            }
            (Map(MapRepr::Shaped(..)), _) => Err(EvalError::no_such_overload()),
            (Map(MapRepr::View(view)), _) => view.get(key),
        }
    }

    /// The entries in order. With a host's map that computes its values, any entry can be an error.
    pub fn iter(&self) -> MapIter<'a> {
        match self.0 {
            MapRepr::Values(map) => MapIter::Values(map.entries.iter()),
            MapRepr::Json(map) => MapIter::Json(map.iter()),
            MapRepr::Shaped(map, shape) => MapIter::Shaped(ShapedKeys {
                map,
                names: map.keys(),
                shape,
                unknown: 0,
            }),
            MapRepr::Fields(fields) => MapIter::Fields(fields.iter()),
            MapRepr::View(view) => MapIter::View(view, 0),
        }
    }
}

impl<'a> From<Map<'a>> for Value<'a> {
    fn from(map: Map<'a>) -> Self {
        match map.0 {
            MapRepr::Values(map) => Value(Repr::Map(map)),
            MapRepr::Json(map) => Value(Repr::JsonMap(map)),
            MapRepr::Shaped(map, shape) => Value(Repr::ShapedMap(map, shape)),
            MapRepr::Fields(fields) => Value(Repr::Fields(fields)),
            MapRepr::View(view) => Value(Repr::MapView(view)),
        }
    }
}

/// The entries of a [`Map`] in order.
#[derive(Debug, Clone)]
pub enum MapIter<'a> {
    /// The entries of a computed map.
    Values(std::slice::Iter<'a, (Value<'a>, Value<'a>)>),
    /// The entries of a JSON object.
    Json(serde_json::map::Iter<'a>),
    /// The entries of a JSON object that a host views through a shape.
    Shaped(ShapedKeys<'a>),
    /// The entries of an object that was parsed into an arena.
    Fields(std::slice::Iter<'a, (&'a str, Value<'a>)>),
    /// The entries of a host's map, with the position of the next entry.
    View(&'a dyn MapView, usize),
}

/// The keys of an object that a host views through a shape. Names that the shape does not know are skipped.
#[derive(Debug, Clone)]
pub struct ShapedKeys<'a> {
    map: &'a JsonObject,
    names: serde_json::map::Keys<'a>,
    shape: &'a Shape,
    /// The number of names that were skipped.
    unknown: usize,
}

impl<'a> Iterator for ShapedKeys<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        for name in self.names.by_ref() {
            match self.shape.key(name) {
                Some(key) => return Some(key),
                None => self.unknown = self.unknown.saturating_add(1),
            }
        }
        None
    }
}

impl<'a> MapIter<'a> {
    /// The next key; `None` at the end. For an object that a host views through a shape, the last keys are nulls: as in upstream, one null
    /// for each entry that the shape does not know.
    pub fn next_key(&mut self) -> Option<Value<'a>> {
        match self {
            MapIter::Values(entries) => entries.next().map(|(key, _)| *key),
            MapIter::Json(entries) => entries.next().map(|(key, _)| Value(Repr::String(key))),
            MapIter::Fields(fields) => fields.next().map(|(name, _)| Value(Repr::String(name))),
            MapIter::Shaped(keys) => keys.next().map(Value::from).or_else(|| {
                keys.unknown = keys.unknown.checked_sub(1)?;
                Some(Value(Repr::Null))
            }),
            MapIter::View(view, position) => {
                let key = view.key(*position)?;
                *position = position.saturating_add(1);
                Some(key)
            }
        }
    }
}

impl<'a> Iterator for MapIter<'a> {
    type Item = Result<(Value<'a>, Value<'a>), EvalError>;

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            MapIter::Values(entries) => entries.next().map(|entry| Ok(*entry)),
            MapIter::Json(entries) => entries
                .next()
                .map(|(key, value)| Ok((Value(Repr::String(key)), Value::from(value)))),
            MapIter::Fields(fields) => fields
                .next()
                .map(|(name, value)| Ok((Value(Repr::String(name)), *value))),
            MapIter::Shaped(keys) => {
                let name = keys.next()?;
                let value = keys.shape.find(keys.map, name);
                let value = value.ok_or_else(|| EvalError::no_such_key(name));
                Some(value.map(|value| (Value(Repr::String(name)), value)))
            }
            MapIter::View(view, _) => {
                let view = *view;
                let key = self.next_key()?;
                Some(view.value_of(&key).map(|value| (key, value)))
            }
        }
    }
}

/// The equal keys of other number types, which a lookup tries too.
fn other_keys(key: &Value<'_>) -> [Option<Value<'static>>; 2] {
    match key.0 {
        Repr::Int(int) => [u64::try_from(int).ok().map(Value::from), None],
        Repr::Uint(uint) => [i64::try_from(uint).ok().map(Value::from), None],
        Repr::Double(double) => [
            super::number::exact_int(double).map(Value::from),
            super::number::exact_uint(double).map(Value::from),
        ],
        _ => [None, None],
    }
}

/// A computed map. Its entries are sorted by key.
#[derive(Debug, Clone, Copy)]
pub struct MapValue<'a> {
    entries: &'a [(Value<'a>, Value<'a>)],
}

impl<'a> MapValue<'a> {
    /// A map with these entries. They must be sorted by [`key_order`] and have distinct keys.
    fn ordered(entries: &'a [(Value<'a>, Value<'a>)]) -> Self {
        MapValue { entries }
    }

    /// The entries, sorted by key.
    pub fn entries(&self) -> &'a [(Value<'a>, Value<'a>)] {
        self.entries
    }

    /// The value of the entry whose key has the type and value of `key`; `None` if there is no such entry.
    fn get(&self, key: &Value<'_>) -> Option<Value<'a>> {
        if matches!(key, Value(Repr::Double(d)) if d.is_nan()) {
            return None;
        }
        let found = self
            .entries
            .binary_search_by(|(k, _)| key_order(k, key))
            .ok()?;
        self.entries.get(found).map(|(_, value)| *value)
    }
}

/// Collects the entries of a map.
#[derive(Debug, Default)]
pub struct MapBuilder<'a> {
    entries: BTreeMap<Key<'a>, Value<'a>>,
}

impl<'a> MapBuilder<'a> {
    /// An empty map.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the value of a key. Returns the replaced value, if the key was present.
    pub fn insert(&mut self, key: Value<'a>, value: Value<'a>) -> Option<Value<'a>> {
        self.entries.insert(Key(key), value)
    }

    /// Adds an entry.
    ///
    /// # Errors
    ///
    /// The map already contains an equal key. Numbers of different types can be equal.
    pub fn insert_new(&mut self, key: Value<'a>, value: Value<'a>) -> Result<(), EvalError> {
        let mut others = other_keys(&key).into_iter().flatten();
        if self.contains(key) || others.any(|other| self.contains(other)) {
            let message = format!("insert failed: key {} already exists", key.in_message());
            return Err(EvalError::new(message));
        }
        self.insert(key, value);
        Ok(())
    }

    /// The approximate memory of the entries in this builder and in the finished map together, in bytes.
    pub fn held_bytes(&self) -> usize {
        let entry = size_of::<(Value<'a>, Value<'a>)>();
        self.entries.len().saturating_mul(entry).saturating_mul(3)
    }

    /// Removes a key.
    pub fn remove(&mut self, key: Value<'a>) {
        self.entries.remove(&Key(key));
    }

    /// Whether the map contains a key with this type and value.
    pub fn contains(&self, key: Value<'a>) -> bool {
        self.entries.contains_key(&Key(key))
    }

    /// Builds the map in an arena.
    pub fn build(self, arena: &'a Arena) -> Value<'a> {
        let entries = arena.bump().alloc_slice_fill_iter(
            self.entries
                .into_iter()
                .map(|(Key(key), value)| (key, value)),
        );
        Value(Repr::Map(arena.bump().alloc(MapValue::ordered(entries))))
    }
}

//! The kind of a value, and accessors for each kind.

use super::list::ListRepr;
use super::map::MapRepr;
use super::{
    Duration, FieldKey, Json, JsonObject, List, Map, Object, ObjectKind, Opaque, Repr, Shape,
    Timestamp, Value,
};

/// The kind of a value with its content, for code that handles several kinds. Code that needs a single kind uses an accessor such as
/// [`Value::as_str`].
#[derive(Debug, Clone, Copy)]
pub enum ValueKind<'a> {
    /// `null`
    Null,
    /// `true`, `false`
    Bool(bool),
    /// A 64-bit signed integer.
    Int(i64),
    /// A 64-bit unsigned integer.
    Uint(u64),
    /// An IEEE 754 number.
    Double(f64),
    /// Text; sizes and indices count code points.
    String(&'a str),
    /// Bytes.
    Bytes(&'a [u8]),
    /// A span of time.
    Duration(Duration),
    /// An instant.
    Timestamp(Timestamp),
    /// A list.
    List(List<'a>),
    /// A map or an object.
    Map(Map<'a>),
    /// An optional value: none, or some value.
    Optional(Option<&'a Value<'a>>),
    /// A type, by name.
    Type(&'a str),
    /// An object that a struct literal of a host's type built.
    Object(&'a Object<'a>),
    /// A value of a library's own type.
    Opaque(&'a dyn Opaque),
    /// JSON that has not been converted to a value yet, because the conversion through the host's shape needs memory or fails. It only
    /// occurs in lists, maps and optionals; no expression evaluates to it.
    Unread(&'a Json, &'a Shape),
}

/// The kind of a value without its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tag {
    Bool,
    Int,
    Uint,
    Double,
    String,
    Bytes,
    Duration,
    Timestamp,
    List,
    Map,
    /// Any other value, and unread JSON.
    Other,
}

impl<'a> Value<'a> {
    /// The tag of the value.
    #[inline]
    pub(crate) const fn tag(&self) -> Tag {
        match self.0 {
            Repr::Bool(_) => Tag::Bool,
            Repr::Int(_) => Tag::Int,
            Repr::Uint(_) => Tag::Uint,
            Repr::Double(_) => Tag::Double,
            Repr::String(_) => Tag::String,
            Repr::Bytes(_) => Tag::Bytes,
            Repr::Duration(_) => Tag::Duration,
            Repr::Timestamp(_) => Tag::Timestamp,
            Repr::List(_)
            | Repr::JsonList(_)
            | Repr::ShapedList(..)
            | Repr::OwnedList(_)
            | Repr::Items(_)
            | Repr::ListView(_) => Tag::List,
            Repr::Map(_)
            | Repr::JsonMap(_)
            | Repr::ShapedMap(..)
            | Repr::Fields(_)
            | Repr::MapView(_) => Tag::Map,
            Repr::Null
            | Repr::Optional(_)
            | Repr::Type(_)
            | Repr::Object(_)
            | Repr::Opaque(_)
            | Repr::Unread(..) => Tag::Other,
        }
    }

    /// The kind of the value.
    #[inline]
    pub fn kind(self) -> ValueKind<'a> {
        match self.0 {
            Repr::Null => ValueKind::Null,
            Repr::Bool(value) => ValueKind::Bool(value.holds()),
            Repr::Int(int) => ValueKind::Int(int),
            Repr::Uint(uint) => ValueKind::Uint(uint),
            Repr::Double(double) => ValueKind::Double(double),
            Repr::String(text) => ValueKind::String(text),
            Repr::Bytes(bytes) => ValueKind::Bytes(bytes),
            Repr::Duration(duration) => ValueKind::Duration(duration),
            Repr::Timestamp(time) => ValueKind::Timestamp(time),
            Repr::List(values) | Repr::Items(values) => {
                ValueKind::List(List(ListRepr::Values(values)))
            }
            Repr::JsonList(items) => ValueKind::List(List(ListRepr::Json(items))),
            Repr::ShapedList(items, shape) => ValueKind::List(List(ListRepr::Shaped(items, shape))),
            Repr::OwnedList(values) => ValueKind::List(List(ListRepr::Owned(values))),
            Repr::ListView(view) => ValueKind::List(List(ListRepr::View(view))),
            Repr::Map(map) => ValueKind::Map(Map(MapRepr::Values(map))),
            Repr::JsonMap(map) => ValueKind::Map(Map(MapRepr::Json(map))),
            Repr::ShapedMap(map, shape) => ValueKind::Map(Map(MapRepr::Shaped(map, shape))),
            Repr::Fields(fields) => ValueKind::Map(Map(MapRepr::Fields(fields))),
            Repr::MapView(view) => ValueKind::Map(Map(MapRepr::View(view))),
            Repr::Optional(held) => ValueKind::Optional(held),
            Repr::Type(name) => ValueKind::Type(name),
            Repr::Object(object) => ValueKind::Object(object),
            Repr::Opaque(opaque) => ValueKind::Opaque(opaque),
            Repr::Unread(json, shape) => ValueKind::Unread(json, shape),
        }
    }

    /// Whether `optional.ofNonZeroValue` treats the value as zero. Zero values are false, 0, null, a duration of 0, an empty text, bytes,
    /// list or map, an open object without fields, and the timestamp 0001-01-01T00:00:00Z. Types and optionals are never zero. Libraries
    /// and hosts decide for their own values.
    pub fn is_zero(&self) -> bool {
        const ZERO_TIME: Timestamp = Timestamp {
            seconds: Timestamp::MIN_SECONDS,
            nanos: 0,
            offset: 0,
        };
        match self.kind() {
            ValueKind::Null => true,
            ValueKind::Bool(value) => !value,
            ValueKind::Int(int) => int == 0,
            ValueKind::Uint(uint) => uint == 0,
            ValueKind::Double(double) => double == 0.0,
            ValueKind::String(text) => text.is_empty(),
            ValueKind::Bytes(bytes) => bytes.is_empty(),
            ValueKind::Duration(duration) => duration.0 == 0,
            ValueKind::Timestamp(time) => time == ZERO_TIME,
            // Upstream's views of documents are never zero.
            ValueKind::List(List(ListRepr::Shaped(..)))
            | ValueKind::Map(Map(MapRepr::Shaped(..))) => false,
            ValueKind::List(List(ListRepr::View(view))) => view.is_zero(),
            ValueKind::Map(Map(MapRepr::View(view))) => view.is_zero(),
            ValueKind::List(list) => list.is_empty(),
            ValueKind::Map(map) => map.is_empty(),
            ValueKind::Object(object) => {
                object.kind() == ObjectKind::Open && object.fields().is_empty()
            }
            ValueKind::Opaque(opaque) => opaque.is_zero(),
            ValueKind::Optional(_) | ValueKind::Type(_) | ValueKind::Unread(..) => false,
        }
    }

    /// Whether this is `null`.
    #[inline]
    pub const fn is_null(&self) -> bool {
        matches!(self, Value(Repr::Null))
    }

    /// The value, if it is a bool or a number.
    #[inline]
    pub(crate) const fn as_scalar(&self) -> Option<Value<'static>> {
        match self.0 {
            Repr::Bool(value) => Some(Value(Repr::Bool(value))),
            Repr::Int(int) => Some(Value(Repr::Int(int))),
            Repr::Uint(uint) => Some(Value(Repr::Uint(uint))),
            Repr::Double(double) => Some(Value(Repr::Double(double))),
            _ => None,
        }
    }

    /// Whether this is a list or map of a JSON document, not a computed list or map.
    #[inline]
    pub const fn is_of_document(&self) -> bool {
        matches!(
            self.0,
            Repr::JsonList(_)
                | Repr::JsonMap(_)
                | Repr::ShapedList(..)
                | Repr::ShapedMap(..)
                | Repr::Items(_)
                | Repr::Fields(_)
        )
    }

    /// The address of a list or map of a JSON document in memory; `None` for other values, and for empty lists, which may have no memory of
    /// their own. A list and its first element can have the same address.
    pub fn address(&self) -> Option<usize> {
        match self.0 {
            Repr::Items(items) => items.first().map(|first| std::ptr::from_ref(first).addr()),
            Repr::JsonList(items) => items.first().map(|first| std::ptr::from_ref(first).addr()),
            Repr::Fields(fields) => Some(fields.as_ptr().addr()),
            Repr::JsonMap(map) => Some(std::ptr::from_ref(map).addr()),
            _ => None,
        }
    }

    /// The bool, if the value is a bool.
    #[inline]
    pub const fn as_bool(&self) -> Option<bool> {
        match self.0 {
            Repr::Bool(value) => Some(value.holds()),
            _ => None,
        }
    }

    /// The int, if the value is an int; `None` for a uint.
    #[inline]
    pub const fn as_int(&self) -> Option<i64> {
        match self.0 {
            Repr::Int(int) => Some(int),
            _ => None,
        }
    }

    /// The uint, if the value is a uint; `None` for an int.
    #[inline]
    pub const fn as_uint(&self) -> Option<u64> {
        match self.0 {
            Repr::Uint(uint) => Some(uint),
            _ => None,
        }
    }

    /// The double, if the value is a double; `None` for an int.
    #[inline]
    pub const fn as_double(&self) -> Option<f64> {
        match self.0 {
            Repr::Double(double) => Some(double),
            _ => None,
        }
    }

    /// The text, if the value is a text.
    #[inline]
    pub const fn as_str(&self) -> Option<&'a str> {
        match self.0 {
            Repr::String(text) => Some(text),
            _ => None,
        }
    }

    /// The bytes, if the value is bytes.
    #[inline]
    pub const fn as_bytes(&self) -> Option<&'a [u8]> {
        match self.0 {
            Repr::Bytes(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// The duration, if the value is a duration.
    #[inline]
    pub const fn as_duration(&self) -> Option<Duration> {
        match self.0 {
            Repr::Duration(duration) => Some(duration),
            _ => None,
        }
    }

    /// The timestamp, if the value is a timestamp.
    #[inline]
    pub const fn as_timestamp(&self) -> Option<Timestamp> {
        match self.0 {
            Repr::Timestamp(time) => Some(time),
            _ => None,
        }
    }

    /// The content of the optional, if the value is an optional. The inner `None` is `optional.none()`.
    #[inline]
    pub const fn as_optional(&self) -> Option<Option<&'a Value<'a>>> {
        match self.0 {
            Repr::Optional(held) => Some(held),
            _ => None,
        }
    }

    /// The name of the type, if this is a type.
    #[inline]
    pub const fn as_type(&self) -> Option<&'a str> {
        match self.0 {
            Repr::Type(name) => Some(name),
            _ => None,
        }
    }

    /// The opaque value, if the value has a library's own type.
    #[inline]
    pub const fn as_dyn_opaque(&self) -> Option<&'a dyn Opaque> {
        match self.0 {
            Repr::Opaque(opaque) => Some(opaque),
            _ => None,
        }
    }

    /// The value as the library's Rust type `T`; `None` if it has another type.
    #[inline]
    pub fn as_opaque<T: Opaque>(&self) -> Option<&'a T> {
        self.as_dyn_opaque()?.downcast_ref()
    }

    /// The JSON of a value that has not been converted yet, with its shape; `None` for all other values.
    #[inline]
    pub const fn as_unread(&self) -> Option<(&'a Json, &'a Shape)> {
        match self.0 {
            Repr::Unread(json, shape) => Some((json, shape)),
            _ => None,
        }
    }

    /// The JSON object behind the value, with the shape through which a host views it. Plain JSON has no shape.
    #[inline]
    pub const fn as_json_object(&self) -> Option<(&'a JsonObject, Option<&'a Shape>)> {
        match self.0 {
            Repr::JsonMap(map) => Some((map, None)),
            Repr::ShapedMap(map, shape) => Some((map, Some(shape))),
            _ => None,
        }
    }

    /// The JSON array behind the value, with the shape through which a host views it. Plain JSON has no shape.
    #[inline]
    pub fn as_json_array(&self) -> Option<(&'a [Json], Option<&'a Shape>)> {
        match self.0 {
            Repr::JsonList(items) => Some((items, None)),
            Repr::ShapedList(items, shape) => Some((items, Some(shape))),
            _ => None,
        }
    }

    /// The JSON array behind the value and its shape, if a host views the array through a shape; `None` for all other values.
    #[inline]
    pub const fn as_shaped_list(&self) -> Option<(&'a Vec<Json>, &'a Shape)> {
        match self.0 {
            Repr::ShapedList(items, shape) => Some((items, shape)),
            _ => None,
        }
    }

    /// The shape through which a host views the list or map; `None` for all other values.
    pub const fn shape(&self) -> Option<&'a Shape> {
        match self.0 {
            Repr::ShapedList(_, shape) | Repr::ShapedMap(_, shape) => Some(shape),
            _ => None,
        }
    }

    /// Whether upstream stores the elements of this list or map as CEL values, not as Go values. Upstream does so for computed lists and
    /// maps, for constant lists, and for maps of hosts.
    pub const fn holds_values(&self) -> bool {
        matches!(
            self.0,
            Repr::List(_) | Repr::OwnedList(_) | Repr::Map(_) | Repr::MapView(_)
        )
    }

    /// Whether a variable with this value always evaluates to the value unchanged. This is not so for optionals and unread JSON, which can
    /// need a conversion, nor for opaque values, which can represent an error.
    #[inline]
    pub(crate) const fn is_plain(&self) -> bool {
        !matches!(
            self.0,
            Repr::Optional(_) | Repr::Opaque(_) | Repr::Unread(..)
        )
    }

    /// Whether the value is an object of a JSON document that was parsed into an arena.
    #[inline]
    pub(crate) const fn is_parsed_object(&self) -> bool {
        matches!(self.0, Repr::Fields(_))
    }

    /// Looks up a field of an object that was parsed into an arena; `None` for other values. The inner `None` means that the field is absent.
    #[inline(always)]
    pub(crate) fn parsed_field(self, key: &FieldKey) -> Option<Option<&'a Value<'a>>> {
        match self.0 {
            Repr::Fields(fields) => Some(key.find(fields)),
            _ => None,
        }
    }

    /// Looks up a field of a JSON object. `None` if the value is not a JSON object, or if the field's JSON must be converted first. The
    /// inner `None` means that the field is absent.
    #[inline]
    pub(crate) fn plain_field(self, key: &FieldKey) -> Option<Option<Value<'a>>> {
        let mut value = self;
        let found = value.go_to_plain_field(key)?;
        Some(found.then_some(value))
    }

    /// Replaces the value of a JSON object by the value of one of its fields. Returns false, and changes nothing, if the field is absent.
    /// `None` if the value is not a JSON object, or if the field's JSON must be converted first; the value is then undefined.
    #[inline(always)]
    pub(crate) fn go_to_plain_field(&mut self, key: &FieldKey) -> Option<bool> {
        match self.0 {
            Repr::Fields(fields) => {
                let found = key.find(fields);
                *self = *found.unwrap_or(self);
                Some(found.is_some())
            }
            _ => self.go_to_field_of_json(key),
        }
    }

    #[inline(never)]
    fn go_to_field_of_json(&mut self, key: &FieldKey) -> Option<bool> {
        let found = match self.0 {
            Repr::JsonMap(map) => map.get(key.name()).map(Value::from),
            Repr::ShapedMap(map, shape) => match shape.field_at(key.name(), key.place_in(shape)) {
                Some((name, shape)) => match map.get(name) {
                    None | Some(Json::Null) => None,
                    Some(json) => {
                        shape.view_into(json, self);
                        return self.as_unread().is_none().then_some(true);
                    }
                },
                None => shape.find(map, key.name()),
            },
            _ => return None,
        };
        let Some(value) = found else {
            return Some(false);
        };
        value.store_in(self);
        value.as_unread().is_none().then_some(true)
    }

    /// The object that a struct literal of a host's type built; `None` for all other values.
    #[inline]
    pub const fn as_object(&self) -> Option<&'a Object<'a>> {
        match self.0 {
            Repr::Object(object) => Some(object),
            _ => None,
        }
    }
}

//! What a value is: its kind, and accessors for each kind.

use super::{Duration, JsonObject, List, Map, Object, ObjectKind, Opaque, Shape, Timestamp, Value};
use super::{Json, ListView};

/// What a value is, for code that handles several kinds. Code that wants one kind asks for it: [`Value::as_str`].
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
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
    /// An object that a struct literal of a host's type made.
    Object(&'a Object<'a>),
    /// A value of a library's own type.
    Opaque(&'a dyn Opaque),
    /// JSON of a host's shape that takes memory to be read, or that cannot be read. It occurs as an element of lists, maps
    /// and optionals; no expression evaluates to it.
    Unread(&'a Json, &'a Shape),
}

impl<'a> Value<'a> {
    /// What the value is.
    #[inline]
    pub fn kind(self) -> ValueKind<'a> {
        match self {
            Value::Null => ValueKind::Null,
            Value::Bool(value) => ValueKind::Bool(value),
            Value::Int(int) => ValueKind::Int(int),
            Value::Uint(uint) => ValueKind::Uint(uint),
            Value::Double(double) => ValueKind::Double(double),
            Value::String(text) => ValueKind::String(text),
            Value::Bytes(bytes) => ValueKind::Bytes(bytes),
            Value::Duration(duration) => ValueKind::Duration(duration),
            Value::Timestamp(time) => ValueKind::Timestamp(time),
            Value::List(values) | Value::Items(values) => ValueKind::List(List::Values(values)),
            Value::JsonList(items) => ValueKind::List(List::Json(items)),
            Value::ShapedList(items, shape) => ValueKind::List(List::Shaped(items, shape)),
            Value::OwnedList(values) => ValueKind::List(List::Owned(values)),
            Value::ListView(view) => ValueKind::List(List::View(view)),
            Value::Map(map) => ValueKind::Map(Map::Values(map)),
            Value::JsonMap(map) => ValueKind::Map(Map::Json(map)),
            Value::ShapedMap(map, shape) => ValueKind::Map(Map::Shaped(map, shape)),
            Value::Fields(fields) => ValueKind::Map(Map::Fields(fields)),
            Value::MapView(view) => ValueKind::Map(Map::View(view)),
            Value::Optional(held) => ValueKind::Optional(held),
            Value::Type(name) => ValueKind::Type(name),
            Value::Object(object) => ValueKind::Object(object),
            Value::Opaque(opaque) => ValueKind::Opaque(opaque),
            Value::Unread(json, shape) => ValueKind::Unread(json, shape),
        }
    }

    /// Whether the value is its type's zero, as `optional.ofNonZeroValue` has it: false, 0, empty, null. Types and
    /// optionals never are, and a library or host decides for its own values.
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
            // Views of documents never are, upstream.
            ValueKind::List(List::Shaped(..)) | ValueKind::Map(Map::Shaped(..)) => false,
            ValueKind::List(List::View(view)) => view.is_zero(),
            ValueKind::Map(Map::View(view)) => view.is_zero(),
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
        matches!(self, Value::Null)
    }

    /// Whether this is a list or map of a JSON document, and not one that an expression computed.
    #[inline]
    pub const fn is_of_document(&self) -> bool {
        matches!(
            self,
            Value::JsonList(_)
                | Value::JsonMap(_)
                | Value::ShapedList(..)
                | Value::ShapedMap(..)
                | Value::Items(_)
                | Value::Fields(_)
        )
    }

    /// The bool, if it is one.
    #[inline]
    pub const fn as_bool(&self) -> Option<bool> {
        match *self {
            Value::Bool(value) => Some(value),
            _ => None,
        }
    }

    /// The int, if it is one. A uint is not.
    #[inline]
    pub const fn as_int(&self) -> Option<i64> {
        match *self {
            Value::Int(int) => Some(int),
            _ => None,
        }
    }

    /// The uint, if it is one. An int is not.
    #[inline]
    pub const fn as_uint(&self) -> Option<u64> {
        match *self {
            Value::Uint(uint) => Some(uint),
            _ => None,
        }
    }

    /// The double, if it is one. An int is not.
    #[inline]
    pub const fn as_double(&self) -> Option<f64> {
        match *self {
            Value::Double(double) => Some(double),
            _ => None,
        }
    }

    /// The text, if it is one.
    #[inline]
    pub const fn as_str(&self) -> Option<&'a str> {
        match *self {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    /// The bytes, if it is bytes.
    #[inline]
    pub const fn as_bytes(&self) -> Option<&'a [u8]> {
        match *self {
            Value::Bytes(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// The duration, if it is one.
    #[inline]
    pub const fn as_duration(&self) -> Option<Duration> {
        match *self {
            Value::Duration(duration) => Some(duration),
            _ => None,
        }
    }

    /// The timestamp, if it is one.
    #[inline]
    pub const fn as_timestamp(&self) -> Option<Timestamp> {
        match *self {
            Value::Timestamp(time) => Some(time),
            _ => None,
        }
    }

    /// What an optional holds, if it is one: `None` inside is `optional.none()`.
    #[inline]
    pub const fn as_optional(&self) -> Option<Option<&'a Value<'a>>> {
        match *self {
            Value::Optional(held) => Some(held),
            _ => None,
        }
    }

    /// The name of the type, if this is a type.
    #[inline]
    pub const fn as_type(&self) -> Option<&'a str> {
        match *self {
            Value::Type(name) => Some(name),
            _ => None,
        }
    }

    /// The value of a library's type, if it is one.
    #[inline]
    pub const fn as_dyn_opaque(&self) -> Option<&'a dyn Opaque> {
        match *self {
            Value::Opaque(opaque) => Some(opaque),
            _ => None,
        }
    }

    /// The library's own Rust value, if it is one of this type.
    #[inline]
    pub fn as_opaque<T: Opaque>(&self) -> Option<&'a T> {
        self.as_dyn_opaque()?.downcast_ref()
    }

    /// JSON that is not read yet, with its shape.
    #[inline]
    pub const fn as_unread(&self) -> Option<(&'a Json, &'a Shape)> {
        match *self {
            Value::Unread(json, shape) => Some((json, shape)),
            _ => None,
        }
    }

    /// The object of a JSON document that lies below, with the shape in which a host reads it, if any.
    #[inline]
    pub const fn as_json_object(&self) -> Option<(&'a JsonObject, Option<&'a Shape>)> {
        match *self {
            Value::JsonMap(map) => Some((map, None)),
            Value::ShapedMap(map, shape) => Some((map, Some(shape))),
            _ => None,
        }
    }

    /// The array of a JSON document that lies below, with the shape in which a host reads it, if any.
    #[inline]
    pub fn as_json_array(&self) -> Option<(&'a [Json], Option<&'a Shape>)> {
        match *self {
            Value::JsonList(items) => Some((items, None)),
            Value::ShapedList(items, shape) => Some((items, Some(shape))),
            _ => None,
        }
    }

    /// The array of a JSON document that a host reads in its own fashion.
    #[inline]
    pub const fn as_shaped_list(&self) -> Option<(&'a Vec<Json>, &'a Shape)> {
        match *self {
            Value::ShapedList(items, shape) => Some((items, shape)),
            _ => None,
        }
    }

    /// The list of a host, if it is one.
    #[inline]
    pub const fn as_list_view(&self) -> Option<&'a dyn ListView> {
        match *self {
            Value::ListView(view) => Some(view),
            _ => None,
        }
    }
}

//! Values at run time.
//!
//! A [`Value`] is small and `Copy`: it borrows from the bound data, from the program's literals, or from the [`Arena`]
//! in which an evaluation keeps what it computes. JSON is viewed, never converted.

mod arena;
pub mod arithmetic;
mod concat;
pub mod convert;
mod equal;
mod json;
mod kind;
mod list;
mod map;
pub mod number;
mod object;
mod order;
mod owned;
mod print;
mod reach;
mod read;
mod rust;
mod shape;
mod time;
mod view;

pub use arena::{Arena, MEMORY_LIMIT};
pub use concat::{concat_bytes, concat_lists, concat_strings};
pub use equal::{list_contains, map_contains};
pub use kind::ValueKind;
pub use list::{List, ListIter};
pub use map::{Map, MapBuilder, MapIter, MapValue, ShapedKeys, key_order};
pub(crate) use map::{check_hashable, field_named};
pub use object::{Object, ObjectKind};
pub use owned::OwnedValue;
pub use reach::Reach;
pub use read::read_json;
pub use rust::WrongType;
pub use shape::{JsonShape, Shape};
pub use time::{Duration, Timestamp};
pub use view::{HeldError, ListView, MapView, Opaque, OpaqueKey, Share};

use crate::error::EvalError;

/// How deeply values may be nested where they are walked: documents (127) in literals (250) fit, as does the stack.
const MAX_DEPTH: usize = 400;

/// A JSON document, as `serde_json` reads it.
pub type Json = serde_json::Value;

/// An object in a JSON document.
pub type JsonObject = serde_json::Map<String, Json>;

/// A value at run time.
// The kind takes a whole word, so that a copy is three words; the compiler would put small contents beside a kind of one byte.
#[repr(u64)]
#[derive(Debug, Clone, Copy)]
pub enum Value<'a> {
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
    /// A list that was computed. Read any list through [`Value::as_list`].
    List(&'a [Value<'a>]),
    /// A list in a JSON document.
    JsonList(&'a [Json]),
    /// A list in a JSON document that a host reads in its own fashion.
    ShapedList(&'a Vec<Json>, &'a Shape),
    /// A list that is kept, such as a constant one.
    OwnedList(&'a [OwnedValue]),
    /// A list of a JSON document that was read into an arena.
    Items(&'a [Value<'a>]),
    /// A list of a host.
    ListView(&'a dyn ListView),
    /// A map that was computed. Read any map through [`Value::as_map`].
    Map(&'a MapValue<'a>),
    /// An object in a JSON document.
    JsonMap(&'a JsonObject),
    /// An object in a JSON document that a host reads in its own fashion.
    ShapedMap(&'a JsonObject, &'a Shape),
    /// An object of a JSON document that was read into an arena: its fields, ordered by name, each once.
    Fields(&'a [(&'a str, Value<'a>)]),
    /// A map of a host.
    MapView(&'a dyn MapView),
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

// Values are passed around by copy at every step; growing them slows everything down.
const _: () = assert!(size_of::<Result<Value<'_>, EvalError>>() <= 24);

impl<'a> Value<'a> {
    /// The value, or the failure that it stands for.
    #[inline]
    pub fn or_held_error(self, arena: &'a Arena) -> Result<Value<'a>, EvalError> {
        match self {
            Value::Opaque(opaque) => opaque
                .held_error()
                .map_or(Ok(self), |error| Err(error.clone())),
            value => value.read(arena),
        }
    }

    /// The value, which is read now if it was [`Value::Unread`].
    #[inline]
    pub fn read(self, arena: &'a Arena) -> Result<Value<'a>, EvalError> {
        match self {
            Value::Unread(json, shape) => shape.read(json, arena),
            value => Ok(value),
        }
    }

    /// What becomes of the value by way of Go's value below it, as where Kubernetes takes it out of an optional: an optional
    /// is what it holds, a type its name, a list of a schema any list, and of a library's value or a failure nothing can be
    /// made again.
    pub fn native(mut self, arena: &'a Arena) -> Value<'a> {
        while let Value::Optional(Some(&held)) = self {
            self = held;
        }
        let value = self
            .read(arena)
            .unwrap_or_else(|error| arena.opaque(HeldError(error)));
        match value {
            Value::Optional(_) => Value::Null,
            Value::Type(name) => Value::String(name),
            Value::ShapedList(items, _) => Value::JsonList(items),
            Value::ShapedMap(map, _) => Value::JsonMap(map),
            Value::ListView(list) => list.native(arena).unwrap_or(value),
            Value::Opaque(opaque) => match opaque.native_error() {
                Some(error) => arena.opaque(HeldError(error)),
                None => value,
            },
            value => value,
        }
    }

    /// Whether upstream asks the value itself where no function fits: texts, durations and timestamps have methods, and word
    /// what they lack in their own way.
    #[inline]
    pub fn has_methods(&self) -> bool {
        matches!(
            self,
            Value::String(_) | Value::Duration(_) | Value::Timestamp(_)
        )
    }

    /// Why the value cannot be the operand of something: of no fitting type, or the failure that it stands for.
    #[cold]
    pub fn no_such_overload(self) -> EvalError {
        match self.or_held_error(&Arena::new()) {
            Ok(_) => EvalError::no_such_overload(),
            Err(error) => error,
        }
    }

    /// The list behind this value, if it is one.
    pub fn as_list(self) -> Option<List<'a>> {
        match self {
            Value::List(values) | Value::Items(values) => Some(List::Values(values)),
            Value::JsonList(items) => Some(List::Json(items)),
            Value::ShapedList(items, shape) => Some(List::Shaped(items, shape)),
            Value::OwnedList(values) => Some(List::Owned(values)),
            Value::ListView(view) => Some(List::View(view)),
            _ => None,
        }
    }

    /// The map behind this value, if it is one.
    pub fn as_map(self) -> Option<Map<'a>> {
        match self {
            Value::Map(map) => Some(Map::Values(map)),
            Value::JsonMap(map) => Some(Map::Json(map)),
            Value::ShapedMap(map, shape) => Some(Map::Shaped(map, shape)),
            Value::Fields(fields) => Some(Map::Fields(fields)),
            Value::MapView(view) => Some(Map::View(view)),
            _ => None,
        }
    }

    /// The name of the value's type, as `type(x)` gives it: `int`, `list`, `google.protobuf.Timestamp`, `null_type`.
    pub fn type_name(&self) -> &'a str {
        match *self {
            Value::Null => "null_type",
            Value::Bool(_) => "bool",
            Value::Int(_) => "int",
            Value::Uint(_) => "uint",
            Value::Double(_) => "double",
            Value::String(_) => "string",
            Value::Bytes(_) => "bytes",
            Value::Duration(_) => "google.protobuf.Duration",
            Value::Timestamp(_) => "google.protobuf.Timestamp",
            Value::List(_)
            | Value::JsonList(_)
            | Value::ShapedList(..)
            | Value::OwnedList(_)
            | Value::Items(_)
            | Value::ListView(_) => "list",
            Value::Map(_) | Value::JsonMap(_) | Value::ShapedMap(..) | Value::Fields(_) => "map",
            Value::MapView(view) => view.type_name(),
            Value::Optional(_) => "optional_type",
            Value::Type(_) => "type",
            Value::Object(object) => object.type_name(),
            Value::Opaque(opaque) => opaque.type_name(),
            Value::Unread(json, shape) => shape.look(json, |value| match value {
                Ok(Value::Opaque(opaque)) => opaque.type_name(),
                Ok(Value::Bytes(_)) => "bytes",
                _ => "error",
            }),
        }
    }
}

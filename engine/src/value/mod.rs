//! Values at run time.
//!
//! A [`Value`] is small and `Copy`. It borrows from the bound data, from the program's literals, or from the [`Arena`]
//! that holds the computed values of an evaluation. JSON is borrowed, never copied.

mod arena;
pub mod arithmetic;
mod concat;
pub mod convert;
mod equal;
mod field;
mod host;
mod json;
mod key;
mod kind;
mod list;
mod map;
pub(crate) mod native;
pub mod number;
mod object;
mod opaque;
mod order;
mod owned;
mod pool;
mod print;
mod reach;
mod read;
mod rust;
mod same_text;
mod shape;
mod store;
mod time;
mod truth;
mod view;

pub use arena::{Arena, MEMORY_LIMIT};
pub use concat::{concat_bytes, concat_lists, concat_strings};
pub use equal::{list_contains, map_contains};
pub(crate) use field::FieldKey;
pub use host::Host;
pub(crate) use key::check_hashable;
pub use key::key_order;
pub(crate) use kind::Tag;
pub use kind::ValueKind;
pub(crate) use list::ListRepr;
pub use list::{List, ListIter};
pub use map::{Map, MapBuilder, MapIter, MapValue, ShapedKeys};
pub use native::NativeType;
pub use object::{Object, ObjectKind};
pub use opaque::{HeldError, Opaque, OpaqueKey, Share};
pub use owned::OwnedValue;
pub use reach::{HostTypes, NODE_BYTES, Reach, held_bytes};
pub use read::read_json;
pub use rust::WrongType;
pub use same_text::same_text;
pub(crate) use shape::ItemShape;
pub use shape::{FieldPlace, JsonShape, PlainJson, Shape};
pub use time::{Duration, Timestamp};
pub(crate) use truth::Truth;
pub use view::{ListView, MapView};

use self::map::MapRepr;
use crate::error::EvalError;

/// The nesting limit of walks over values. It is enough for documents (127 levels) within literals (250 levels), and small enough for the
/// stack.
pub const MAX_DEPTH: usize = 400;

/// A JSON document, as `serde_json` reads it.
pub type Json = serde_json::Value;

/// An object in a JSON document.
pub type JsonObject = serde_json::Map<String, Json>;

/// A value at run time.
///
/// [`Value::kind`] returns the kind; accessors such as [`Value::as_str`] return the content. `From` converts Rust's types to values, and an
/// [`Arena`] creates lists and maps.
#[derive(Clone, Copy)]
pub struct Value<'a>(Repr<'a>);

/// The representation of a value.
// The discriminant takes a whole word, so that a copy moves three words. With a discriminant of one byte, the compiler would store small
// contents beside it, and a copy would take more moves.
#[repr(u64)]
#[derive(Debug, Clone, Copy)]
enum Repr<'a> {
    /// `null`
    Null,
    /// `true`, `false`
    Bool(Truth),
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
    /// A computed list. [`Value::as_list`] returns lists of every representation.
    List(&'a [Value<'a>]),
    /// A list in a JSON document.
    JsonList(&'a [Json]),
    /// A list in a JSON document that a host views through a shape.
    ShapedList(&'a Vec<Json>, &'a Shape),
    /// A list stored outside of an arena, such as a constant.
    OwnedList(&'a [OwnedValue]),
    /// A list of a JSON document that was parsed into an arena.
    Items(&'a [Value<'a>]),
    /// A list provided by a host.
    ListView(&'a dyn ListView),
    /// A computed map. [`Value::as_map`] returns maps of every representation.
    Map(&'a MapValue<'a>),
    /// An object in a JSON document.
    JsonMap(&'a JsonObject),
    /// An object in a JSON document that a host views through a shape.
    ShapedMap(&'a JsonObject, &'a Shape),
    /// An object of a JSON document that was parsed into an arena: its fields, sorted by name, without duplicates.
    Fields(&'a [(&'a str, Value<'a>)]),
    /// A map provided by a host.
    MapView(&'a dyn MapView),
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

// Every step of an evaluation copies values, so larger values would slow down all evaluations.
const _: () = assert!(size_of::<Result<Value<'_>, EvalError>>() <= 24);

impl std::fmt::Debug for Value<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl<'a> Value<'a> {
    /// Returns the value; [unread](ValueKind::Unread) JSON is converted first.
    ///
    /// # Errors
    ///
    /// The value is a [`HeldError`], or its JSON cannot be converted through its shape.
    #[inline]
    pub fn or_held_error(self, arena: &'a Arena) -> Result<Value<'a>, EvalError> {
        match self {
            Value(Repr::Opaque(opaque)) => opaque
                .held_error()
                .map_or(Ok(self), |error| Err(error.clone())),
            value => value.read(arena),
        }
    }

    /// Returns the value; [unread](ValueKind::Unread) JSON is converted first.
    ///
    /// # Errors
    ///
    /// The JSON cannot be converted through its shape.
    #[inline]
    pub fn read(self, arena: &'a Arena) -> Result<Value<'a>, EvalError> {
        match self {
            Value(Repr::Unread(json, shape)) => shape.read(json, arena),
            value => Ok(value),
        }
    }

    /// The value in the innermost of nested optionals; an empty optional stays as it is.
    pub(crate) fn out_of_optionals(mut self) -> Self {
        while let Value(Repr::Optional(Some(&held))) = self {
            self = held;
        }
        self
    }

    /// Converts the value to a Go value and back, as Kubernetes does when it takes a value out of an optional. An optional becomes its
    /// content, or null if it is empty, and a type becomes its name. A list or map of a schema becomes a plain list or map. A value that
    /// cannot be converted back becomes a [`HeldError`].
    pub fn native(self, arena: &'a Arena) -> Value<'a> {
        let value = self
            .out_of_optionals()
            .read(arena)
            .unwrap_or_else(|error| arena.opaque(HeldError(error)));
        match value {
            Value(Repr::Optional(_)) => Value(Repr::Null),
            Value(Repr::Type(name)) => Value(Repr::String(name)),
            Value(Repr::ShapedList(items, _)) => Value(Repr::JsonList(items)),
            Value(Repr::ShapedMap(map, _)) => Value(Repr::JsonMap(map)),
            Value(Repr::ListView(list)) => list.native(arena).unwrap_or(value),
            Value(Repr::Opaque(opaque)) => match opaque.native_error() {
                Some(error) => arena.opaque(HeldError(error)),
                None => value,
            },
            value => value,
        }
    }

    /// Replaces the value by a copy, if it is opaque and its type needs copies (see [`Opaque::twin`]).
    #[inline(never)]
    pub(crate) fn replace_by_twin(&mut self, arena: &'a Arena) {
        if let Repr::Opaque(opaque) = self.0
            && let Some(twin) = opaque.twin(arena)
        {
            *self = twin;
        }
    }

    /// Whether a call with the value as an operand may change its first operand (see [`Opaque::may_change_operands`]).
    #[inline]
    pub(crate) fn may_change_operands(&self) -> bool {
        matches!(self.0, Repr::Opaque(opaque) if opaque.may_change_operands())
    }

    /// Whether upstream calls a method of the value if no overload fits. Texts, durations and timestamps have such methods. The methods
    /// report the error with their own messages.
    #[inline]
    pub fn has_methods(&self) -> bool {
        matches!(
            self,
            Value(Repr::String(_)) | Value(Repr::Duration(_)) | Value(Repr::Timestamp(_))
        )
    }

    /// The error for a value that cannot be an operand: either its type does not fit, or the value represents a failure.
    #[cold]
    pub fn no_such_overload(self) -> EvalError {
        match self.or_held_error(&Arena::new()) {
            Ok(_) => EvalError::no_such_overload(),
            Err(error) => error,
        }
    }

    /// The list, if the value is a list.
    pub fn as_list(self) -> Option<List<'a>> {
        match self.0 {
            Repr::List(values) | Repr::Items(values) => Some(List(ListRepr::Values(values))),
            Repr::JsonList(items) => Some(List(ListRepr::Json(items))),
            Repr::ShapedList(items, shape) => Some(List(ListRepr::Shaped(items, shape))),
            Repr::OwnedList(values) => Some(List(ListRepr::Owned(values))),
            Repr::ListView(view) => Some(List(ListRepr::View(view))),
            _ => None,
        }
    }

    /// The map, if the value is a map.
    pub fn as_map(self) -> Option<Map<'a>> {
        match self.0 {
            Repr::Map(map) => Some(Map(MapRepr::Values(map))),
            Repr::JsonMap(map) => Some(Map(MapRepr::Json(map))),
            Repr::ShapedMap(map, shape) => Some(Map(MapRepr::Shaped(map, shape))),
            Repr::Fields(fields) => Some(Map(MapRepr::Fields(fields))),
            Repr::MapView(view) => Some(Map(MapRepr::View(view))),
            _ => None,
        }
    }

    /// The name of the value's type, as `type(x)` returns it: `int`, `list`, `google.protobuf.Timestamp`, `null_type`.
    pub fn type_name(&self) -> &'a str {
        match self.0 {
            Repr::Null => "null_type",
            Repr::Bool(_) => "bool",
            Repr::Int(_) => "int",
            Repr::Uint(_) => "uint",
            Repr::Double(_) => "double",
            Repr::String(_) => "string",
            Repr::Bytes(_) => "bytes",
            Repr::Duration(_) => "google.protobuf.Duration",
            Repr::Timestamp(_) => "google.protobuf.Timestamp",
            Repr::List(_)
            | Repr::JsonList(_)
            | Repr::ShapedList(..)
            | Repr::OwnedList(_)
            | Repr::Items(_)
            | Repr::ListView(_) => "list",
            Repr::Map(_) | Repr::JsonMap(_) | Repr::ShapedMap(..) | Repr::Fields(_) => "map",
            Repr::MapView(view) => view.type_name(),
            Repr::Optional(_) => "optional_type",
            Repr::Type(_) => "type",
            Repr::Object(object) => object.type_name(),
            Repr::Opaque(opaque) => opaque.type_name(),
            Repr::Unread(json, shape) => shape.look(json, |value| match value {
                Ok(Value(Repr::Opaque(opaque))) => opaque.type_name(),
                Ok(Value(Repr::Bytes(_))) => "bytes",
                _ => "error",
            }),
        }
    }
}

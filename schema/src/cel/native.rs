//! Values as Go holds them below CEL: what elements of lists become when lists are joined, and how members of sets and keys
//! of list maps are told apart.

use std::borrow::Cow;

use gavel_engine::error::EvalError;
use gavel_engine::value::{Arena, Json, JsonObject, Value};
use gavel_golang::float;
use smallvec::SmallVec;

use crate::equal::Numeric;

/// A value as Go holds it.
#[derive(Debug, Clone, Copy)]
pub(super) enum Native<'a> {
    /// In a document.
    Json(&'a Json),
    /// An object in a document.
    Object(&'a JsonObject),
    /// Any other value that was computed.
    Computed(Value<'a>),
}

impl<'a> Native<'a> {
    /// What is below a value.
    pub(super) fn of(value: Value<'a>, arena: &'a Arena) -> Self {
        match value.read(arena).unwrap_or(value) {
            Value::JsonMap(map) | Value::ShapedMap(map, _) => Native::Object(map),
            Value::Type(name) => Native::Computed(Value::String(name)),
            Value::Optional(Some(value)) => Native::Computed(*value),
            value => Native::Computed(value),
        }
    }

    /// As a value of no schema.
    pub(super) fn value(self, arena: &'a Arena) -> Value<'a> {
        match self {
            Native::Json(json) => Value::from(json),
            Native::Object(map) => Value::JsonMap(map),
            Native::Computed(value) => value.native(arena),
        }
    }

    /// The object, if it is one of JSON.
    pub(super) fn object(self) -> Option<&'a JsonObject> {
        match self {
            Native::Json(json) => json.as_object(),
            Native::Object(map) => Some(map),
            Native::Computed(_) => None,
        }
    }

    /// Go's name of the type.
    pub(super) fn go_type(self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Native::Json(Json::Null) => "<nil>",
            Native::Json(Json::Bool(_)) | Native::Computed(Value::Bool(_)) => "bool",
            Native::Json(Json::Number(number)) => match Numeric::from(number) {
                Numeric::Int(_) => "int64",
                Numeric::Double(_) => "float64",
            },
            Native::Json(Json::String(_)) | Native::Computed(Value::String(_)) => "string",
            Native::Json(Json::Array(_))
            | Native::Computed(
                Value::JsonList(_) | Value::ShapedList(..) | Value::Items(_) | Value::ListView(_),
            ) => "[]interface {}",
            Native::Json(Json::Object(_))
            | Native::Object(_)
            | Native::Computed(Value::Fields(_)) => "map[string]interface {}",
            Native::Computed(Value::Null) => "structpb.NullValue",
            Native::Computed(Value::Int(_)) => "int64",
            Native::Computed(Value::Uint(_)) => "uint64",
            Native::Computed(Value::Double(_)) => "float64",
            Native::Computed(Value::Bytes(_)) => "[]uint8",
            Native::Computed(Value::Duration(_)) => "time.Duration",
            Native::Computed(Value::Timestamp(_)) => "time.Time",
            Native::Computed(Value::List(_) | Value::OwnedList(_)) => "[]ref.Val",
            Native::Computed(Value::Map(_) | Value::MapView(_)) => "map[ref.Val]ref.Val",
            Native::Computed(Value::Unread(..)) => "*errors.errorString",
            Native::Computed(Value::Opaque(opaque)) if opaque.held_error().is_some() => {
                "*errors.errorString"
            }
            Native::Computed(value) => return value.go_type(),
        })
    }

    /// What tells the value from others in a hash map; `None` of what equals nothing, not even itself.
    pub(super) fn key(self) -> Result<Option<Key<'a>>, Unhashable<'a>> {
        let key = match self {
            Native::Json(Json::Null) => Key::Nil,
            Native::Json(Json::Bool(value)) => Key::Bool(*value),
            Native::Json(Json::Number(number)) => match Numeric::from(number) {
                Numeric::Int(int) => Key::Int(int),
                Numeric::Double(double) => return Ok(Key::double(double)),
            },
            Native::Json(Json::String(text)) => Key::Text(text),
            Native::Computed(value) => match value {
                Value::Null => Key::Null,
                Value::Bool(value) => Key::Bool(value),
                Value::Int(int) => Key::Int(int),
                Value::Uint(uint) => Key::Uint(uint),
                Value::Double(double) => return Ok(Key::double(double)),
                Value::String(text) => Key::Text(text),
                Value::Duration(duration) => Key::Duration(duration.0),
                Value::Timestamp(time) => Key::Time(time.seconds, time.nanos, time.offset),
                Value::Opaque(_) | Value::Unread(..) => return Ok(None),
                _ => return Err(Unhashable(self)),
            },
            _ => return Err(Unhashable(self)),
        };
        Ok(Some(key))
    }
}

/// A value that Go cannot hash: it panics where it should.
#[derive(Debug, Clone, Copy)]
pub(super) struct Unhashable<'a>(Native<'a>);

impl Unhashable<'_> {
    /// What upstream answers where the value is looked up in a hash map that may be empty.
    pub(super) fn looked_up(self, in_empty: bool) -> EvalError {
        match in_empty {
            true => EvalError::internal(format_args!(
                "hash of unhashable type: {}",
                self.0.go_type()
            )),
            false => self.into(),
        }
    }
}

impl From<Unhashable<'_>> for EvalError {
    fn from(value: Unhashable<'_>) -> Self {
        EvalError::internal(format_args!(
            "runtime error: hash of unhashable type {}",
            value.0.go_type()
        ))
    }
}

/// What tells scalars apart: by type and value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Key<'a> {
    Nil,
    /// CEL's null, which is not Go's.
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    /// The bits of a number that is not NaN.
    Double(u64),
    Text(&'a str),
    /// Nanoseconds.
    Duration(i64),
    /// Seconds and nanoseconds since 1970, and the offset from UTC in seconds.
    Time(i64, u32, i32),
}

impl Key<'_> {
    /// The same, its text being in an arena.
    pub(super) fn copied_to(self, arena: &Arena) -> Key<'_> {
        match self {
            Key::Text(text) => Key::Text(arena.bump().alloc_str(text)),
            Key::Nil => Key::Nil,
            Key::Null => Key::Null,
            Key::Bool(value) => Key::Bool(value),
            Key::Int(int) => Key::Int(int),
            Key::Uint(uint) => Key::Uint(uint),
            Key::Double(bits) => Key::Double(bits),
            Key::Duration(nanos) => Key::Duration(nanos),
            Key::Time(seconds, nanos, offset) => Key::Time(seconds, nanos, offset),
        }
    }

    fn double(double: f64) -> Option<Self> {
        // Adding zero makes -0.0 and 0.0 one key.
        (!double.is_nan()).then(|| Key::Double((double + 0.0).to_bits()))
    }
}

/// What tells the elements of a list of type map apart.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum MapKey<'a> {
    /// One to three keys.
    Few(SmallVec<[Key<'a>; 3]>),
    /// None or more than three keys, as Go prints them.
    Printed(String),
}

impl<'a> MapKey<'a> {
    /// Of an element, by the names of its keys. `None` of what equals nothing.
    pub(super) fn of(
        element: Native<'a>,
        names: &[Box<str>],
    ) -> Result<Option<Self>, Unhashable<'a>> {
        const NIL: &Json = &Json::Null;
        let Some(object) = element.object() else {
            return Ok(None);
        };
        let values = names.iter().map(|name| object.get(&**name).unwrap_or(NIL));
        if !(1..=3).contains(&names.len()) {
            let mut text = String::from("[");
            for (n, value) in values.enumerate() {
                text.push_str(if n == 0 { "" } else { " " });
                print(value, &mut text);
            }
            return Ok(Some(MapKey::Printed(text)));
        }
        let mut keys = SmallVec::new();
        for value in values {
            match Native::Json(value).key()? {
                Some(key) => keys.push(key),
                None => return Ok(None),
            }
        }
        Ok(Some(MapKey::Few(keys)))
    }
}

/// Appends a key as Go prints it. Keys are scalars; what is none prints as JSON, which tells it apart as well.
fn print(value: &Json, out: &mut String) {
    // Writing to a String does not fail.
    match value {
        Json::Null => out.push_str("<nil>"),
        Json::String(text) => out.push_str(text),
        Json::Number(number) => match Numeric::from(number) {
            Numeric::Int(int) => out.push_str(&int.to_string()),
            Numeric::Double(double) => drop(float::write_shortest(out, double)),
        },
        other => out.push_str(&other.to_string()),
    }
}

//! Go values behind CEL values. Elements of joined lists are converted to Go values. Members of sets and keys of list maps are compared as
//! Go values.

use std::borrow::Cow;

use gavel_engine::error::EvalError;
use gavel_engine::value::{Arena, Json, JsonObject, Value, ValueKind};
use gavel_golang::float;
use smallvec::SmallVec;

use super::preserved::Preserved;
use crate::equal::Numeric;

/// A Go value behind a CEL value.
#[derive(Debug, Clone, Copy)]
pub(super) enum Native<'a> {
    /// A value of a document.
    Json(&'a Json),
    /// An object in a document.
    Object(&'a JsonObject),
    /// Any other value, computed by an expression.
    Computed(Value<'a>),
}

impl<'a> Native<'a> {
    /// Converts a CEL value to the Go value behind it: a JSON object becomes the object in its document, a value of unknown type its JSON, a
    /// type its name, and an optional with a value that value. All other values are unchanged.
    pub(super) fn of(value: Value<'a>, arena: &'a Arena) -> Self {
        let value = value.read(arena).unwrap_or(value);
        if let Some((map, _)) = value.as_json_object() {
            return Native::Object(map);
        }
        Native::Computed(match value.kind() {
            ValueKind::Type(name) => Value::from(name),
            ValueKind::Optional(Some(value)) => *value,
            ValueKind::Opaque(opaque) => match opaque.downcast_ref() {
                Some(Preserved { json, .. }) => return Native::Json(json),
                None => value,
            },
            _ => value,
        })
    }

    /// The value without a schema.
    pub(super) fn value(self, arena: &'a Arena) -> Value<'a> {
        match self {
            Native::Json(json) => Value::from(json),
            Native::Object(map) => Value::from(map),
            Native::Computed(value) => value.native(arena),
        }
    }

    /// The JSON object, if the value is one.
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
            Native::Json(Json::Bool(_)) => "bool",
            Native::Json(Json::Number(number)) => match Numeric::from(number) {
                Numeric::Int(_) => "int64",
                Numeric::Double(_) => "float64",
            },
            Native::Json(Json::String(_)) => "string",
            Native::Json(Json::Array(_)) => "[]interface {}",
            Native::Json(Json::Object(_)) | Native::Object(_) => "map[string]interface {}",
            Native::Computed(value) => match value.kind() {
                ValueKind::Null => "structpb.NullValue",
                ValueKind::Bool(_) => "bool",
                ValueKind::Int(_) => "int64",
                ValueKind::Uint(_) => "uint64",
                ValueKind::Double(_) => "float64",
                ValueKind::String(_) => "string",
                ValueKind::Bytes(_) => "[]uint8",
                ValueKind::Duration(_) => "time.Duration",
                ValueKind::Timestamp(_) => "time.Time",
                ValueKind::List(_) if value.holds_values() => "[]ref.Val",
                ValueKind::List(_) => "[]interface {}",
                ValueKind::Map(_) if value.holds_values() => "map[ref.Val]ref.Val",
                ValueKind::Map(_) => "map[string]interface {}",
                ValueKind::Unread(..) => "*errors.errorString",
                ValueKind::Opaque(opaque) if opaque.held_error().is_some() => "*errors.errorString",
                _ => return value.go_type(),
            },
        })
    }

    /// The value as a key of a hash map; `None` for a value that equals nothing, not even itself.
    pub(super) fn key(self) -> Result<Option<NativeKey<'a>>, Unhashable<'a>> {
        let key = match self {
            Native::Json(Json::Null) => NativeKey::Nil,
            Native::Json(Json::Bool(value)) => NativeKey::Bool(*value),
            Native::Json(Json::Number(number)) => match Numeric::from(number) {
                Numeric::Int(int) => NativeKey::Int(int),
                Numeric::Double(double) => return Ok(NativeKey::double(double)),
            },
            Native::Json(Json::String(text)) => NativeKey::Text(text),
            Native::Computed(value) => match value.kind() {
                ValueKind::Null => NativeKey::Null,
                ValueKind::Bool(value) => NativeKey::Bool(value),
                ValueKind::Int(int) => NativeKey::Int(int),
                ValueKind::Uint(uint) => NativeKey::Uint(uint),
                ValueKind::Double(double) => return Ok(NativeKey::double(double)),
                ValueKind::String(text) => NativeKey::Text(text),
                ValueKind::Duration(duration) => NativeKey::Duration(duration.0),
                ValueKind::Timestamp(time) => {
                    NativeKey::Time(time.seconds, time.nanos, time.offset)
                }
                ValueKind::Opaque(_) | ValueKind::Unread(..) => return Ok(None),
                _ => return Err(Unhashable(self)),
            },
            _ => return Err(Unhashable(self)),
        };
        Ok(Some(key))
    }
}

/// A value that Go cannot hash: in Go, hashing it panics.
#[derive(Debug, Clone, Copy)]
pub(super) struct Unhashable<'a>(Native<'a>);

impl Unhashable<'_> {
    /// Upstream's error for looking the value up in a hash map; `in_empty` says whether the map is empty.
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

/// A scalar as a key: its type and value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum NativeKey<'a> {
    Nil,
    /// CEL's null, which differs from Go's nil.
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    /// The bits of a number that is not NaN.
    Double(u64),
    Text(&'a str),
    /// Bytes, which occur only in joined lists of CEL values. Go cannot hash bytes.
    Bytes(&'a [u8]),
    /// A duration in nanoseconds.
    Duration(i64),
    /// The seconds since 1970-01-01T00:00:00Z, the nanoseconds within the second, and the offset from UTC in seconds.
    Time(i64, u32, i32),
    /// The address of an error that a joined list holds in place of a value.
    Error(usize),
}

impl NativeKey<'_> {
    /// The same key with its text in an arena.
    pub(super) fn copied_to(self, arena: &Arena) -> NativeKey<'_> {
        match self {
            NativeKey::Text(text) => NativeKey::Text(arena.bump().alloc_str(text)),
            NativeKey::Bytes(bytes) => NativeKey::Bytes(arena.bump().alloc_slice_copy(bytes)),
            NativeKey::Nil => NativeKey::Nil,
            NativeKey::Null => NativeKey::Null,
            NativeKey::Bool(value) => NativeKey::Bool(value),
            NativeKey::Int(int) => NativeKey::Int(int),
            NativeKey::Uint(uint) => NativeKey::Uint(uint),
            NativeKey::Double(bits) => NativeKey::Double(bits),
            NativeKey::Duration(nanos) => NativeKey::Duration(nanos),
            NativeKey::Time(seconds, nanos, offset) => NativeKey::Time(seconds, nanos, offset),
            NativeKey::Error(address) => NativeKey::Error(address),
        }
    }

    fn double(double: f64) -> Option<Self> {
        // Adding 0.0 turns -0.0 into 0.0, so that both get the same key.
        (!double.is_nan()).then(|| NativeKey::Double((double + 0.0).to_bits()))
    }
}

/// The key of an element in a list of type map.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum MapKey<'a> {
    /// One to three keys.
    Few(SmallVec<[NativeKey<'a>; 3]>),
    /// No key, or more than three keys, as the text that Go prints for them.
    Printed(String),
}

impl<'a> MapKey<'a> {
    /// The key of an element with these key fields; `None` for an element that is not equal to any other.
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

/// Appends a key as Go prints it. Valid keys are scalars. A list or an object is printed as JSON, so that different values stay different.
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

//! Conversions between values and Rust's types.
//!
//! Signed integers are CEL's `int`, and unsigned integers are CEL's `uint`. `None` is `null`.

use std::fmt;

use smol_str::SmolStr;

use super::{
    Duration, Json, JsonObject, List, ListView, Map, MapView, Opaque, Repr, Shape, Timestamp, Value,
};

impl<'a> Value<'a> {
    /// `null`
    pub const NULL: Value<'static> = Value(Repr::Null);

    /// `optional.none()`. [`Arena::some`](super::Arena::some) creates optionals with a value.
    pub const NONE: Value<'static> = Value(Repr::Optional(None));

    /// The type with this name: `int`, `list`, `kubernetes.Quantity`.
    pub const fn type_named(name: &'a str) -> Self {
        Value(Repr::Type(name))
    }

    /// A list provided by a host.
    pub const fn list_view(view: &'a dyn ListView) -> Self {
        Value(Repr::ListView(view))
    }

    /// A map provided by a host.
    pub const fn map_view(view: &'a dyn MapView) -> Self {
        Value(Repr::MapView(view))
    }

    /// A borrowed value of a library's own type. [`Arena::opaque`](super::Arena::opaque) moves a value into an arena instead.
    pub const fn opaque(opaque: &'a dyn Opaque) -> Self {
        Value(Repr::Opaque(opaque))
    }

    /// An array of a JSON document that a host views through a shape.
    pub const fn shaped_list(items: &'a Vec<Json>, shape: &'a Shape) -> Self {
        Value(Repr::ShapedList(items, shape))
    }

    /// An object of a JSON document that a host views through a shape.
    pub const fn shaped_map(map: &'a JsonObject, shape: &'a Shape) -> Self {
        Value(Repr::ShapedMap(map, shape))
    }

    /// JSON of an element or field that is converted to a value later, because the conversion through the shape needs memory or fails.
    pub const fn unread(json: &'a Json, shape: &'a Shape) -> Self {
        Value(Repr::Unread(json, shape))
    }
}

/// The error for a value that does not have the requested Rust type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrongType {
    expected: &'static str,
    found: SmolStr,
}

impl fmt::Display for WrongType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected {}, found {}", self.expected, self.found)
    }
}

impl std::error::Error for WrongType {}

impl WrongType {
    #[cold]
    fn new(expected: &'static str, found: &Value<'_>) -> Self {
        WrongType {
            expected,
            found: found.type_name().into(),
        }
    }
}

/// Implements the conversions between a kind of value and its Rust type.
macro_rules! held {
    ($($type:ty => $variant:ident, $accessor:ident, $name:literal;)*) => {$(
        impl<'a> From<$type> for Value<'a> {
            #[inline]
            fn from(value: $type) -> Self {
                Value(Repr::$variant(value.into()))
            }
        }

        impl<'a> TryFrom<Value<'a>> for $type {
            type Error = WrongType;

            fn try_from(value: Value<'a>) -> Result<Self, WrongType> {
                value.$accessor().ok_or_else(|| WrongType::new($name, &value))
            }
        }
    )*};
}

held! {
    bool => Bool, as_bool, "bool";
    i64 => Int, as_int, "int";
    u64 => Uint, as_uint, "uint";
    f64 => Double, as_double, "double";
    &'a str => String, as_str, "string";
    &'a [u8] => Bytes, as_bytes, "bytes";
    Duration => Duration, as_duration, "duration";
    Timestamp => Timestamp, as_timestamp, "timestamp";
}

/// Implements the conversions between a kind of value and a narrower integer type.
macro_rules! narrower {
    ($($type:ty as $wide:ty => $variant:ident, $accessor:ident, $name:literal;)*) => {$(
        impl From<$type> for Value<'_> {
            #[inline]
            fn from(value: $type) -> Self {
                Value(Repr::$variant(<$wide>::from(value)))
            }
        }

        impl TryFrom<Value<'_>> for $type {
            type Error = WrongType;

            fn try_from(value: Value<'_>) -> Result<Self, WrongType> {
                let narrow = value.$accessor().and_then(|wide| wide.try_into().ok());
                narrow.ok_or_else(|| WrongType::new($name, &value))
            }
        }
    )*};
}

narrower! {
    i8 as i64 => Int, as_int, "int of 8 bits";
    i16 as i64 => Int, as_int, "int of 16 bits";
    i32 as i64 => Int, as_int, "int of 32 bits";
    u8 as u64 => Uint, as_uint, "uint of 8 bits";
    u16 as u64 => Uint, as_uint, "uint of 16 bits";
    u32 as u64 => Uint, as_uint, "uint of 32 bits";
}

impl From<usize> for Value<'_> {
    fn from(value: usize) -> Self {
        // No platform has addresses of more than 64 bits.
        Value(Repr::Uint(u64::try_from(value).unwrap_or(u64::MAX)))
    }
}

impl From<f32> for Value<'_> {
    fn from(value: f32) -> Self {
        Value(Repr::Double(f64::from(value)))
    }
}

impl<'a> From<&'a String> for Value<'a> {
    fn from(text: &'a String) -> Self {
        Value(Repr::String(text))
    }
}

impl<'a> From<&'a SmolStr> for Value<'a> {
    fn from(text: &'a SmolStr) -> Self {
        Value::from(text.as_str())
    }
}

impl<'a, const N: usize> From<&'a [u8; N]> for Value<'a> {
    fn from(bytes: &'a [u8; N]) -> Self {
        Value(Repr::Bytes(bytes))
    }
}

/// A list.
impl<'a> From<&'a [Value<'a>]> for Value<'a> {
    fn from(values: &'a [Value<'a>]) -> Self {
        Value(Repr::List(values))
    }
}

/// A list.
impl<'a> From<&'a Vec<Value<'a>>> for Value<'a> {
    fn from(values: &'a Vec<Value<'a>>) -> Self {
        Value(Repr::List(values))
    }
}

/// A list.
impl<'a, const N: usize> From<&'a [Value<'a>; N]> for Value<'a> {
    fn from(values: &'a [Value<'a>; N]) -> Self {
        Value(Repr::List(values))
    }
}

/// Converts `None` to `null`. For CEL's optionals, use [`Value::NONE`] and [`Arena::some`](super::Arena::some).
impl<'a, T: Into<Value<'a>>> From<Option<T>> for Value<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Value(Repr::Null), T::into)
    }
}

impl<'a> From<&'a JsonObject> for Value<'a> {
    fn from(object: &'a JsonObject) -> Self {
        Value(Repr::JsonMap(object))
    }
}

impl<'a> From<&'a [Json]> for Value<'a> {
    fn from(array: &'a [Json]) -> Self {
        Value(Repr::JsonList(array))
    }
}

impl<'a> TryFrom<Value<'a>> for List<'a> {
    type Error = WrongType;

    fn try_from(value: Value<'a>) -> Result<Self, WrongType> {
        value
            .as_list()
            .ok_or_else(|| WrongType::new("list", &value))
    }
}

impl<'a> TryFrom<Value<'a>> for Map<'a> {
    type Error = WrongType;

    fn try_from(value: Value<'a>) -> Result<Self, WrongType> {
        value.as_map().ok_or_else(|| WrongType::new("map", &value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::Activation;
    use crate::value::Arena;

    #[test]
    fn rust_values_are_bound_and_taken_back() {
        let mut activation = Activation::new();
        activation
            .bind("n", 5)
            .bind("text", "a")
            .bind("absent", None::<bool>)
            .bind("size", 3_usize);
        let value = |name| activation.resolve(name).unwrap();
        assert_eq!(i64::try_from(value("n")), Ok(5));
        assert_eq!(i8::try_from(value("n")), Ok(5));
        assert_eq!(<&str>::try_from(value("text")), Ok("a"));
        assert!(value("absent").is_null());
        assert_eq!(u64::try_from(value("size")), Ok(3));
        let refused = bool::try_from(value("n")).unwrap_err();
        assert_eq!(refused.to_string(), "expected bool, found int");
        assert!(u32::try_from(Value::from(u64::MAX)).is_err());
    }

    #[test]
    fn objects_are_ordered_whatever_their_makers_do() {
        let arena = Arena::new();
        let names = ["b", "a", "c", "b"];
        let fields = names.iter().zip(1_i64..).map(|(name, n)| (*name, n.into()));
        let object = arena.object(fields);
        let map = object.as_map().unwrap();
        assert_eq!(map.len(), 3);
        for (name, expected) in [("a", 2), ("b", 4), ("c", 3)] {
            let found = map.get_str(name).unwrap().unwrap();
            assert_eq!(found.as_int(), Some(expected));
        }
        let array = arena.array([Value::NULL, object]);
        assert_eq!(
            array.to_json().unwrap().to_string(),
            r#"[null,{"a":2,"b":4,"c":3}]"#
        );
    }
}

//! Conversions to Go types, as which messages of protocol buffers store their fields (the `ConvertToNative` methods of cel-go
//! `common/types`).

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::convert::string_from;
use super::{Arena, List, Map, MapBuilder, ObjectKind, Reach, Value, ValueKind};
use crate::error::EvalError;

/// The name of the only message whose struct literal stays a message. Literals of all other messages become values of CEL's own types.
pub(crate) const EMPTY: &str = "google.protobuf.Empty";

/// The largest int that a double represents with all smaller ints.
const MAX_SAFE: u64 = (1 << 53) - 1;

/// A Go type to which values are converted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NativeType {
    /// `bool`
    Bool,
    /// `[]byte`
    Bytes,
    /// `float64`
    Double,
    /// `float32`
    Float,
    /// `int32`
    Int32,
    /// `int64`
    Int64,
    /// The enum `google.protobuf.NullValue`
    Null,
    /// `string`
    String,
    /// `uint32`
    Uint32,
    /// `uint64`
    Uint64,
    /// `google.protobuf.ListValue`
    JsonList,
    /// `google.protobuf.Struct`
    JsonObject,
    /// `google.protobuf.Value`
    Json,
}

impl NativeType {
    /// The name of the type in Go.
    const fn go_name(self) -> &'static str {
        match self {
            NativeType::Bool => "bool",
            NativeType::Bytes => "[]uint8",
            NativeType::Double => "float64",
            NativeType::Float => "float32",
            NativeType::Int32 => "int32",
            NativeType::Int64 => "int64",
            NativeType::Null => "protoreflect.EnumNumber",
            NativeType::String => "string",
            NativeType::Uint32 => "uint32",
            NativeType::Uint64 => "uint64",
            NativeType::JsonList => "*structpb.ListValue",
            NativeType::JsonObject => "*structpb.Struct",
            NativeType::Json => "*structpb.Value",
        }
    }

    /// Converts a value, and returns the value that an expression reads from a field that stores the result. Integers in JSON are doubles.
    ///
    /// # Errors
    ///
    /// Upstream's conversion of the value fails, or the result exceeds the limits of `reach` or of the arena.
    ///
    /// ```
    /// use gavel_engine::value::{Arena, NativeType, Reach, Value};
    ///
    /// let (arena, reach) = (Arena::new(), &mut Reach::default());
    /// let converted = NativeType::Json.convert(Value::from(1), reach, &arena);
    /// assert_eq!(converted.ok().and_then(|value| value.as_double()), Some(1.0));
    /// let error = NativeType::String.convert(Value::from(true), reach, &arena).unwrap_err();
    /// assert_eq!(error.message(), "type conversion error from bool to 'string'");
    /// ```
    pub fn convert<'a>(
        self,
        value: Value<'a>,
        reach: &mut Reach<'_>,
        arena: &'a Arena,
    ) -> Result<Value<'a>, EvalError> {
        let fits = |fits: bool, overflow: &'static str| match fits {
            true => Ok(value),
            false => Err(EvalError::new(overflow)),
        };
        match (self, value.kind()) {
            (_, ValueKind::Optional(held)) => match held {
                Some(held) => self.convert(*held, reach, arena),
                None => Err(EvalError::new("optional.none() dereference")),
            },
            (NativeType::Bool | NativeType::Json, ValueKind::Bool(_))
            | (NativeType::Bytes, ValueKind::Bytes(_))
            | (NativeType::Double | NativeType::Json, ValueKind::Double(_))
            | (NativeType::Int64, ValueKind::Int(_))
            | (NativeType::String | NativeType::Json, ValueKind::String(_))
            | (NativeType::Uint64, ValueKind::Uint(_))
            | (NativeType::Json, ValueKind::Null) => Ok(value),
            (NativeType::Float, ValueKind::Double(double)) => Ok(Value::from(single(double))),
            (NativeType::Int32, ValueKind::Int(int)) => {
                fits(i32::try_from(int).is_ok(), "integer overflow")
            }
            (NativeType::Uint32, ValueKind::Uint(uint)) => {
                fits(u32::try_from(uint).is_ok(), "unsigned integer overflow")
            }
            (NativeType::Null, ValueKind::Int(int)) => {
                fits(i32::try_from(int).is_ok(), "integer overflow").map(|_| Value::NULL)
            }
            (NativeType::Json, ValueKind::Int(int)) if int.unsigned_abs() <= MAX_SAFE => {
                Ok(Value::from(int as f64))
            }
            (NativeType::Json, ValueKind::Uint(uint)) if uint <= MAX_SAFE => {
                Ok(Value::from(uint as f64))
            }
            (
                NativeType::Json,
                ValueKind::Int(_)
                | ValueKind::Uint(_)
                | ValueKind::Duration(_)
                | ValueKind::Timestamp(_),
            ) => string_from(arena, &value).map(Value::from),
            (NativeType::Json, ValueKind::Bytes(bytes)) => {
                arena.reserve(bytes.len().saturating_mul(3))?;
                Ok(arena.string(&STANDARD.encode(bytes)))
            }
            (NativeType::JsonList | NativeType::Json, ValueKind::List(values)) => {
                list(values, reach, arena)
            }
            (NativeType::JsonObject | NativeType::Json, ValueKind::Map(entries)) => {
                map(entries, reach, arena)
            }
            (NativeType::Json, ValueKind::Opaque(opaque)) if opaque.type_name() == EMPTY => {
                Ok(MapBuilder::new().build(arena))
            }
            (NativeType::String, ValueKind::Opaque(opaque))
                if opaque.wrapped_go_type().is_some() =>
            {
                Ok(arena.string(&opaque.to_text()))
            }
            (_, kind) => Err(mismatch(&value, kind, self.go_name())),
        }
    }
}

/// A list whose elements are values of `google.protobuf.Value`.
pub(crate) fn list<'a>(
    values: List<'a>,
    reach: &mut Reach<'_>,
    arena: &'a Arena,
) -> Result<Value<'a>, EvalError> {
    reach.within(values.len(), |reach| {
        arena.reserve(values.len().saturating_mul(size_of::<[Value<'_>; 2]>()))?;
        let mut converted = Vec::with_capacity(values.len());
        for value in values.iter() {
            reach.step(&value)?;
            converted.push(NativeType::Json.convert(value.read(arena)?, reach, arena)?);
        }
        Ok(arena.list(&converted))
    })
}

/// A map whose keys are texts and whose values are values of `google.protobuf.Value`.
pub(crate) fn map<'a>(
    entries: Map<'a>,
    reach: &mut Reach<'_>,
    arena: &'a Arena,
) -> Result<Value<'a>, EvalError> {
    reach.within(entries.len(), |reach| {
        arena.reserve(entries.len().saturating_mul(size_of::<[Value<'_>; 4]>()))?;
        let mut converted = MapBuilder::new();
        for entry in entries.iter() {
            let (key, value) = entry?;
            reach.step(&value)?;
            let key = NativeType::String.convert(key, reach, arena)?;
            let value = NativeType::Json.convert(value.read(arena)?, reach, arena)?;
            converted.insert(key, value);
        }
        Ok(converted.build(arena))
    })
}

/// Upstream's error for a value that cannot be converted to the Go type `to`.
fn mismatch(value: &Value<'_>, kind: ValueKind<'_>, to: &str) -> EvalError {
    let from = match kind {
        ValueKind::Int(_) | ValueKind::Uint(_) => {
            let name = value.type_name();
            return EvalError::new(format!("unsupported type conversion from '{name}' to {to}"));
        }
        ValueKind::String(_) => {
            let message = format!("unsupported native conversion from string to '{to}'");
            return EvalError::new(message);
        }
        ValueKind::Type(_) => return EvalError::new("type conversion not supported for 'type'"),
        ValueKind::Bool(_) => "bool".to_owned(),
        ValueKind::Bytes(_) => "Bytes".to_owned(),
        ValueKind::Double(_) => "Double".to_owned(),
        ValueKind::List(_) => "list".to_owned(),
        ValueKind::Map(_) => "map".to_owned(),
        ValueKind::Object(object) => {
            return EvalError::new(match object.kind() {
                ObjectKind::Open => format!("unable to convert to {to}"),
                ObjectKind::Record { .. } => format!("cannot convert to native type: {to}"),
            });
        }
        ValueKind::Opaque(opaque) => format!("'{}'", opaque.conversion_name()),
        _ => {
            let name = value.type_name();
            format!("'{}'", name.rsplit('.').next().unwrap_or(name))
        }
    };
    EvalError::new(format!("type conversion error from {from} to '{to}'"))
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the field is a single-precision number"
)]
fn single(double: f64) -> f32 {
    double as f32
}

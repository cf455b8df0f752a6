//! Values of the fields of messages of protocol buffers (the `ConvertToNative` methods of cel-go `common/types`).

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::error::EvalError;
use crate::value::convert::string_from;
use crate::value::{Arena, List, Map, MapBuilder, Reach, Value, ValueKind};

/// The name of the only message whose struct literal stays a message. Literals of all other messages become values of CEL's own types.
pub(super) const EMPTY: &str = "google.protobuf.Empty";

/// The largest int that a double represents with all smaller ints.
const MAX_SAFE: u64 = (1 << 53) - 1;

/// The type of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FieldType {
    Bool,
    Bytes,
    Double,
    Float,
    Int32,
    Int64,
    Null,
    String,
    Uint32,
    Uint64,
    /// `google.protobuf.ListValue`
    JsonList,
    /// `google.protobuf.Struct`
    JsonObject,
    /// `google.protobuf.Value`
    Json,
}

impl FieldType {
    /// The name of the type in Go.
    const fn go_name(self) -> &'static str {
        match self {
            FieldType::Bool => "bool",
            FieldType::Bytes => "[]uint8",
            FieldType::Double => "float64",
            FieldType::Float => "float32",
            FieldType::Int32 => "int32",
            FieldType::Int64 => "int64",
            FieldType::Null => "protoreflect.EnumNumber",
            FieldType::String => "string",
            FieldType::Uint32 => "uint32",
            FieldType::Uint64 => "uint64",
            FieldType::JsonList => "*structpb.ListValue",
            FieldType::JsonObject => "*structpb.Struct",
            FieldType::Json => "*structpb.Value",
        }
    }

    /// The value that the field stores for `value`.
    pub(super) fn convert<'a>(
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
            (FieldType::Bool | FieldType::Json, ValueKind::Bool(_))
            | (FieldType::Bytes, ValueKind::Bytes(_))
            | (FieldType::Double | FieldType::Json, ValueKind::Double(_))
            | (FieldType::Int64, ValueKind::Int(_))
            | (FieldType::String | FieldType::Json, ValueKind::String(_))
            | (FieldType::Uint64, ValueKind::Uint(_))
            | (FieldType::Json, ValueKind::Null) => Ok(value),
            (FieldType::Float, ValueKind::Double(double)) => Ok(Value::from(single(double))),
            (FieldType::Int32, ValueKind::Int(int)) => {
                fits(i32::try_from(int).is_ok(), "integer overflow")
            }
            (FieldType::Uint32, ValueKind::Uint(uint)) => {
                fits(u32::try_from(uint).is_ok(), "unsigned integer overflow")
            }
            (FieldType::Null, ValueKind::Int(int)) => {
                fits(i32::try_from(int).is_ok(), "integer overflow").map(|_| Value::NULL)
            }
            (FieldType::Json, ValueKind::Int(int)) if int.unsigned_abs() <= MAX_SAFE => {
                Ok(Value::from(int as f64))
            }
            (FieldType::Json, ValueKind::Uint(uint)) if uint <= MAX_SAFE => {
                Ok(Value::from(uint as f64))
            }
            (
                FieldType::Json,
                ValueKind::Int(_)
                | ValueKind::Uint(_)
                | ValueKind::Duration(_)
                | ValueKind::Timestamp(_),
            ) => string_from(arena, &value).map(Value::from),
            (FieldType::Json, ValueKind::Bytes(bytes)) => {
                arena.reserve(bytes.len().saturating_mul(3))?;
                Ok(arena.string(&STANDARD.encode(bytes)))
            }
            (FieldType::JsonList | FieldType::Json, ValueKind::List(values)) => {
                list(values, reach, arena)
            }
            (FieldType::JsonObject | FieldType::Json, ValueKind::Map(entries)) => {
                map(entries, reach, arena)
            }
            (FieldType::Json, ValueKind::Opaque(opaque)) if opaque.type_name() == EMPTY => {
                Ok(MapBuilder::new().build(arena))
            }
            (_, kind) => Err(mismatch(&value, kind, self.go_name())),
        }
    }
}

/// A list whose elements are values of `google.protobuf.Value`.
pub(super) fn list<'a>(
    values: List<'a>,
    reach: &mut Reach<'_>,
    arena: &'a Arena,
) -> Result<Value<'a>, EvalError> {
    reach.within(values.len(), |reach| {
        arena.reserve(values.len().saturating_mul(size_of::<[Value<'_>; 2]>()))?;
        let mut converted = Vec::with_capacity(values.len());
        for value in values.iter() {
            reach.step(&value)?;
            converted.push(FieldType::Json.convert(value.read(arena)?, reach, arena)?);
        }
        Ok(arena.list(&converted))
    })
}

/// A map whose keys are texts and whose values are values of `google.protobuf.Value`.
pub(super) fn map<'a>(
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
            let key = FieldType::String.convert(key, reach, arena)?;
            let value = FieldType::Json.convert(value.read(arena)?, reach, arena)?;
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
        // The last part of the name, such as `Quantity`.
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

//! Struct literals of types that the language defines, such as `google.protobuf.Int64Value{value: 1}`.

use std::borrow::Cow;

use crate::error::EvalError;
use crate::value::{Arena, Duration, List, MapBuilder, Opaque, Timestamp, Value};

/// The name of the only message whose struct literal stays a message. Literals of all other messages become values of CEL's own types.
pub(super) const EMPTY: &str = "google.protobuf.Empty";

type Fields<'f, 'a> = &'f [(&'a str, Value<'a>)];

/// Whether the language allows struct literals of the type `name`.
pub(super) fn is_known(name: &str) -> bool {
    matches!(
        name,
        "google.protobuf.BoolValue"
            | "google.protobuf.BytesValue"
            | "google.protobuf.DoubleValue"
            | "google.protobuf.FloatValue"
            | "google.protobuf.Int32Value"
            | "google.protobuf.Int64Value"
            | "google.protobuf.StringValue"
            | "google.protobuf.UInt32Value"
            | "google.protobuf.UInt64Value"
            | "google.protobuf.Duration"
            | "google.protobuf.Timestamp"
            | "google.protobuf.ListValue"
            | "google.protobuf.Struct"
            | "google.protobuf.Value"
            | EMPTY
    )
}

/// The value of a struct literal.
pub(super) fn build<'a>(
    name: &str,
    fields: Fields<'_, 'a>,
    arena: &'a Arena,
) -> Result<Value<'a>, EvalError> {
    let value = || field(fields, "value");
    match name {
        "google.protobuf.BoolValue" => Ok(value().unwrap_or(Value::from(false))),
        "google.protobuf.BytesValue" => Ok(value().unwrap_or(Value::from(b""))),
        "google.protobuf.DoubleValue" => Ok(value().unwrap_or(Value::from(0.0))),
        "google.protobuf.FloatValue" => Ok(single(value().unwrap_or(Value::from(0.0)))),
        "google.protobuf.Int64Value" => Ok(value().unwrap_or(Value::from(0))),
        "google.protobuf.Int32Value" => {
            let value = value().unwrap_or(Value::from(0));
            match value.as_int().map(i32::try_from) {
                Some(Err(_)) => Err(EvalError::new("integer overflow")),
                _ => Ok(value),
            }
        }
        "google.protobuf.StringValue" => Ok(value().unwrap_or(Value::from(""))),
        "google.protobuf.UInt64Value" => Ok(value().unwrap_or(Value::from(0_u64))),
        "google.protobuf.UInt32Value" => {
            let value = value().unwrap_or(Value::from(0_u64));
            match value.as_uint().map(u32::try_from) {
                Some(Err(_)) => Err(EvalError::new("unsigned integer overflow")),
                _ => Ok(value),
            }
        }
        "google.protobuf.ListValue" => {
            Ok(field(fields, "values").unwrap_or(Value::from(List::EMPTY)))
        }
        "google.protobuf.Struct" => {
            Ok(field(fields, "fields").unwrap_or_else(|| MapBuilder::new().build(arena)))
        }
        "google.protobuf.Value" => {
            Ok(fields
                .last()
                .map_or(Value::NULL, |(name, value)| match *name {
                    "null_value" => Value::NULL,
                    _ => *value,
                }))
        }
        "google.protobuf.Duration" => {
            let (seconds, nanos) = seconds_and_nanos(fields);
            let total = seconds
                .checked_mul(1_000_000_000)
                .and_then(|total| total.checked_add(nanos));
            total
                .map(|nanos| Value::from(Duration(nanos)))
                .ok_or_else(|| EvalError::new("integer overflow"))
        }
        "google.protobuf.Timestamp" => {
            let (seconds, nanos) = seconds_and_nanos(fields);
            let in_range = (Timestamp::MIN_SECONDS..=Timestamp::MAX_SECONDS).contains(&seconds);
            match u32::try_from(nanos) {
                Ok(nanos) if in_range && nanos < 1_000_000_000 => Ok(Value::from(Timestamp {
                    seconds,
                    nanos,
                    offset: 0,
                })),
                _ => Err(EvalError::new("timestamp overflow")),
            }
        }
        EMPTY => Ok(Value::opaque(&Empty)),
        _ => Err(EvalError::new(format!("unknown type '{name}'"))),
    }
}

/// The value of `google.protobuf.Empty{}`.
#[derive(Debug, Clone, Copy)]
struct Empty;

impl Opaque for Empty {
    fn type_name(&self) -> &'static str {
        EMPTY
    }

    fn go_type(&self) -> Cow<'static, str> {
        Cow::Borrowed("*types.protoObj")
    }

    fn equals(&self, other: &Value<'_>) -> Result<bool, EvalError> {
        Ok(other.type_name() == EMPTY)
    }

    fn find(&self, key: &Value<'_>) -> Result<Option<Value<'_>>, EvalError> {
        Err(match key.as_str() {
            Some(name) => EvalError::new(format!("no such field '{name}'")),
            _ => EvalError::no_such_overload(),
        })
    }

    fn is_zero(&self) -> bool {
        true
    }

    fn to_text(&self) -> Cow<'_, str> {
        Cow::Borrowed("")
    }
}

fn field<'a>(fields: Fields<'_, 'a>, name: &str) -> Option<Value<'a>> {
    fields
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, value)| *value)
}

fn seconds_and_nanos(fields: Fields<'_, '_>) -> (i64, i64) {
    let int = |name| {
        let value = field(fields, name);
        value.and_then(|value| value.as_int()).unwrap_or(0)
    };
    (int("seconds"), int("nanos"))
}

/// Rounds a double to single precision. Returns other values unchanged.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the field is a single-precision number"
)]
fn single(value: Value<'_>) -> Value<'_> {
    value
        .as_double()
        .map_or(value, |double| Value::from(double as f32))
}

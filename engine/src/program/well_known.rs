//! Struct literals of types that the language defines, such as `google.protobuf.Int64Value{value: 1}`.

use std::borrow::Cow;

use gavel_golang::work::Work;
use smallvec::SmallVec;

use crate::error::EvalError;
pub(super) use crate::value::native::EMPTY;
use crate::value::native::{self, NativeType};
use crate::value::{Arena, Duration, List, MapBuilder, Opaque, Reach, Timestamp, Value};

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
    fields: &[(&'a str, Value<'a>)],
    arena: &'a Arena,
    work: &Work<'_>,
) -> Result<Value<'a>, EvalError> {
    if !is_known(name) {
        return Err(EvalError::new(format!("unknown type '{name}'")));
    }
    let mut converted = SmallVec::<[_; 2]>::new();
    for (field, value) in fields {
        converted.push((*field, convert(name, field, *value, arena, work)?));
    }
    let fields = converted.as_slice();
    let value = |default| Ok(fields.last().map_or(default, |(_, value)| *value));
    match name {
        "google.protobuf.BoolValue" => value(Value::from(false)),
        "google.protobuf.BytesValue" => value(Value::from(b"")),
        "google.protobuf.DoubleValue" | "google.protobuf.FloatValue" => value(Value::from(0.0)),
        "google.protobuf.Int64Value" | "google.protobuf.Int32Value" => value(Value::from(0)),
        "google.protobuf.StringValue" => value(Value::from("")),
        "google.protobuf.UInt64Value" | "google.protobuf.UInt32Value" => value(Value::from(0_u64)),
        "google.protobuf.ListValue" => value(Value::from(List::EMPTY)),
        "google.protobuf.Struct" => value(MapBuilder::new().build(arena)),
        "google.protobuf.Value" => value(Value::NULL),
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
        _ => Ok(Value::opaque(&Empty)),
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

fn field<'a>(fields: &[(&'a str, Value<'a>)], name: &str) -> Option<Value<'a>> {
    fields
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, value)| *value)
}

fn seconds_and_nanos(fields: &[(&str, Value<'_>)]) -> (i64, i64) {
    let int = |name| {
        let value = field(fields, name);
        value.and_then(|value| value.as_int()).unwrap_or(0)
    };
    (int("seconds"), int("nanos"))
}

/// The value that the field `field` of the message `message` stores for `value`.
fn convert<'a>(
    message: &str,
    field: &str,
    value: Value<'a>,
    arena: &'a Arena,
    work: &Work<'_>,
) -> Result<Value<'a>, EvalError> {
    let reach = &mut Reach::new(work);
    let converted = match field_type(message, field) {
        Some(field_type) => field_type.convert(value, reach, arena),
        None => match (field, value.as_list(), value.as_map()) {
            ("values", Some(values), _) => native::list(values, reach, arena),
            ("fields", _, Some(entries)) => native::map(entries, reach, arena),
            _ => {
                let found = match value.type_name() {
                    "list" => "list(dyn)",
                    "map" => "map(dyn, dyn)",
                    name => name,
                };
                return Err(EvalError::new(format!(
                    "unsupported field type for {message}.{field}: {found}"
                )));
            }
        },
    };
    converted.map_err(|error| match error.is_fatal() {
        true => error,
        false => EvalError::new(format!(
            "field type conversion error for {message}.{field} value type: {error}"
        )),
    })
}

/// The type of a field; `None` for the only field of `ListValue` and of `Struct`.
fn field_type(message: &str, field: &str) -> Option<NativeType> {
    Some(match (message, field) {
        ("google.protobuf.BoolValue", _) | (_, "bool_value") => NativeType::Bool,
        ("google.protobuf.BytesValue", _) => NativeType::Bytes,
        ("google.protobuf.DoubleValue", _) | (_, "number_value") => NativeType::Double,
        ("google.protobuf.FloatValue", _) => NativeType::Float,
        ("google.protobuf.Int64Value", _) | (_, "seconds") => NativeType::Int64,
        ("google.protobuf.Int32Value", _) | (_, "nanos") => NativeType::Int32,
        ("google.protobuf.StringValue", _) | (_, "string_value") => NativeType::String,
        ("google.protobuf.UInt64Value", _) => NativeType::Uint64,
        ("google.protobuf.UInt32Value", _) => NativeType::Uint32,
        (_, "list_value") => NativeType::JsonList,
        (_, "struct_value") => NativeType::JsonObject,
        (_, "null_value") => NativeType::Null,
        _ => return None,
    })
}

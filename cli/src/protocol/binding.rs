//! What is bound to a variable: JSON, read as the variable's type says.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use gavel_engine::golang::{duration, float, integer, time::OffsetTime};
use gavel_engine::types::Type;
use gavel_engine::value::{Arena, Duration, Json, MapBuilder, Timestamp, Value};

use super::request::{RequestError, kind};

/// The value that `json` stands for as a value of type `ty`.
///
/// What is `dyn` is viewed in place, everything else lives in the arena. An element that does not fit is named by its
/// place.
pub(crate) fn bind<'a>(
    ty: &Type,
    json: &'a Json,
    arena: &'a Arena,
) -> Result<Value<'a>, RequestError> {
    match (ty, json) {
        (Type::Dyn | Type::Any, _) => Ok(Value::from(json)),
        (Type::Null, _) => Ok(Value::Null),
        (Type::Bool, Json::Bool(b)) => Ok(Value::Bool(*b)),
        (Type::Int | Type::Uint | Type::Double, Json::Number(number)) => {
            from_number(ty, number).ok_or_else(|| unfit(ty, json))
        }
        (Type::String, Json::String(text)) => Ok(Value::String(text)),
        (
            Type::Int | Type::Uint | Type::Double | Type::Bytes | Type::Timestamp | Type::Duration,
            Json::String(text),
        ) => from_text(ty, text, arena).ok_or_else(|| unfit(ty, json)),
        // As in Go, a list or map may be nil.
        (Type::List(_) | Type::Map(_), Json::Null) => Ok(Value::Null),
        (Type::List(element), Json::Array(items)) => bind_list(element, items, arena),
        (Type::Map(entry), Json::Array(pairs)) => bind_pairs(&entry.0, &entry.1, pairs, arena),
        (Type::Map(entry), Json::Object(object)) => {
            let mut map = MapBuilder::new();
            for (key, value) in object {
                let within = |error: RequestError| error.within(&format!("[{key:?}]"));
                let bound = bind(&entry.1, value, arena).map_err(within)?;
                let key = from_text(&entry.0, key, arena)
                    .ok_or_else(|| unfit(&entry.0, &Json::from(key.as_str())))?;
                map.insert(key, bound);
            }
            Ok(map.build(arena))
        }
        _ => match ty.as_optional() {
            Some(inner) => bind_optional(inner, json, arena),
            None => Err(unfit(ty, json)),
        },
    }
}

fn bind_list<'a>(
    element: &Type,
    items: &'a [Json],
    arena: &'a Arena,
) -> Result<Value<'a>, RequestError> {
    let mut values = Vec::with_capacity(items.len());
    for (n, item) in items.iter().enumerate() {
        values.push(bind(element, item, arena).map_err(|error| error.within(&format!("[{n}]")))?);
    }
    Ok(arena.list(&values))
}

fn bind_pairs<'a>(
    key_type: &Type,
    value_type: &Type,
    pairs: &'a [Json],
    arena: &'a Arena,
) -> Result<Value<'a>, RequestError> {
    let mut map = MapBuilder::new();
    for (n, pair) in pairs.iter().enumerate() {
        let within = |error: RequestError| error.within(&format!("[{n}]"));
        let Some([key, value]) = pair.as_array().map(Vec::as_slice) else {
            let message = format!("must be a pair [key, value], not {}", kind(pair));
            return Err(within(RequestError(message)));
        };
        let key = bind(key_type, key, arena).map_err(within)?;
        map.insert(key, bind(value_type, value, arena).map_err(within)?);
    }
    Ok(map.build(arena))
}

fn bind_optional<'a>(
    inner: &Type,
    json: &'a Json,
    arena: &'a Arena,
) -> Result<Value<'a>, RequestError> {
    let some = match json {
        Json::Null => return Ok(Value::Optional(None)),
        Json::Object(object) => object.get("$some").unwrap_or(json),
        _ => json,
    };
    Ok(arena.some(bind(inner, some, arena)?))
}

fn from_number(ty: &Type, number: &serde_json::Number) -> Option<Value<'static>> {
    match ty {
        Type::Int => number.as_i64().map(Value::Int),
        Type::Uint => number.as_u64().map(Value::Uint),
        _ => number.as_f64().map(Value::Double),
    }
}

/// The value of a scalar type that a text stands for; so keys of objects are read, too.
fn from_text<'a>(ty: &Type, text: &'a str, arena: &'a Arena) -> Option<Value<'a>> {
    Some(match ty {
        Type::Dyn | Type::Any | Type::String => Value::String(text),
        Type::Null => Value::Null,
        Type::Bool => Value::Bool(text.parse().ok()?),
        Type::Int => Value::Int(integer::parse_int(text)?),
        Type::Uint => Value::Uint(integer::parse_uint(text)?),
        Type::Double => Value::Double(float::parse(text)?),
        Type::Bytes => arena.bytes(&STANDARD.decode(text).ok()?),
        Type::Duration => Value::Duration(Duration(duration::parse(text)?)),
        Type::Timestamp => Value::Timestamp(timestamp(OffsetTime::parse(text)?)),
        _ => return None,
    })
}

fn timestamp(time: OffsetTime) -> Timestamp {
    Timestamp {
        seconds: time.unix_seconds,
        nanos: time.nanos,
        offset: time.offset_seconds,
    }
}

fn unfit(ty: &Type, json: &Json) -> RequestError {
    let must = match ty {
        Type::Bool => "true or false",
        Type::Int => "a whole number from -2^63 to 2^63 - 1, or its decimal text",
        Type::Uint => "a whole number from 0 to 2^64 - 1, or its decimal text",
        Type::Double => "a number, or \"NaN\", \"Infinity\" or \"-Infinity\"",
        Type::String => "a string",
        Type::Bytes => "a string in base64",
        Type::Timestamp => "a string such as \"2026-01-31T12:00:00Z\" (RFC 3339)",
        Type::Duration => "a string such as \"1h30m\" or \"1.5s\"",
        Type::List(_) => "a list",
        Type::Map(_) => "an object or a list of pairs [key, value]",
        _ => "of a type that has values in JSON",
    };
    RequestError(format!("must be {must}, not {}", kind(json)))
}

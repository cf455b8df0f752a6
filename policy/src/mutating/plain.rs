//! Converts results of expressions to plain data (apiserver `pkg/cel/mutation/dynamic/objects.go`, cel-go's conversions to
//! `structpb.Value`).

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use gavel_apimachinery::json::double_to_int;
use gavel_engine::error::EvalError;
use gavel_engine::value::{
    Arena, HostTypes, Json, JsonObject, List, Map, NativeType, Object, Reach, Value, ValueKind,
};
use gavel_golang::float;
use gavel_golang::quote::quote;
use gavel_schema::merge::{Foreign, Plain};

use super::go_text;
use crate::cel::{JSON_PATCH, VARIABLES};
use crate::go_values::GoValues;

type Converted<T> = Result<T, String>;

/// Whether a value is the result of `list + list`. Kubernetes does not check the type names of its elements, and converts the elements.
fn is_joined(value: &Value<'_>) -> bool {
    value.go_type() == "*types.concatList"
}

/// Checks the type names of an object and its nested objects. The type name of a nested object must be the path of its field, such as
/// `Object.spec`.
pub(super) fn check_type_names(root: &Object<'_>) -> Converted<()> {
    let mut faults = Vec::new();
    let mut path = root.type_name().to_owned();
    check_fields(root, &mut path, &mut faults, &mut Reach::default())
        .map_err(|error| error.to_string())?;
    match faults.is_empty() {
        true => Ok(()),
        false => Err(format!("type mismatch: {}", faults.join("\n"))),
    }
}

fn check_fields(
    object: &Object<'_>,
    path: &mut String,
    faults: &mut Vec<String>,
    reach: &mut Reach<'_>,
) -> Result<(), EvalError> {
    reach.within(object.fields().len(), |reach| {
        let length = path.len();
        for (name, value) in object.fields() {
            path.push('.');
            path.push_str(name);
            check_value(*value, path, faults, reach)?;
            path.truncate(length);
        }
        Ok(())
    })
}

fn check_value(
    value: Value<'_>,
    path: &mut String,
    faults: &mut Vec<String>,
    reach: &mut Reach<'_>,
) -> Result<(), EvalError> {
    match value.kind() {
        ValueKind::Object(object) if object.type_name() == JSON_PATCH => Ok(()),
        ValueKind::Object(object) => {
            let (found, expected) = (object.type_name(), path.as_str());
            if found != expected {
                faults.push(format!(
                    "unexpected type name {}, expected {}, which matches field name path from root Object type",
                    quote(found),
                    quote(expected)
                ));
            }
            check_fields(object, path, faults, reach)
        }
        ValueKind::List(_) if is_joined(&value) => Ok(()),
        ValueKind::List(list) if !value.is_of_document() => reach.within(list.len(), |reach| {
            let mut items = list.iter();
            items.try_for_each(|item| check_value(item, path, faults, reach))
        }),
        ValueKind::Map(map) if !value.is_of_document() => reach.within(map.len(), |reach| {
            for entry in map.iter() {
                check_value(entry?.1, path, faults, reach)?;
            }
            Ok(())
        }),
        _ => Ok(()),
    }
}

/// The fields of an apply configuration as plain data; `None` if Go cannot convert a field, for example a map with an integer key.
pub(super) fn configuration(
    object: &Object<'_>,
    go_values: Option<&GoValues<'_>>,
) -> Converted<Option<BTreeMap<String, Plain>>> {
    let fields = object_fields(object, go_values, &mut Reach::default());
    match fields.map_err(|error| error.to_string())? {
        Ok(fields) => Ok(Some(fields)),
        Err(_) => Ok(None),
    }
}

/// The result of converting a value. The outer error means that the value could not be read; the inner error is the message with which Go's
/// conversion fails.
type Walked<T> = Result<Result<T, String>, EvalError>;

fn object_fields(
    object: &Object<'_>,
    go_values: Option<&GoValues<'_>>,
    reach: &mut Reach<'_>,
) -> Walked<BTreeMap<String, Plain>> {
    reach.within(object.fields().len(), |reach| {
        let mut fields = BTreeMap::new();
        for (name, value) in object.fields() {
            let converted = match field(*value, go_values, reach)? {
                Ok(value) => value,
                Err(error) => {
                    let name = quote(name);
                    return Ok(Err(format!("fail to convert field {name}: {error}")));
                }
            };
            fields.insert((*name).to_owned(), converted);
        }
        Ok(Ok(fields))
    })
}

/// Converts the value of a field, including the elements of a computed list or map. A computed list or map among these elements becomes
/// `Plain::Foreign`, unless it is a joined list. Since 1.37, which has Go values, joined lists and the lists and maps of a document are
/// converted in the same way, and also those within them.
fn field(
    value: Value<'_>,
    go_values: Option<&GoValues<'_>>,
    reach: &mut Reach<'_>,
) -> Walked<Plain> {
    let is_converted = value.is_of_document() || is_joined(&value);
    if is_converted && go_values.is_none() {
        return native(value, go_values, reach).map(Ok);
    }
    let element = |value, reach: &mut Reach<'_>| match is_converted {
        true => field(value, go_values, reach),
        false => native(value, go_values, reach).map(Ok),
    };
    match value.kind() {
        ValueKind::Optional(Some(held)) => reach.within(1, |reach| field(*held, go_values, reach)),
        ValueKind::List(list) if list.is_empty() => Ok(Ok(Plain::NilList)),
        ValueKind::List(list) => reach.within(list.len(), |reach| {
            let items = list.iter().map(|item| element(item, reach));
            let items: Vec<Result<Plain, String>> = items.collect::<Result<_, _>>()?;
            Ok(items.into_iter().collect::<Result<_, _>>().map(Plain::List))
        }),
        ValueKind::Map(map) => reach.within(map.len(), |reach| {
            let mut fields = BTreeMap::new();
            for entry in map.iter() {
                let (key, value) = entry?;
                let Some(name) = key.native_text() else {
                    return Ok(Err(wrong_key(key)));
                };
                match element(value, reach)? {
                    Ok(value) => fields.insert(name.to_owned(), value),
                    Err(error) => return Ok(Err(error)),
                };
            }
            Ok(Ok(Plain::Map(fields)))
        }),
        _ => native(value, go_values, reach).map(Ok),
    }
}

fn wrong_key(key: Value<'_>) -> String {
    let shown = match key.kind() {
        ValueKind::Int(int) => format!("'{}'", rune(int)),
        ValueKind::Uint(uint) => format!("'{}'", rune(i64::try_from(uint).unwrap_or(-1))),
        ValueKind::Null => r"'\x00'".to_owned(),
        ValueKind::Bool(value) => format!("%!q(types.Bool={value})"),
        ValueKind::Double(value) => {
            format!("%!q(types.Double={})", float::format_shortest(value))
        }
        _ => quote(key.in_message().to_string()),
    };
    format!("map key {shown} is of type {}, not string", key.go_type())
}

/// A code point as Go's `%q` prints it, without its quotes.
fn rune(code: i64) -> String {
    let found = u32::try_from(code).ok().and_then(char::from_u32);
    let quoted = quote(found.unwrap_or(char::REPLACEMENT_CHARACTER).to_string());
    let inner = quoted.trim_matches('"');
    match found {
        Some('\'') => "\\'".to_owned(),
        Some('"') => "\"".to_owned(),
        _ => inner.to_owned(),
    }
}

/// Converts a CEL value to the Go value that `ref.Val.Value()` returns.
fn native(
    value: Value<'_>,
    go_values: Option<&GoValues<'_>>,
    reach: &mut Reach<'_>,
) -> Result<Plain, EvalError> {
    // The text and the source of a value repeat its contents, so the contents count even if other values share them.
    if !value.is_of_document() {
        reach.walk(&value)?;
    }
    let foreign = |text: String, source: String, json: Option<Json>| {
        Plain::Foreign(Box::new(Foreign {
            go_type: value.native_go_type().into_owned(),
            text,
            source,
            json,
        }))
    };
    let shown = || value.in_message().to_string();
    let is_go = go_values.is_some_and(|values| values.go_type(&value).is_some());
    let is_foreign = is_go || !value.is_of_document();
    Ok(match value.kind() {
        ValueKind::Bool(value) => Plain::Bool(value),
        ValueKind::Int(value) => Plain::Int(value),
        ValueKind::Double(value) => Plain::Double(value),
        ValueKind::String(text) | ValueKind::Type(text) => Plain::String(text.to_owned()),
        ValueKind::Null => foreign("NULL_VALUE".to_owned(), "0".to_owned(), None),
        ValueKind::Uint(uint) => {
            let json = number(uint_as_double(uint), "Struct").ok();
            foreign(uint.to_string(), format!("0x{uint:x}"), json)
        }
        ValueKind::Bytes(bytes) => {
            let source = format!("[]uint8{{{}}}", go_text::bytes_source(bytes));
            foreign(shown(), source, Some(STANDARD.encode(bytes).into()))
        }
        ValueKind::Duration(span) => foreign(shown(), span.0.to_string(), None),
        ValueKind::Timestamp(time) => foreign(shown(), go_text::time_source(time), None),
        ValueKind::Optional(Some(held)) => native(*held, go_values, reach)?,
        ValueKind::Optional(None) => Plain::Null,
        ValueKind::Object(object) if object.type_name() != JSON_PATCH => {
            match object_fields(object, go_values, reach)? {
                Ok(fields) => Plain::Map(fields),
                Err(error) => Plain::Foreign(Box::new(Foreign {
                    go_type: "*types.Err".to_owned(),
                    text: error.clone(),
                    source: error,
                    json: None,
                })),
            }
        }
        ValueKind::List(list) if is_joined(&value) => reach.within(list.len(), |reach| {
            let items = list.iter().map(|item| native(item, go_values, reach));
            Ok(Plain::List(items.collect::<Result<_, _>>()?))
        })?,
        ValueKind::List(list) if is_foreign => {
            foreign(go_text::list(list), go_text::list_source(list), None)
        }
        ValueKind::Map(map) if is_foreign => {
            foreign(go_text::map(map)?, go_text::map_source(map)?, None)
        }
        ValueKind::List(_) | ValueKind::Map(_) => document(value, reach)?,
        _ => foreign(shown(), shown(), None),
    })
}

/// Converts an object of a request to plain data.
pub(super) fn object(value: Value<'_>) -> Converted<Plain> {
    document(value, &mut Reach::default()).map_err(|error| error.to_string())
}

/// Converts a value of a document to plain data.
fn document(value: Value<'_>, reach: &mut Reach<'_>) -> Result<Plain, EvalError> {
    match value.kind() {
        ValueKind::Null => Ok(Plain::Null),
        ValueKind::List(list) => reach.within(list.len(), |reach| {
            let items = list.iter().map(|item| document(item, reach));
            Ok(Plain::List(items.collect::<Result<_, _>>()?))
        }),
        ValueKind::Map(map) => reach.within(map.len(), |reach| {
            let mut fields = BTreeMap::new();
            for entry in map.iter() {
                let (key, value) = entry?;
                let name = key.as_str().unwrap_or_default();
                fields.insert(name.to_owned(), document(value, reach)?);
            }
            Ok(Plain::Map(fields))
        }),
        _ => native(value, None, reach),
    }
}

/// Converts the value of a JSON patch operation to JSON, as cel-go does through `structpb.Value`. All values of a patch share the limits of
/// `reach`.
pub(super) fn json(
    value: Value<'_>,
    go_values: Option<&GoValues<'_>>,
    reach: &mut Reach<'_>,
) -> Converted<Json> {
    walk_json(value, go_values, reach)
        .map_err(|error| error.to_string())?
        .map_err(|error| {
            format!("JSONPath valueExpression evaluated to a type that could not marshal to JSON: {error}")
        })
}

/// Converts a value. `go_values` are the Go values, or `None` if the value is in a part of a document that contains none.
fn walk_json(
    value: Value<'_>,
    go_values: Option<&GoValues<'_>>,
    reach: &mut Reach<'_>,
) -> Walked<Json> {
    reach.step(&value)?;
    if let Some(error) = go_values.and_then(|values| values.conversion_error(value)) {
        return Ok(Err(error));
    }
    let go_values = go_values.filter(|_| !value.is_of_document());
    match value.kind() {
        ValueKind::Optional(Some(held)) => {
            reach.within(1, |reach| walk_json(*held, go_values, reach))
        }
        ValueKind::Object(object) if object.type_name() != JSON_PATCH => {
            struct_of(object, go_values, reach)
        }
        ValueKind::List(list) => json_list(list, go_values, reach),
        ValueKind::Map(_) if value.type_name() == VARIABLES => Ok(Err(format!(
            "disallowed conversion from {} to \"\"",
            quote(VARIABLES)
        ))),
        ValueKind::Map(map) => json_map(map, go_values, reach),
        _ => scalar(value, reach),
    }
}

/// Converts a value that is no object, list or map.
fn scalar(value: Value<'_>, reach: &mut Reach<'_>) -> Walked<Json> {
    reach.walk(&value)?;
    let arena = Arena::new();
    let converted = match NativeType::Json.convert(value, reach, &arena) {
        Err(error) if error.is_fatal() => return Err(error),
        Err(error) => return Ok(Err(error.message().to_owned())),
        Ok(value) => value,
    };
    Ok(match converted.as_double() {
        Some(double) => number(double, "Value"),
        None => Ok(converted.to_json().unwrap_or_default()),
    })
}

/// Converts an object to JSON as Go's `structpb` does: integers become doubles.
fn struct_of(
    object: &Object<'_>,
    go_values: Option<&GoValues<'_>>,
    reach: &mut Reach<'_>,
) -> Walked<Json> {
    let fields = object_fields(object, go_values, reach)?;
    Ok(fields.and_then(|fields| struct_json(Plain::Map(fields))))
}

// Recursion is bounded: the depth of a `Plain` is.
fn struct_json(value: Plain) -> Converted<Json> {
    match value {
        Plain::Null => Ok(Json::Null),
        Plain::Bool(value) => Ok(value.into()),
        Plain::Int(int) => number(as_double(int), "Struct"),
        Plain::Double(double) => number(double, "Struct"),
        Plain::String(text) => Ok(text.into()),
        Plain::NilList => Ok(Json::Array(Vec::new())),
        Plain::List(items) => items.into_iter().map(struct_json).collect(),
        Plain::Map(fields) => {
            let fields = fields.into_iter();
            let fields = fields.map(|(name, value)| Ok((name, struct_json(value)?)));
            Ok(Json::Object(fields.collect::<Converted<_>>()?))
        }
        Plain::Foreign(foreign) => {
            let invalid = || format!("proto: invalid type: {}", foreign.go_type);
            foreign.json.ok_or_else(invalid)
        }
    }
}

fn json_list(
    list: List<'_>,
    go_values: Option<&GoValues<'_>>,
    reach: &mut Reach<'_>,
) -> Walked<Json> {
    reach.within(list.len(), |reach| {
        let items = list.iter().map(|item| walk_json(item, go_values, reach));
        let items: Result<Result<Vec<Json>, String>, EvalError> = items
            .collect::<Result<Vec<_>, _>>()
            .map(|items| items.into_iter().collect());
        Ok(items?.map(Json::Array))
    })
}

fn json_map(map: Map<'_>, go_values: Option<&GoValues<'_>>, reach: &mut Reach<'_>) -> Walked<Json> {
    reach.within(map.len(), |reach| {
        let mut fields = JsonObject::new();
        for entry in map.iter() {
            let (key, value) = entry?;
            let arena = Arena::new();
            let name = match NativeType::String.convert(key, reach, &arena) {
                Err(error) if error.is_fatal() => return Err(error),
                Err(error) => return Ok(Err(error.message().to_owned())),
                Ok(name) => name.as_str().unwrap_or_default(),
            };
            match walk_json(value, go_values, reach)? {
                Ok(value) => fields.insert(name.to_owned(), value),
                Err(error) => return Ok(Err(error)),
            };
        }
        Ok(Ok(Json::Object(fields)))
    })
}

#[expect(
    clippy::cast_precision_loss,
    reason = "upstream converts each integer to a double"
)]
fn as_double(int: i64) -> f64 {
    int as f64
}

#[expect(
    clippy::cast_precision_loss,
    reason = "upstream converts each integer to a double"
)]
fn uint_as_double(uint: u64) -> f64 {
    uint as f64
}

/// Converts a double to the number that Go writes as JSON and reads back: a whole double becomes an integer.
fn number(double: f64, go_type: &str) -> Result<Json, String> {
    if !double.is_finite() {
        let shown = float::format_shortest(double);
        return Err(format!(
            "json: error calling MarshalJSON for type *structpb.{go_type}: proto: google.protobuf.Value.number_value: invalid {shown} value"
        ));
    }
    Ok(match double_to_int(double) {
        Some(int) => int.into(),
        None => double.into(),
    })
}

//! Reading metadata as Go reads JSON into its types (sigs.k8s.io/json), and writing it back.

use gavel_golang::time::{Layout, OffsetTime};
use serde_json::{Map, Value as Json};

use super::object_meta::OBJECT_META;
use crate::json;
use crate::serializer::DecodeError;
use crate::shape::{self, Integers, Presence, Reading, Shape, Struct, integer};

/// Reads metadata as an API server reads the metadata of a request, and rewrites it as the API server writes it. This removes unknown
/// fields, nulls and empty values, and converts times to UTC and whole seconds. Returns the paths of unknown fields relative to the
/// metadata, such as `ownerReferences[0].x`, in the order of keys.
///
/// ```
/// use gavel_apimachinery::meta;
/// use serde_json::json;
///
/// let mut metadata = json!({"name": "a", "labels": null, "x": 1, "creationTimestamp": "2024-01-01T01:00:00.5+01:00"});
/// assert_eq!(meta::decode(&mut metadata), Ok(vec!["x".to_owned()]));
/// assert_eq!(metadata, json!({"name": "a", "creationTimestamp": "2024-01-01T00:00:00Z"}));
///
/// let message = "json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string";
/// let error = meta::decode(&mut json!({"labels": {"a": 1}})).unwrap_err();
/// assert_eq!((&*error.field, &*error.message), ("labels.a", message));
/// ```
///
/// # Errors
///
/// A value does not have the type of its field. The message is Go's, and the metadata is unchanged.
pub fn decode(metadata: &mut Json) -> Result<Vec<String>, DecodeError> {
    let unknown = check(metadata)?;
    write_back(metadata);
    Ok(unknown)
}

/// Reads the metadata of an object that an API server decodes into a Go type of its own: like [`decode`], but a number that is written with
/// a fraction or an exponent, such as 1.0, is no integer.
///
/// # Errors
///
/// The errors of [`decode`].
pub fn decode_typed(metadata: &mut Json) -> Result<Vec<String>, DecodeError> {
    let unknown = read(metadata, OBJECT_META, Integers::AsWritten)?;
    write_back(metadata);
    Ok(unknown)
}

/// Reads metadata from storage: like [`decode`], but fields with values of the wrong type are dropped.
///
/// # Errors
///
/// The metadata is not an object. The message is upstream's, and the metadata is unchanged.
pub fn decode_stored(metadata: &mut Json) -> Result<Vec<String>, DecodeError> {
    if let Json::Object(fields) = metadata
        && let Shape::Struct(object_meta) = OBJECT_META
    {
        fields.retain(|name, value| match object_meta.field(name) {
            Some(field) => read(value, field.shape, Integers::ByValue).is_ok(),
            None => true,
        });
    }
    decode(metadata).map_err(|_| {
        let found = json::go_type(metadata);
        DecodeError::new(
            "",
            format!("invalid metadata: expected object, got {found}"),
        )
    })
}

/// Checks whether metadata can be read, without changing it. Returns the unknown fields as [`decode`] does.
///
/// # Errors
///
/// The errors of [`decode`].
pub fn check(metadata: &Json) -> Result<Vec<String>, DecodeError> {
    read(metadata, OBJECT_META, Integers::ByValue)
}

fn read(value: &Json, shape: Shape, integers: Integers) -> Result<Vec<String>, DecodeError> {
    let Reading { unknown, fault } = shape::read(value, shape, integers);
    match fault {
        Some(error) => Err(error),
        None => Ok(unknown),
    }
}

fn write_back(metadata: &mut Json) {
    if metadata.is_null() {
        *metadata = Json::Object(Map::new());
    }
    write_value(metadata, OBJECT_META);
}

/// Rewrites a value of the right type as Go writes that type.
fn write_value(value: &mut Json, shape: Shape) {
    match (shape, &mut *value) {
        (Shape::Text(_), Json::Null) => *value = Json::String(String::new()),
        (Shape::Struct(_), Json::Null) => {
            *value = Json::Object(Map::new());
            write_value(value, shape);
        }
        (Shape::Struct(shape), Json::Object(fields)) => write_fields(fields, shape),
        (Shape::Integer, Json::Number(number)) if number.as_i64().is_none() => {
            *value = integer(value).into();
        }
        (Shape::Map(_, each), Json::Object(entries)) => {
            for value in entries.values_mut() {
                write_value(value, *each);
            }
        }
        (Shape::List(_, item), Json::Array(items)) => {
            for value in items {
                write_value(value, *item);
            }
        }
        (Shape::Time, Json::String(text)) => {
            if let Ok(time) = Layout::Rfc3339.parse(text) {
                write_time(value, time);
            }
        }
        _ => {}
    }
}

fn write_fields(fields: &mut Map<String, Json>, shape: &Struct) {
    fields.retain(|name, value| {
        let Some(field) = shape.field(name) else {
            return false;
        };
        let was_null = value.is_null();
        write_value(value, field.shape);
        match field.presence {
            Presence::Always => true,
            Presence::Pointer => !was_null,
            Presence::NonZero => match value {
                Json::Null => false,
                Json::Bool(bool) => *bool,
                Json::Number(number) => number.as_i64() != Some(0),
                Json::String(text) => !text.is_empty(),
                Json::Array(items) => !items.is_empty(),
                Json::Object(fields) => !fields.is_empty(),
            },
        }
    });
    let always = shape
        .fields
        .iter()
        .filter(|field| field.presence == Presence::Always);
    for field in always {
        // All fields that are always written are texts.
        fields.entry(field.name).or_insert_with(|| "".into());
    }
}

fn write_time(value: &mut Json, time: OffsetTime) {
    if time.is_zero() {
        *value = Json::Null;
    } else if let Json::String(text) = value {
        let is_written = time.offset_seconds == 0 && text.len() == "2006-01-02T15:04:05Z".len();
        if !is_written {
            *text = utc(time);
        }
    }
}

/// A time as Kubernetes writes it: UTC, whole seconds.
pub(super) fn utc(time: OffsetTime) -> String {
    let mut text = String::new();
    // Writing to a String does not fail.
    let _ = time.utc_second().write_rfc3339(&mut text);
    text
}

#[cfg(test)]
mod tests;

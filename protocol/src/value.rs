//! Values as typed JSON: each value is an object with a key that names the type.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::ser::{Serialize, SerializeMap, Serializer};

use gavel_engine::error::EvalError;
use gavel_engine::value::{Arena, List, Object, ObjectKind, Opaque, Timestamp, Value, ValueKind};
use gavel_golang::{duration, float, time::OffsetTime};

/// The nesting limit of lists, maps and optionals. Values nested deeper are not written.
const MAX_DEPTH: usize = 200;

/// A value that serializes as typed JSON.
#[derive(Debug, Clone, Copy)]
pub struct TypedValue<'a> {
    value: Value<'a>,
    depth: usize,
}

impl<'a> TypedValue<'a> {
    /// Wraps a value.
    pub fn new(value: Value<'a>) -> Self {
        TypedValue { value, depth: 0 }
    }

    fn inner(self, value: Value<'a>) -> Self {
        TypedValue {
            value,
            depth: self.depth.saturating_add(1),
        }
    }
}

impl Serialize for TypedValue<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let Some((json, shape)) = self.value.as_unread() {
            let arena = Arena::new();
            return match shape.read(json, &arena) {
                Ok(value) => self.inner(value).serialize(serializer),
                Err(error) => Entry::Error(error).serialize(serializer),
            };
        }
        let mut object = serializer.serialize_map(None)?;
        if self.depth > MAX_DEPTH {
            object.serialize_entry("opaque", "too deep")?;
            return object.end();
        }
        match self.value.kind() {
            ValueKind::Null => object.serialize_entry("null", &true),
            ValueKind::Bool(b) => object.serialize_entry("bool", &b),
            ValueKind::Int(int) => object.serialize_entry("int", &int.to_string()),
            ValueKind::Uint(uint) => object.serialize_entry("uint", &uint.to_string()),
            ValueKind::Double(double) => {
                object.serialize_entry("double", &float::format_json(double))
            }
            ValueKind::String(text) => object.serialize_entry("string", &text),
            ValueKind::Bytes(bytes) => object.serialize_entry("bytes", &STANDARD.encode(bytes)),
            ValueKind::Duration(d) => {
                object.serialize_entry("duration", &written(|out| duration::write_go(out, d.0)))
            }
            ValueKind::Timestamp(t) => {
                object.serialize_entry("timestamp", &written(|out| utc(t).write_rfc3339(out)))
            }
            ValueKind::List(_) => object.serialize_entry("list", &Elements(*self)),
            ValueKind::Map(_) => object.serialize_entry("map", &Entries(*self)),
            // Values that are not read yet are handled above.
            ValueKind::Unread(..) => Ok(()),
            ValueKind::Optional(None) => object.serialize_entry("optional", &()),
            ValueKind::Optional(Some(value)) => {
                object.serialize_entry("optional", &self.inner(*value))
            }
            ValueKind::Type(name) => object.serialize_entry("type", name),
            ValueKind::Object(made) => object.serialize_entry("object", &Made(*self, made)),
            ValueKind::Opaque(opaque) => {
                let text = opaque.to_text();
                match opaque_key(opaque) {
                    Some(key) => object.serialize_entry(key, &text),
                    None => {
                        object.serialize_entry("opaque", opaque.type_name())?;
                        object.serialize_entry("string", &text)
                    }
                }
            }
        }?;
        object.end()
    }
}

/// The type and fields of an object that a struct literal built. Fields of a record that are empty strings are omitted,
/// except `value`.
struct Made<'a>(TypedValue<'a>, &'a Object<'a>);

impl Serialize for Made<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Made(outer, made) = self;
        let is_set = |(name, value): &(&str, Value<'_>)| match made.kind() {
            ObjectKind::Open => true,
            ObjectKind::Record { .. } => *name == "value" || value.as_str() != Some(""),
        };
        let fields = made.fields().iter().filter(|field| is_set(field));
        let fields = fields.map(|(name, value)| (*name, outer.inner(*value)));
        let mut object = serializer.serialize_map(Some(2))?;
        object.serialize_entry("type", made.type_name())?;
        object.serialize_entry(
            "fields",
            &fields.collect::<std::collections::BTreeMap<_, _>>(),
        )?;
        object.end()
    }
}

/// The elements of a list.
struct Elements<'a>(TypedValue<'a>);

impl Serialize for Elements<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let list = self.0.value.as_list();
        serializer.collect_seq(
            list.iter()
                .flat_map(List::iter)
                .map(|element| self.0.inner(element)),
        )
    }
}

/// The entries of a map as pairs, ordered by the texts that Go prints for their keys.
struct Entries<'a>(TypedValue<'a>);

impl Serialize for Entries<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Some(map) = self.0.value.as_map() else {
            return serializer.collect_seq(std::iter::empty::<()>());
        };
        let mut entries: Vec<(String, TypedValue<'_>, Entry<'_>)> = Vec::with_capacity(map.len());
        let mut keys = map.iter();
        while let Some(key) = keys.next_key() {
            let value = match (map.get(&key), map) {
                (Ok(Some(value)), _) => Entry::Value(self.0.inner(value)),
                // The field is null, or the schema does not declare it.
                (Ok(None), _) => Entry::Error(EvalError::new("not found")),
                (Err(_), map) if map.is_shaped() => continue,
                (Err(error), _) => Entry::Error(error),
            };
            entries.push((key.in_message().to_string(), self.0.inner(key), value));
        }
        entries.sort_by(|left, right| left.0.cmp(&right.0));
        serializer.collect_seq(entries.iter().map(|(_, key, value)| (key, value)))
    }
}

/// The value of an entry, or the error if it cannot be computed.
enum Entry<'a> {
    Value(TypedValue<'a>),
    Error(EvalError),
}

impl Serialize for Entry<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Entry::Value(value) => value.serialize(serializer),
            Entry::Error(error) => {
                let mut object = serializer.serialize_map(None)?;
                object.serialize_entry("error", error.message())?;
                object.end()
            }
        }
    }
}

/// The JSON key for a value of a library's type, if it has one.
fn opaque_key(opaque: &dyn Opaque) -> Option<&'static str> {
    Some(match opaque.type_name() {
        "kubernetes.Quantity" => "quantity",
        "kubernetes.URL" => "url",
        "net.IP" => "ip",
        "net.CIDR" => "cidr",
        "kubernetes.Semver" => "semver",
        "kubernetes.NamedFormat" => "format",
        "error" => "error",
        _ => return None,
    })
}

fn utc(time: Timestamp) -> OffsetTime {
    OffsetTime {
        unix_seconds: time.seconds,
        nanos: time.nanos,
        offset_seconds: 0,
    }
}

fn written(write: impl FnOnce(&mut String) -> fmt::Result) -> String {
    let mut text = String::new();
    // Writing to a String does not fail.
    let _ = write(&mut text);
    text
}

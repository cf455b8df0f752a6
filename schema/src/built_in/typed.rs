//! Decodes and converts objects of built-in kinds as API servers do with Go types. Decoding reports the errors of `encoding/json`; the
//! conversion from untyped data follows apimachinery `pkg/runtime/converter.go`.

use gavel_apimachinery::json;
use gavel_apimachinery::quantity::{ParseQuantityError, Quantity};
use gavel_engine::value::{Json, JsonObject};
use gavel_golang::base64::{self, Encoding};
use gavel_golang::time::Layout;

use super::kubernetes::Kubernetes;
use crate::JsonSchema;

const MACHINERY: &str = "io.k8s.apimachinery.pkg.";

/// The Go type that a schema describes. Named string types count as strings.
#[derive(Debug, Clone, Copy)]
pub(super) enum GoType<'s> {
    Struct(&'s str, &'s JsonSchema),
    Map(&'s JsonSchema),
    List(&'s JsonSchema),
    Int32,
    Int64,
    Float,
    Bool,
    Text,
    Bytes,
    Time,
    Quantity,
    IntOrString,
    Any,
}

/// The error of decoding an object of a built-in kind; `None` if the object can be decoded. If there are several errors, the first in the
/// order of field names is returned.
pub fn decoding_error(object: &Json, api_version: &str, kind: &str) -> Option<String> {
    let ty = GoType::named(Kubernetes::get().name_of(api_version, kind)?);
    decode(object, ty, "", &mut String::new()).err()
}

/// Converts a mutated object of a built-in kind to its Go type: doubles that are whole numbers become integers, and integers lose the bits
/// that do not fit into the type.
///
/// # Errors
///
/// A value cannot be converted. If there are several such values, the first in the order of field names is reported.
pub fn convert(object: &mut Json, api_version: &str, kind: &str) -> Result<(), String> {
    match Kubernetes::get().name_of(api_version, kind) {
        Some(name) => convert_value(object, GoType::named(name)),
        None => Ok(()),
    }
}

impl<'s> GoType<'s> {
    pub(super) fn of(schema: &'s JsonSchema) -> Self {
        match &schema.unsupported.reference {
            Some(name) => GoType::named(name),
            None => GoType::unnamed(schema),
        }
    }

    pub(super) fn named(name: &'s str) -> Self {
        match name.strip_prefix(MACHINERY) {
            Some("apis.meta.v1.Time") => return GoType::Time,
            Some("api.resource.Quantity") => return GoType::Quantity,
            Some("util.intstr.IntOrString") => return GoType::IntOrString,
            _ => {}
        }
        match Kubernetes::get().schema(name) {
            Some(schema) if !schema.properties.is_empty() => GoType::Struct(name, schema),
            Some(schema) => GoType::unnamed(schema),
            None => GoType::Any,
        }
    }

    fn unnamed(schema: &'s JsonSchema) -> Self {
        match (schema.kind.as_str(), schema.format.as_str()) {
            ("object", _) => schema
                .value()
                .map_or(GoType::Any, |value| GoType::Map(value)),
            ("array", _) => schema.item().map_or(GoType::Any, |item| GoType::List(item)),
            ("integer", "int64") => GoType::Int64,
            ("integer", _) => GoType::Int32,
            ("number", _) => GoType::Float,
            ("boolean", _) => GoType::Bool,
            ("string", "byte") => GoType::Bytes,
            ("string", _) => GoType::Text,
            _ => GoType::Any,
        }
    }

    /// The name of the type in Go's errors.
    fn name(self) -> String {
        match self {
            GoType::Struct(name, _) => {
                let mut steps = name.rsplit('.');
                let (name, package) = (steps.next(), steps.next());
                let [package, name] = [package, name].map(Option::unwrap_or_default);
                format!("{package}.{name}")
            }
            GoType::Map(value) => match GoType::of(value) {
                GoType::Quantity => "v1.ResourceList".to_owned(),
                value => format!("map[string]{}", value.name()),
            },
            GoType::List(item) => format!("[]{}", GoType::of(item).name()),
            GoType::Int32 | GoType::IntOrString => "int32".to_owned(),
            GoType::Int64 => "int64".to_owned(),
            GoType::Float => "float64".to_owned(),
            GoType::Bool => "bool".to_owned(),
            GoType::Text | GoType::Time => "string".to_owned(),
            GoType::Bytes => "[]uint8".to_owned(),
            GoType::Quantity => "resource.Quantity".to_owned(),
            GoType::Any => "interface {}".to_owned(),
        }
    }

    /// The value to which Go's decoder converts null in a list or map.
    pub(super) fn zero(self) -> Json {
        match self {
            GoType::Struct(..) => Json::Object(JsonObject::new()),
            GoType::Int32 | GoType::Int64 | GoType::Float | GoType::IntOrString => Json::from(0),
            GoType::Bool => Json::Bool(false),
            GoType::Text => Json::String(String::new()),
            GoType::Quantity => Json::from("0"),
            GoType::Map(_) | GoType::List(_) | GoType::Bytes | GoType::Time | GoType::Any => {
                Json::Null
            }
        }
    }

    /// Whether an integer fits into the type.
    fn has_room(self, int: i64) -> bool {
        match self {
            GoType::Int32 | GoType::IntOrString => i32::try_from(int).is_ok(),
            GoType::Int64 => true,
            _ => false,
        }
    }
}

/// Checks a value. `holder` is the struct that has the field at `path`.
// Documents are at most 127 levels deep, which bounds this recursion and that of `convert_value`.
fn decode(value: &Json, ty: GoType<'_>, holder: &str, path: &mut String) -> Result<(), String> {
    match (ty, value) {
        (GoType::Any, _) | (_, Json::Null) => Ok(()),
        (GoType::Struct(name, schema), Json::Object(fields)) => {
            let holder = name.rsplit('.').next().unwrap_or_default();
            let length = path.len();
            for (name, value) in fields {
                if let Some(field) = schema.properties.get(name.as_str()) {
                    path.push('.');
                    path.push_str(name);
                    decode(value, GoType::of(field), holder, path)?;
                    path.truncate(length);
                }
            }
            Ok(())
        }
        (GoType::Map(of), Json::Object(fields)) => {
            let mut values = fields.values();
            values.try_for_each(|value| decode(value, GoType::of(of), holder, path))
        }
        (GoType::List(of), Json::Array(items)) => {
            let mut items = items.iter();
            items.try_for_each(|item| decode(item, GoType::of(of), holder, path))
        }
        (ty, value) => read(value, ty).map_err(|fault| match fault {
            GoTypeFault::Type(found) => format!(
                "json: cannot unmarshal {found} into Go struct field {holder}{path} of type {}",
                ty.name()
            ),
            GoTypeFault::Value(message) => message,
        }),
    }
}

fn convert_value(value: &mut Json, ty: GoType<'_>) -> Result<(), String> {
    match (ty, &mut *value) {
        (GoType::Any, _) | (_, Json::Null) => Ok(()),
        (GoType::Struct(_, schema), Json::Object(fields)) => {
            for (name, value) in fields {
                if let Some(field) = schema.properties.get(name.as_str()) {
                    convert_value(value, GoType::of(field))?;
                }
            }
            Ok(())
        }
        (GoType::Map(of), Json::Object(fields)) => {
            let mut values = fields.values_mut();
            values.try_for_each(|value| convert_value(value, GoType::of(of)))
        }
        (GoType::List(of), Json::Array(items)) => {
            let mut items = items.iter_mut();
            items.try_for_each(|item| convert_value(item, GoType::of(of)))
        }
        (GoType::Struct(..), _) => Err(format!("cannot restore struct from: {}", kind(value))),
        (GoType::Map(_), _) => Err(format!("cannot restore map from {}", kind(value))),
        (GoType::List(_), _) => Err(format!("cannot restore slice from {}", kind(value))),
        (GoType::Int32 | GoType::Int64, Json::Number(number)) => {
            let whole =
                whole(number).ok_or_else(|| format!("cannot convert float64 to {}", ty.name()))?;
            *value = match ty {
                GoType::Int32 => low_bits(whole).into(),
                _ => whole.into(),
            };
            Ok(())
        }
        (GoType::Int32 | GoType::Int64 | GoType::Float | GoType::Bool | GoType::Text, _) => {
            let found = read(value, ty).err();
            let name = ty.name();
            found.map_or(Ok(()), |_| {
                Err(format!("cannot convert {} to {name}", kind(value)))
            })
        }
        (ty, value) => read(value, ty).map_err(|fault| match fault {
            GoTypeFault::Type(found) => {
                let name = ty.name();
                format!("json: cannot unmarshal {found} into Go value of type {name}")
            }
            GoTypeFault::Value(message) => message,
        }),
    }
}

/// The number as an integer; `None` if it has a fraction.
fn whole(number: &serde_json::Number) -> Option<i64> {
    let double = number.as_f64().filter(|double| double.fract() == 0.0);
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the conversion is the same as in Go"
    )]
    let converted = double.map(|double| double as i64);
    number.as_i64().or(converted)
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the conversion is the same as in Go"
)]
fn low_bits(int: i64) -> i32 {
    int as i32
}

/// Why a value does not fit a type.
enum GoTypeFault {
    /// The value has another type, which Go's message names.
    Type(String),
    /// The value cannot be decoded.
    Value(String),
}

/// Checks a value without decoding its fields or items.
fn read(value: &Json, ty: GoType<'_>) -> Result<(), GoTypeFault> {
    let unreadable = |error: &dyn ToString| GoTypeFault::Value(error.to_string());
    match (ty, value) {
        (GoType::Text | GoType::IntOrString, Json::String(_))
        | (GoType::Bool, Json::Bool(_))
        | (GoType::Float | GoType::Quantity, Json::Number(_)) => Ok(()),
        (_, Json::Number(number)) if number.as_i64().is_some_and(|int| ty.has_room(int)) => Ok(()),
        (GoType::Bytes, Json::String(text)) => {
            let read = base64::decode(text, Encoding::Standard);
            read.map(drop).map_err(|error| unreadable(&error))
        }
        (GoType::Time, Json::String(text)) => {
            let read = Layout::Rfc3339.parse(text);
            read.map(drop).map_err(|error| unreadable(&error))
        }
        (GoType::Quantity, Json::String(text)) => {
            let read = Quantity::parse(text.trim());
            read.map(drop).map_err(|error| unreadable(&error))
        }
        (GoType::Quantity, _) => Err(unreadable(&ParseQuantityError::Format)),
        (GoType::Int32 | GoType::Int64 | GoType::IntOrString, Json::Number(number)) => {
            Err(GoTypeFault::Type(format!("number {number}")))
        }
        (_, value) => Err(GoTypeFault::Type(json::kind(value).to_owned())),
    }
}

/// The kind of an untyped JSON value, as Go's reflection names it.
fn kind(value: &Json) -> &'static str {
    match value {
        Json::Null => "invalid",
        Json::Bool(_) => "bool",
        Json::Number(number) if number.is_f64() => "float64",
        Json::Number(_) => "int64",
        Json::String(_) => "string",
        Json::Array(_) => "slice",
        Json::Object(_) => "map",
    }
}

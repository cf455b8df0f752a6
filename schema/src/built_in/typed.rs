//! Decodes and converts objects of built-in kinds as API servers do with Go types. Decoding reports the errors of `encoding/json`; the
//! conversion from untyped data follows apimachinery `pkg/runtime/converter.go`.

use gavel_apimachinery::field::Path;
use gavel_apimachinery::json;
use gavel_apimachinery::quantity::{ParseQuantityError, Quantity};
use gavel_apimachinery::serializer::type_mismatch;
use gavel_apimachinery::server::Server;
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
    Byte,
    Time(Layout),
    Quantity,
    IntOrString,
    Any,
}

/// An error of decoding an object of a built-in kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecodingError {
    /// The path of the value, such as `spec.containers[0].image`.
    pub field: String,
    /// Kubernetes' message, which may not name the field.
    pub message: String,
}

/// The error of decoding an object of a built-in kind; `None` if the object can be decoded. If there are several errors, the first in the
/// order of field names is returned; errors of times, quantities and int-or-strings come before others.
pub fn decoding_error(
    object: &Json,
    api_version: &str,
    kind: &str,
    server: Server,
) -> Option<DecodingError> {
    let kubernetes = Kubernetes::of(server);
    let ty = GoType::named(kubernetes.decoded_name_of(api_version, kind)?, kubernetes);
    let mut decoder = Decoder {
        kubernetes,
        path: String::new(),
        first: None,
    };
    let stopped = decoder.check(object, ty, None, "", &Path::root()).err();
    stopped.or(decoder.first)
}

/// Converts a mutated object of a built-in kind to its Go type: doubles that are whole numbers become integers, and integers lose the bits
/// that do not fit into the type.
///
/// # Errors
///
/// A value cannot be converted. If there are several such values, the first in the order of field names is reported.
pub fn convert(
    object: &mut Json,
    api_version: &str,
    kind: &str,
    server: Server,
) -> Result<(), String> {
    let kubernetes = Kubernetes::of(server);
    match kubernetes.decoded_name_of(api_version, kind) {
        Some(name) => convert_value(object, GoType::named(name, kubernetes), kubernetes),
        None => Ok(()),
    }
}

impl<'s> GoType<'s> {
    pub(super) fn of(schema: &'s JsonSchema, kubernetes: &'s Kubernetes) -> Self {
        match &schema.unsupported.reference {
            Some(name) => GoType::named(name, kubernetes),
            None => GoType::unnamed(schema),
        }
    }

    pub(super) fn named(name: &'s str, kubernetes: &'s Kubernetes) -> Self {
        match name.strip_prefix(MACHINERY) {
            Some("apis.meta.v1.Time") => return GoType::Time(Layout::Rfc3339),
            Some("apis.meta.v1.MicroTime") => return GoType::Time(Layout::Rfc3339Micro),
            Some("api.resource.Quantity") => return GoType::Quantity,
            Some("util.intstr.IntOrString") => return GoType::IntOrString,
            Some("apis.meta.v1.FieldsV1" | "runtime.RawExtension") => return GoType::Any,
            _ => {}
        }
        match kubernetes.schema(name) {
            // Some structs have no fields.
            Some(schema) if schema.kind == "object" && schema.value().is_none() => {
                GoType::Struct(name, schema)
            }
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
    fn name(self, kubernetes: &Kubernetes) -> String {
        match self {
            GoType::Struct(name, _) => {
                let mut steps = name.rsplit('.');
                let (name, package) = (steps.next(), steps.next());
                let [package, name] = [package, name].map(Option::unwrap_or_default);
                format!("{package}.{name}")
            }
            GoType::Map(value) => {
                let value = GoType::of(value, kubernetes);
                format!("map[string]{}", value.name(kubernetes))
            }
            GoType::List(item) => {
                let item = GoType::of(item, kubernetes);
                format!("[]{}", item.name(kubernetes))
            }
            GoType::Int32 | GoType::IntOrString => "int32".to_owned(),
            GoType::Int64 => "int64".to_owned(),
            GoType::Float => "float64".to_owned(),
            GoType::Bool => "bool".to_owned(),
            GoType::Text | GoType::Time(_) => "string".to_owned(),
            GoType::Bytes => "[]uint8".to_owned(),
            GoType::Byte => "uint8".to_owned(),
            GoType::Quantity => "resource.Quantity".to_owned(),
            GoType::Any => "interface {}".to_owned(),
        }
    }

    /// The value to which Go's decoder converts null in a list or map.
    pub(super) fn zero(self) -> Json {
        match self {
            GoType::Struct(..) => Json::Object(JsonObject::new()),
            GoType::Int32 | GoType::Int64 | GoType::Float | GoType::IntOrString | GoType::Byte => {
                Json::from(0)
            }
            GoType::Bool => Json::Bool(false),
            GoType::Text => Json::String(String::new()),
            GoType::Quantity => Json::from("0"),
            GoType::Map(_) | GoType::List(_) | GoType::Bytes | GoType::Time(_) | GoType::Any => {
                Json::Null
            }
        }
    }

    /// Whether an integer fits into the type.
    fn has_room(self, int: i64) -> bool {
        match self {
            GoType::Int32 | GoType::IntOrString => i32::try_from(int).is_ok(),
            GoType::Int64 => true,
            GoType::Byte => u8::try_from(int).is_ok(),
            _ => false,
        }
    }
}

/// Decodes an object as `encoding/json` does.
struct Decoder {
    kubernetes: &'static Kubernetes,
    /// The names of the fields that lead to the current value, as Go's errors show them.
    path: String,
    /// The first error after which decoding continues.
    first: Option<DecodingError>,
}

impl Decoder {
    /// Checks a value. `named` is the name of the value's type, if it differs from that of `ty`. `holder` is the struct that has the field at
    /// `path`; `field` is the path of the value, with the keys of maps and the indexes of lists.
    ///
    /// # Errors
    ///
    /// A value is wrong whose type has its own decoder. Decoding stops at this error.
    // Documents are at most 127 levels deep, patched documents at most 400. This bounds the recursion, also that of `convert_value`.
    fn check(
        &mut self,
        value: &Json,
        ty: GoType<'_>,
        named: Option<&str>,
        holder: &str,
        field: &Path<'_>,
    ) -> Result<(), DecodingError> {
        match (ty, value) {
            (GoType::Any, _) | (_, Json::Null) => Ok(()),
            (GoType::Struct(name, schema), Json::Object(fields)) => {
                let go = self.kubernetes.fields(name);
                let holder = name.rsplit('.').next().unwrap_or_default();
                let length = self.path.len();
                for (name, value) in fields {
                    if let Some(of) = schema.properties.get(name.as_str()) {
                        let embedded = go.embedded.get(name.as_str()).map(|embedded| &**embedded);
                        for step in embedded.into_iter().chain([name.as_str()]) {
                            if !self.path.is_empty() {
                                self.path.push('.');
                            }
                            self.path.push_str(step);
                        }
                        let named = go.types.get(name.as_str()).map(|named| &**named);
                        self.check(
                            value,
                            GoType::of(of, self.kubernetes),
                            named,
                            holder,
                            &field.child(name),
                        )?;
                        self.path.truncate(length);
                    }
                }
                Ok(())
            }
            (GoType::Map(of), Json::Object(fields)) => {
                let of = GoType::of(of, self.kubernetes);
                let map = named.and_then(|named| named.strip_prefix("map["));
                let named = map.and_then(|map| Some(map.split_once(']')?.1));
                let mut fields = fields.iter();
                fields.try_for_each(|(key, value)| {
                    self.check(value, of, named, holder, &field.child(key))
                })
            }
            (GoType::List(of), Json::Array(items)) => {
                let of = GoType::of(of, self.kubernetes);
                let named = named.and_then(|named| named.strip_prefix("[]"));
                let mut items = items.iter().enumerate();
                items.try_for_each(|(n, item)| self.check(item, of, named, holder, &field.index(n)))
            }
            (GoType::Bytes, Json::Array(items)) => {
                let mut items = items.iter();
                items.try_for_each(|item| self.check(item, GoType::Byte, None, holder, field))
            }
            (ty, value) => match read(value, ty) {
                Ok(()) => Ok(()),
                Err(fault) => self.fault(fault, ty, named, holder, field),
            },
        }
    }

    fn fault(
        &mut self,
        fault: GoTypeFault,
        ty: GoType<'_>,
        named: Option<&str>,
        holder: &str,
        field: &Path<'_>,
    ) -> Result<(), DecodingError> {
        let has_decoder = matches!(ty, GoType::Time(_) | GoType::Quantity | GoType::IntOrString);
        let message = match fault {
            GoTypeFault::Type(found) => {
                let named = named.filter(|_| !has_decoder);
                let name = named.map_or_else(|| ty.name(self.kubernetes), str::to_owned);
                type_mismatch(&found, holder, &self.path, &name)
            }
            GoTypeFault::Value(message) => message,
        };
        let error = DecodingError {
            field: field.strict().to_string(),
            message,
        };
        if has_decoder {
            return Err(error);
        }
        self.first.get_or_insert(error);
        Ok(())
    }
}

fn convert_value(value: &mut Json, ty: GoType<'_>, kubernetes: &Kubernetes) -> Result<(), String> {
    match (ty, &mut *value) {
        (GoType::Any, _) | (_, Json::Null) | (GoType::Bytes, Json::Array(_)) => Ok(()),
        (GoType::Struct(_, schema), Json::Object(fields)) => {
            for (name, value) in fields {
                if let Some(field) = schema.properties.get(name.as_str()) {
                    convert_value(value, GoType::of(field, kubernetes), kubernetes)?;
                }
            }
            Ok(())
        }
        (GoType::Map(of), Json::Object(fields)) => {
            let mut values = fields.values_mut();
            values
                .try_for_each(|value| convert_value(value, GoType::of(of, kubernetes), kubernetes))
        }
        (GoType::List(of), Json::Array(items)) => {
            let mut items = items.iter_mut();
            items.try_for_each(|item| convert_value(item, GoType::of(of, kubernetes), kubernetes))
        }
        (GoType::Struct(..), _) => Err(format!("cannot restore struct from: {}", kind(value))),
        (GoType::Map(_), _) => Err(format!("cannot restore map from {}", kind(value))),
        (GoType::List(_), _) => Err(format!("cannot restore slice from {}", kind(value))),
        (GoType::Int32 | GoType::Int64, Json::Number(number)) => {
            let whole = whole(number)
                .ok_or_else(|| format!("cannot convert float64 to {}", ty.name(kubernetes)))?;
            *value = match ty {
                GoType::Int32 => low_bits(whole).into(),
                _ => whole.into(),
            };
            Ok(())
        }
        (GoType::Int32 | GoType::Int64 | GoType::Float | GoType::Bool | GoType::Text, _) => {
            let found = read(value, ty).err();
            let name = ty.name(kubernetes);
            found.map_or(Ok(()), |_| {
                Err(format!("cannot convert {} to {name}", kind(value)))
            })
        }
        (GoType::Bytes, Json::String(text)) => {
            let read = base64::decode(text, Encoding::Standard);
            read.map(drop)
                .map_err(|error| format!("error decoding from json: {error}"))
        }
        (GoType::IntOrString, Json::Number(number))
            if whole(number).is_some_and(|int| ty.has_room(int)) =>
        {
            *value = whole(number).into();
            Ok(())
        }
        (ty, value) => read(value, ty).map_err(|fault| match fault {
            GoTypeFault::Type(found) => type_mismatch(&found, "", "", &ty.name(kubernetes)),
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
    // On most processors, the result for a double that is too large is the smallest integer.
    let converted = double.map(|double| match double < 9_223_372_036_854_775_808.0 {
        true => double as i64,
        false => i64::MIN,
    });
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
        (GoType::Time(layout), Json::String(text)) => {
            let read = layout.parse(text);
            read.map(drop).map_err(|error| unreadable(&error))
        }
        (GoType::Quantity, Json::String(text)) => {
            let read = Quantity::parse(text.trim());
            read.map(drop).map_err(|error| unreadable(&error))
        }
        (GoType::Quantity, _) => Err(unreadable(&ParseQuantityError::Format)),
        (GoType::Int32 | GoType::Int64 | GoType::IntOrString | GoType::Byte, Json::Number(_)) => {
            let number = json::to_string(value);
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

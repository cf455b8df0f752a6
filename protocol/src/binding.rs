//! Reads bindings: converts the JSON that a request binds to a variable into a value of the variable's type.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use gavel_engine::types::Type;
use gavel_engine::value::{Arena, Duration, Json, MapBuilder, Timestamp, Value};
use gavel_golang::{duration, float, integer, time::OffsetTime};
use gavel_policy::cel::{NAMESPACE, REQUEST};

use crate::authorizer::{AuthorizerBinding, TableAuthorizer};
use crate::request::{RequestError, kind};
use crate::types::{self, Declared};

/// Converts the JSON of bindings into values of the types of their variables.
#[derive(Debug)]
pub struct Binder<'a> {
    /// The arena for values that are not borrowed from the JSON.
    arena: &'a Arena,
    /// The authorizers that were bound so far.
    pub(crate) authorizers: Vec<Arc<TableAuthorizer>>,
}

impl<'a> Binder<'a> {
    /// A binder that builds values in an arena.
    pub fn new(arena: &'a Arena) -> Self {
        Binder {
            arena,
            authorizers: Vec::new(),
        }
    }

    /// Reads `json` as a value of type `ty`.
    ///
    /// Strings, and values of type `dyn`, `admissionRequest` and `namespaceObject`, are borrowed from `json`. Other values that need memory
    /// live in the arena. The error for an element names its path.
    ///
    /// # Errors
    ///
    /// The JSON is not a value of the type.
    pub fn bind(&mut self, ty: &Type, json: &'a Json) -> Result<Value<'a>, RequestError> {
        match (ty, json) {
            (Type::Dyn | Type::Any, _) => Ok(Value::from(json)),
            (Type::Null, _) => Ok(Value::NULL),
            (Type::Bool, Json::Bool(b)) => Ok(Value::from(*b)),
            (Type::Int | Type::Uint | Type::Double, Json::Number(number)) => {
                from_number(ty, number).ok_or_else(|| unfit(ty, json))
            }
            (Type::String, Json::String(text)) => Ok(Value::from(text)),
            (
                Type::Int
                | Type::Uint
                | Type::Double
                | Type::Bytes
                | Type::Timestamp
                | Type::Duration,
                Json::String(text),
            ) => from_text(ty, text, self.arena).ok_or_else(|| unfit(ty, json)),
            // As in Go, a list or map may be nil.
            (Type::List(_) | Type::Map(_), Json::Null) => Ok(Value::NULL),
            (Type::List(element), Json::Array(items)) => {
                self.bind_list(items, |binder, item| binder.bind(element, item))
            }
            (Type::Map(entry), _) if json.is_array() || json.is_object() => {
                self.bind_map(&entry.0, json, |binder, value| binder.bind(&entry.1, value))
            }
            (Type::Struct(name), _) if matches!(name.as_str(), REQUEST | NAMESPACE) => {
                Ok(Value::from(json))
            }
            (Type::Struct(name), _) => self.bind_authorizer(name, json),
            _ => match ty.as_optional() {
                Some(inner) => self.bind_optional(json, |binder, some| binder.bind(inner, some)),
                None => Err(unfit(ty, json)),
            },
        }
    }

    /// Like [`Binder::bind`], for a type that may contain schemas.
    ///
    /// # Errors
    ///
    /// The errors of [`Binder::bind`].
    pub fn bind_declared(
        &mut self,
        declared: &'a Declared,
        json: &'a Json,
    ) -> Result<Value<'a>, RequestError> {
        match (declared, json) {
            (Declared::Plain(ty), _) => self.bind(ty, json),
            (Declared::Schema(schema), _) => Ok(schema.bind(json, self.arena)),
            (Declared::List(_) | Declared::Map(_), Json::Null) => Ok(Value::NULL),
            (Declared::List(element), Json::Array(items)) => {
                self.bind_list(items, |binder, item| binder.bind_declared(element, item))
            }
            (Declared::Map(entry), Json::Array(_) | Json::Object(_)) => {
                self.bind_map(&entry.0.ty(), json, |binder, value| {
                    binder.bind_declared(&entry.1, value)
                })
            }
            (Declared::Optional(inner), _) => {
                self.bind_optional(json, |binder, some| binder.bind_declared(inner, some))
            }
            (Declared::List(_) | Declared::Map(_), _) => Err(unfit(&declared.ty(), json)),
        }
    }

    fn bind_list(
        &mut self,
        items: &'a [Json],
        bind: impl Fn(&mut Self, &'a Json) -> Result<Value<'a>, RequestError>,
    ) -> Result<Value<'a>, RequestError> {
        let mut values = Vec::with_capacity(items.len());
        for (n, item) in items.iter().enumerate() {
            let value = bind(self, item);
            values.push(value.map_err(|error| error.within(&format!("[{n}]")))?);
        }
        Ok(self.arena.list(&values))
    }

    /// Binds a map, which is given as an object or as pairs of keys and values.
    fn bind_map(
        &mut self,
        key_type: &Type,
        entries: &'a Json,
        bind: impl Fn(&mut Self, &'a Json) -> Result<Value<'a>, RequestError>,
    ) -> Result<Value<'a>, RequestError> {
        let mut map = MapBuilder::new();
        for (key, value) in entries.as_object().into_iter().flatten() {
            let within = |error: RequestError| error.within(&format!("[{key:?}]"));
            let bound = bind(self, value).map_err(within)?;
            let key = from_text(key_type, key, self.arena)
                .ok_or_else(|| unfit(key_type, &Json::from(key.as_str())))?;
            map.insert(key, bound);
        }
        for (n, pair) in entries.as_array().into_iter().flatten().enumerate() {
            let within = |error: RequestError| error.within(&format!("[{n}]"));
            let Some([key, value]) = pair.as_array().map(Vec::as_slice) else {
                let message = format!("must be a pair [key, value], not {}", kind(pair));
                return Err(within(RequestError(message)));
            };
            let key = self.bind(key_type, key).map_err(within)?;
            map.insert(key, bind(self, value).map_err(within)?);
        }
        Ok(map.build(self.arena))
    }

    fn bind_optional(
        &mut self,
        json: &'a Json,
        bind: impl Fn(&mut Self, &'a Json) -> Result<Value<'a>, RequestError>,
    ) -> Result<Value<'a>, RequestError> {
        let some = match json {
            Json::Null => return Ok(Value::NONE),
            Json::Object(object) => object.get("$some").unwrap_or(json),
            _ => json,
        };
        Ok(self.arena.some(bind(self, some)?))
    }

    fn bind_authorizer(&mut self, name: &str, json: &Json) -> Result<Value<'a>, RequestError> {
        let binding = AuthorizerBinding::read(json)?;
        let value = match name {
            types::RESOURCE_CHECK => self.arena.opaque(binding.resource_check()),
            _ => self.arena.opaque(binding.authorizer()),
        };
        self.authorizers.push(binding.authorizer);
        Ok(value)
    }
}

fn from_number(ty: &Type, number: &serde_json::Number) -> Option<Value<'static>> {
    match ty {
        Type::Int => number.as_i64().map(Value::from),
        Type::Uint => number.as_u64().map(Value::from),
        _ => number.as_f64().map(Value::from),
    }
}

/// Reads a value of a scalar type from a text. The keys of objects are read in this way too.
fn from_text<'a>(ty: &Type, text: &'a str, arena: &'a Arena) -> Option<Value<'a>> {
    Some(match ty {
        Type::Dyn | Type::Any | Type::String => Value::from(text),
        Type::Null => Value::NULL,
        Type::Bool => Value::from(text.parse::<bool>().ok()?),
        Type::Int => Value::from(integer::parse_int(text)?),
        Type::Uint => Value::from(integer::parse_uint(text)?),
        Type::Double => Value::from(float::parse(text)?),
        Type::Bytes => arena.bytes(&STANDARD.decode(text).ok()?),
        Type::Duration => Value::from(Duration(duration::parse(text)?)),
        Type::Timestamp => Value::from(timestamp(OffsetTime::parse(text)?)),
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

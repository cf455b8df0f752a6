//! JSON as values (apiserver `pkg/cel/common/valuesunstructured.go`).

use std::borrow::Cow;
use std::sync::Arc;

use gavel_engine::error::EvalError;
use gavel_engine::value::{
    Arena, Duration, Json, JsonObject, JsonShape, List, Opaque, Reach, Shape, Timestamp, Value,
};
use gavel_golang::base64::{self, Encoding};
use gavel_golang::time::{Layout, OffsetTime};

use super::escape::unescape;
use super::native::Native;
use super::node::{Format, Kind, ListType, Node};
use super::{equality, joined};
use crate::duration;
use crate::equal::{Numeric, deep_equal};

impl JsonShape for Node {
    #[inline]
    fn view<'a>(&'a self, json: &'a Json, this: &'a Shape) -> Value<'a> {
        self.value(json, this).unwrap_or(Value::Unread(json, this))
    }

    fn read<'a>(&self, json: &'a Json, arena: &'a Arena) -> Result<Value<'a>, EvalError> {
        match (&self.kind, json) {
            (_, Json::Null) => Err(self.failure(Native::Json(json))),
            (Kind::Text(Format::Bytes), Json::String(text)) => {
                match base64::decode(text, Encoding::UrlSafe) {
                    Ok(bytes) => Ok(arena.bytes(&bytes)),
                    Err(_) => Err(self.failure(Native::Json(json))),
                }
            }
            (Kind::Preserved, _) => Ok(arena.opaque(Preserved(Arc::new(json.clone())))),
            _ => Err(self.failure(Native::Json(json))),
        }
    }

    #[inline]
    fn element<'a>(&'a self, json: &'a Json) -> Value<'a> {
        match &self.kind {
            Kind::List(item, _) => item.view(json),
            _ => Value::from(json),
        }
    }

    #[inline]
    fn find<'a>(&'a self, map: &'a JsonObject, key: &str) -> Option<Value<'a>> {
        if let Some(value) = self.value_of_map() {
            return map.get(key).map(|json| value.view(json));
        }
        let property = match key.contains("__") {
            false => self.property(key),
            true => self
                .property_of_identifier(key)
                .or_else(|| self.property(&unescape(key)?)),
        }?;
        match map.get(&*property.name)? {
            Json::Null => None,
            json => Some(property.node.view(json)),
        }
    }

    fn key<'a>(&'a self, name: &'a str) -> Option<&'a str> {
        if self.value_of_map().is_some() {
            return Some(name);
        }
        let property = self.property(name)?;
        Some(property.identifier().unwrap_or(name))
    }

    fn list_equals(
        &self,
        items: &[Json],
        other: &Value<'_>,
        reach: &mut Reach,
    ) -> Result<bool, EvalError> {
        equality::list_equals(self, joined::Elements::Json(items), &[], other, reach)
    }

    fn map_equals(
        &self,
        map: &JsonObject,
        other: &Value<'_>,
        reach: &mut Reach,
    ) -> Result<bool, EvalError> {
        equality::map_equals(self, map, other, reach)
    }

    fn list_contains(&self, items: &[Json], value: &Value<'_>) -> Result<bool, EvalError> {
        equality::contains(items.iter().map(|json| self.element(json)), value)
    }

    fn concat<'a>(
        &'a self,
        items: &'a [Json],
        other: List<'a>,
        this: &'a Shape,
        arena: &'a Arena,
    ) -> Result<Value<'a>, EvalError> {
        joined::concat(this, joined::Elements::Json(items), None, other, arena)
    }

    fn go_type(&self) -> &'static str {
        match &self.kind {
            Kind::List(_, ListType::Set) => "*common.unstructuredSetList",
            Kind::List(_, ListType::Map(_)) => "*common.unstructuredMapList",
            Kind::List(..) => "*common.unstructuredList",
            _ => "*common.unstructuredMap",
        }
    }
}

impl Node {
    /// The value of JSON; `None` where it needs memory or cannot be read.
    #[inline]
    fn value<'a>(&'a self, json: &'a Json, this: &'a Shape) -> Option<Value<'a>> {
        Some(match (&self.kind, json) {
            (_, Json::Null) if self.nullable => Value::Null,
            (Kind::Text(format), Json::String(text)) => return text_value(*format, text),
            (Kind::Object(_) | Kind::Map(..), Json::Object(map)) => Value::ShapedMap(map, this),
            (Kind::List(_, list_type), Json::Array(items)) => match list_type {
                ListType::Unknown(_) => return None,
                _ => Value::ShapedList(items, this),
            },
            (Kind::Bool, Json::Bool(value)) => Value::Bool(*value),
            (Kind::Int, Json::Number(number)) => Value::Int(number.as_i64()?),
            (Kind::Double, Json::Number(number)) => match Numeric::from(number) {
                Numeric::Int(int) => Value::Double(int as f64),
                Numeric::Double(double) => Value::Double(double),
            },
            (Kind::IntOrString, Json::String(text)) => Value::String(text),
            (Kind::IntOrString, Json::Number(number)) => Value::Int(number.as_i64()?),
            _ => return None,
        })
    }

    /// The value that something native stands for at this node, as upstream reads it anew.
    pub(super) fn convert<'a>(
        &'a self,
        native: Native<'a>,
        this: &'a Shape,
        arena: &'a Arena,
    ) -> Result<Value<'a>, EvalError> {
        let value = match (&self.kind, native) {
            (_, Native::Json(json)) => Some(self.view(json, this)),
            (Kind::Object(_) | Kind::Map(..), Native::Object(map)) => {
                Some(Value::ShapedMap(map, this))
            }
            (Kind::Preserved, Native::Object(map)) => Some(Value::JsonMap(map)),
            (Kind::Preserved, Native::Computed(value)) => Some(value),
            (Kind::Text(Format::Bytes), Native::Computed(Value::String(text))) => {
                base64::decode(text, Encoding::UrlSafe)
                    .ok()
                    .map(|bytes| arena.bytes(&bytes))
            }
            (Kind::Text(format), Native::Computed(Value::String(text))) => {
                text_value(*format, text)
            }
            (Kind::Bool, Native::Computed(Value::Bool(_)))
            | (Kind::Int, Native::Computed(Value::Int(_)))
            | (Kind::Double, Native::Computed(Value::Double(_)))
            | (Kind::IntOrString, Native::Computed(Value::String(_) | Value::Int(_))) => {
                match native {
                    Native::Computed(value) => Some(value),
                    _ => None,
                }
            }
            (Kind::Double, Native::Computed(Value::Int(int))) => Some(Value::Double(int as f64)),
            (Kind::List(_, list_type), Native::Computed(value)) => match (list_type, value) {
                (ListType::Unknown(_), _) => None,
                (_, Value::ShapedList(items, _)) => Some(Value::ShapedList(items, this)),
                (_, Value::JsonList(items)) => {
                    return joined::concat(
                        this,
                        joined::Elements::Json(items),
                        None,
                        List::Values(&[]),
                        arena,
                    );
                }
                _ => None,
            },
            _ => None,
        };
        value.ok_or_else(|| self.failure(native))
    }

    /// Why something native is no value of this node.
    #[cold]
    pub(super) fn failure(&self, native: Native<'_>) -> EvalError {
        const INVALID: &str = "invalid data, expected";
        if let Native::Json(Json::Null) = native {
            return EvalError::new("invalid data, got null for schema with nullable=false");
        }
        let text = match native {
            Native::Json(json) => json.as_str(),
            Native::Computed(Value::String(text)) => Some(text),
            _ => None,
        };
        let go_type = native.go_type();
        let message = match (&self.kind, text) {
            (Kind::IntOrString, _) => {
                format!("{INVALID} XIntOrString value to be either a string or integer")
            }
            (Kind::Object(_) | Kind::Map(..), _) => {
                format!("{INVALID} a map for the provided schema with type=object")
            }
            (Kind::List(_, ListType::Unknown(name)), _) if is_list(native) => format!(
                "invalid x-kubernetes-list-type, expected 'map', 'set' or 'atomic' but got {name}"
            ),
            (Kind::ListWithoutItems, _) if is_list(native) => {
                "invalid array type, expected Items with a non-empty Schema".to_owned()
            }
            (Kind::List(..) | Kind::ListWithoutItems, _) => {
                format!("{INVALID} an array for the provided schema with type=array")
            }
            (Kind::Text(format), Some(text)) => text_failure(*format, text),
            (Kind::Text(_), None) => format!("{INVALID} string, got {go_type}"),
            (Kind::Double, _) => format!("{INVALID} float, got {go_type}"),
            (Kind::Int, _) => format!("{INVALID} int, got {go_type}"),
            (Kind::Bool, _) => format!("{INVALID} bool, got {go_type}"),
            (Kind::Preserved, _) => "type conversion not supported".to_owned(),
            (Kind::Unknown(name), _) => format!(
                "invalid type, expected object, array, number, integer, boolean or string, or no type with \
                 x-kubernetes-int-or-string or x-kubernetes-preserve-unknown-fields is true, got {name}"
            ),
        };
        EvalError::new(message)
    }
}

fn is_list(native: Native<'_>) -> bool {
    match native {
        Native::Json(json) => json.is_array(),
        Native::Computed(value) => matches!(value, Value::JsonList(_) | Value::ShapedList(..)),
        Native::Object(_) => false,
    }
}

/// The value of a text; `None` where it needs memory or is not of the format.
#[inline]
fn text_value(format: Format, text: &str) -> Option<Value<'_>> {
    match format {
        Format::Plain => Some(Value::String(text)),
        Format::Bytes => None,
        Format::Duration => {
            let nanos = duration::parse(text).ok()?;
            Some(Value::Duration(Duration(nanos)))
        }
        Format::Date => Layout::Date.parse(text).ok().map(timestamp),
        Format::DateTime if text.is_empty() => Some(Value::Timestamp(Timestamp {
            seconds: 0,
            nanos: 0,
            offset: 0,
        })),
        Format::DateTime => Layout::Rfc3339
            .parse(text)
            .or_else(|_| Layout::DateTime.parse(text))
            .ok()
            .map(timestamp),
    }
}

fn timestamp(time: OffsetTime) -> Value<'static> {
    Value::Timestamp(Timestamp {
        seconds: time.unix_seconds,
        nanos: time.nanos,
        offset: time.offset_seconds,
    })
}

/// Why a text is not of a format.
fn text_failure(format: Format, text: &str) -> String {
    match format {
        Format::Plain => String::new(),
        Format::Bytes => {
            let why = base64::decode(text, Encoding::UrlSafe)
                .err()
                .map(|why| why.to_string());
            format!(
                "Invalid byte formatted string {text}: {}",
                why.unwrap_or_default()
            )
        }
        Format::Duration => {
            let why = duration::parse(text).err().map(|why| why.0);
            format!("Invalid duration {text}: {}", why.unwrap_or_default())
        }
        Format::Date => {
            let why = Layout::Date.parse(text).err().map(|why| why.to_string());
            format!(
                "Invalid date formatted string {text}: {}",
                why.unwrap_or_default()
            )
        }
        Format::DateTime => {
            let why = Layout::DateTime
                .parse(text)
                .err()
                .map(|why| why.to_string());
            format!(
                "Invalid date-time formatted string {text}: {}",
                why.unwrap_or_default()
            )
        }
    }
}

/// A value of which nothing is known but what it equals.
#[derive(Debug, Clone)]
struct Preserved(Arc<Json>);

impl Opaque for Preserved {
    fn type_name(&self) -> &'static str {
        "unknown"
    }

    fn go_type(&self) -> Cow<'static, str> {
        Cow::Borrowed("*common.unknownPreserved")
    }

    fn equals(&self, other: &Value<'_>) -> Result<bool, EvalError> {
        Ok(match *other {
            Value::Opaque(other) => other
                .downcast_ref::<Preserved>()
                .is_some_and(|other| deep_equal(&self.0, &other.0)),
            Value::Bool(other) => *self.0 == Json::Bool(other),
            Value::String(other) => self.0.as_str() == Some(other),
            Value::Int(other) => self.numeric() == Some(Numeric::Int(other)),
            Value::Double(other) => self.numeric() == Some(Numeric::Double(other)),
            Value::JsonMap(other) | Value::ShapedMap(other, _) => {
                let Json::Object(fields) = &*self.0 else {
                    return Ok(false);
                };
                fields.len() == other.len()
                    && fields.iter().all(|(name, field)| {
                        other
                            .get(name)
                            .is_some_and(|other| deep_equal(field, other))
                    })
            }
            Value::JsonList(other) => self.equals_list(other),
            Value::ShapedList(other, _) => self.equals_list(other),
            _ => false,
        })
    }

    fn to_text<'a>(&self, arena: &'a Arena) -> &'a str {
        arena.bump().alloc_str(&self.0.to_string())
    }
}

impl Preserved {
    fn numeric(&self) -> Option<Numeric> {
        match &*self.0 {
            Json::Number(number) => Some(Numeric::from(number)),
            _ => None,
        }
    }

    fn equals_list(&self, other: &[Json]) -> bool {
        let Json::Array(items) = &*self.0 else {
            return false;
        };
        items.len() == other.len()
            && items
                .iter()
                .zip(other)
                .all(|(item, other)| deep_equal(item, other))
    }
}

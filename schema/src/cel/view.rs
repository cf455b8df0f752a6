//! Views JSON as CEL values (apiserver `pkg/cel/common/valuesunstructured.go`).

use std::sync::Arc;

use gavel_engine::error::EvalError;
use gavel_engine::value::{
    Arena, Duration, FieldPlace, Json, JsonObject, JsonShape, List, PlainJson, Reach, Shape,
    Timestamp, Value, ValueKind, held_bytes,
};
use gavel_golang::base64::{self, Encoding};
use gavel_golang::time::{Layout, OffsetTime};
use gavel_golang::work::Work;

use super::elements::Elements;
use super::escape::unescape;
use super::native::Native;
use super::node::{Format, Kind, ListType, Node, Property};
use super::preserved::Preserved;
use super::{equality, joined};
use crate::duration;
use crate::equal::Numeric;

impl JsonShape for Node {
    fn plain(&self) -> PlainJson {
        match &self.kind {
            Kind::Bool => PlainJson::Bool,
            Kind::Int => PlainJson::Int,
            Kind::Text(Format::Plain) => PlainJson::Text,
            Kind::Object(_) | Kind::Map(..) => PlainJson::Object,
            Kind::List(_, ListType::Unknown(_), _) => PlainJson::Nothing,
            Kind::List(..) => PlainJson::List,
            _ => PlainJson::Nothing,
        }
    }

    fn view<'a>(&'a self, json: &'a Json, this: &'a Shape) -> Value<'a> {
        self.value(json).unwrap_or(Value::unread(json, this))
    }

    fn read<'a>(&self, json: &'a Json, arena: &'a Arena) -> Result<Value<'a>, EvalError> {
        match (&self.kind, json) {
            (_, Json::Null) => Err(self.failure(Native::Json(json))),
            (Kind::Text(Format::Bytes), Json::String(text)) => {
                match base64::decode(text, Encoding::UrlSafe) {
                    Ok(bytes) => {
                        arena.reserve(bytes.len())?;
                        Ok(arena.bytes(&bytes))
                    }
                    Err(_) => Err(self.failure(Native::Json(json))),
                }
            }
            (Kind::Preserved, _) => {
                let bytes = held_bytes(json);
                arena.reserve(bytes)?;
                let json = Arc::new(json.clone());
                Ok(arena.opaque(Preserved { json, bytes }))
            }
            _ => Err(self.failure(Native::Json(json))),
        }
    }

    fn items(&self) -> Option<&Shape> {
        match &self.kind {
            Kind::List(item, ..) => Some(item),
            _ => None,
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
        property.value(map)
    }

    fn field_place(&self, key: &str) -> FieldPlace {
        self.place_of(key)
    }

    #[inline]
    fn field_at(&self, key: &str, place: FieldPlace) -> Option<(&str, &Shape)> {
        let Kind::Object(properties) = &self.kind else {
            return None;
        };
        let property = properties.get(place.number())?;
        let is_meant = property.is_identified_by(key);
        is_meant.then_some((&*property.name, &property.node))
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
        reach: &mut Reach<'_>,
    ) -> Result<bool, EvalError> {
        equality::list_equals(self, Elements::Json(items), None, other, reach)
    }

    fn map_equals(
        &self,
        map: &JsonObject,
        other: &Value<'_>,
        reach: &mut Reach<'_>,
    ) -> Result<bool, EvalError> {
        equality::map_equals(self, map, other, reach)
    }

    fn list_contains(
        &self,
        items: &[Json],
        value: &Value<'_>,
        work: &Work<'_>,
    ) -> Result<bool, EvalError> {
        equality::contains_json(self.items(), items, value, work)
    }

    fn concat<'a>(
        &'a self,
        items: &'a [Json],
        other: Value<'a>,
        this: &'a Shape,
        arena: &'a Arena,
        work: &Work<'_>,
    ) -> Result<Value<'a>, EvalError> {
        joined::concat(this, Elements::Json(items), None, other, arena, work)
    }

    fn go_type(&self) -> &'static str {
        match &self.kind {
            Kind::List(_, ListType::Set, _) => "*common.unstructuredSetList",
            Kind::List(_, ListType::Map(_), _) => "*common.unstructuredMapList",
            Kind::List(..) => "*common.unstructuredList",
            _ => "*common.unstructuredMap",
        }
    }
}

impl Property {
    /// The value of a field; null is treated as absent.
    #[inline]
    fn value<'a>(&'a self, map: &'a JsonObject) -> Option<Value<'a>> {
        match map.get(&*self.name)? {
            Json::Null => None,
            json => Some(self.node.view(json)),
        }
    }
}

impl Node {
    /// The CEL value of JSON that is not plain; `None` if the value needs memory in an arena, or if the JSON does not fit this node.
    #[inline]
    fn value<'a>(&'a self, json: &'a Json) -> Option<Value<'a>> {
        Some(match (&self.kind, json) {
            (_, Json::Null) if self.nullable => Value::NULL,
            (Kind::Text(format), Json::String(text)) => return text_value(*format, text),
            (Kind::Double, Json::Number(number)) => match Numeric::from(number) {
                Numeric::Int(int) => Value::from(int as f64),
                Numeric::Double(double) => Value::from(double),
            },
            (Kind::IntOrString, Json::String(text)) => Value::from(text),
            (Kind::IntOrString, Json::Number(number)) => Value::from(number.as_i64()?),
            _ => return None,
        })
    }

    /// Converts a Go value to a CEL value of this node's type, as upstream does.
    pub(super) fn convert<'a>(
        &'a self,
        native: Native<'a>,
        this: &'a Shape,
        arena: &'a Arena,
        work: &Work<'_>,
    ) -> Result<Value<'a>, EvalError> {
        let value = match (&self.kind, native) {
            (_, Native::Json(json)) => Some(this.view(json)),
            (Kind::Object(_) | Kind::Map(..), Native::Object(map)) => {
                Some(Value::shaped_map(map, this))
            }
            (Kind::Preserved, Native::Object(map)) => Some(Value::from(map)),
            (Kind::Preserved, Native::Computed(value)) => Some(value),
            (Kind::List(_, ListType::Unknown(_), _), _) => None,
            (Kind::List(..), Native::Computed(value)) => {
                if let Some((items, _)) = value.as_shaped_list() {
                    Some(Value::shaped_list(items, this))
                } else if let Some((items, None)) = value.as_json_array() {
                    let items = Elements::Json(items);
                    return joined::concat(this, items, None, List::EMPTY.into(), arena, work);
                } else {
                    None
                }
            }
            (_, Native::Computed(value)) => self.convert_scalar(value, arena),
            _ => None,
        };
        value.ok_or_else(|| self.failure(native))
    }

    fn convert_scalar<'a>(&self, value: Value<'a>, arena: &'a Arena) -> Option<Value<'a>> {
        match (&self.kind, value.kind()) {
            (Kind::Text(Format::Bytes), ValueKind::String(text)) => {
                let bytes = base64::decode(text, Encoding::UrlSafe).ok()?;
                Some(arena.bytes(&bytes))
            }
            (Kind::Text(format), ValueKind::String(text)) => text_value(*format, text),
            (Kind::Bool, ValueKind::Bool(_))
            | (Kind::Int, ValueKind::Int(_))
            | (Kind::Double, ValueKind::Double(_))
            | (Kind::IntOrString, ValueKind::String(_) | ValueKind::Int(_)) => Some(value),
            (Kind::Double, ValueKind::Int(int)) => Some(Value::from(int as f64)),
            _ => None,
        }
    }

    /// The error for a Go value that does not fit this node.
    #[cold]
    pub(super) fn failure(&self, native: Native<'_>) -> EvalError {
        const INVALID: &str = "invalid data, expected";
        if let Native::Json(Json::Null) = native {
            return EvalError::new("invalid data, got null for schema with nullable=false");
        }
        let text = match native {
            Native::Json(json) => json.as_str(),
            Native::Computed(value) => value.as_str(),
            Native::Object(_) => None,
        };
        let go_type = native.go_type();
        let message = match (&self.kind, text) {
            (Kind::IntOrString, _) => {
                format!("{INVALID} XIntOrString value to be either a string or integer")
            }
            (Kind::Object(_) | Kind::Map(..), _) => {
                format!("{INVALID} a map for the provided schema with type=object")
            }
            (Kind::List(_, ListType::Unknown(name), _), _) if is_list(native) => format!(
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
        Native::Computed(value) => value.as_json_array().is_some(),
        Native::Object(_) => false,
    }
}

/// The CEL value of a string; `None` if the value needs memory in an arena, or if the string does not have the format.
#[inline]
fn text_value(format: Format, text: &str) -> Option<Value<'_>> {
    match format {
        Format::Plain => Some(Value::from(text)),
        Format::Bytes => None,
        Format::Duration => {
            let nanos = duration::parse(text).ok()?;
            Some(Value::from(Duration(nanos)))
        }
        Format::Date => Layout::Date.parse(text).ok().map(timestamp),
        Format::DateTime if text.is_empty() => Some(Value::from(Timestamp {
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
    Value::from(Timestamp {
        seconds: time.unix_seconds,
        nanos: time.nanos,
        offset: time.offset_seconds,
    })
}

/// The error for a string that does not have a format.
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

//! JSON documents as values. As in Kubernetes, integers that fit in an `i64` are `int`, and all other numbers are `double`.

use super::{Json, JsonObject, Reach, Repr, Value};
use crate::error::EvalError;

impl<'a> From<&'a Json> for Value<'a> {
    fn from(json: &'a Json) -> Value<'a> {
        match json {
            Json::Null => Value(Repr::Null),
            Json::Bool(b) => Value::from(*b),
            Json::Number(number) => match number.as_i64() {
                Some(int) => Value(Repr::Int(int)),
                None => Value(Repr::Double(number.as_f64().unwrap_or(f64::NAN))),
            },
            Json::String(text) => Value(Repr::String(text)),
            Json::Array(items) => Value(Repr::JsonList(items)),
            Json::Object(map) => Value(Repr::JsonMap(map)),
        }
    }
}

impl Value<'_> {
    /// Converts the value to a JSON document. `None` for values that JSON cannot represent (such as bytes, times, types, optionals, keys
    /// that are not texts, numbers that are not finite), for maps of a host that fail, and for values that are too large to walk.
    pub fn to_json(&self) -> Option<Json> {
        to_json(self, &mut Reach::default()).ok().flatten()
    }
}

fn to_json(value: &Value<'_>, reach: &mut Reach<'_>) -> Result<Option<Json>, EvalError> {
    Ok(match *value {
        Value(Repr::Null) => Some(Json::Null),
        Value(Repr::Bool(value)) => Some(value.holds().into()),
        Value(Repr::Int(value)) => Some(value.into()),
        Value(Repr::Uint(value)) => Some(value.into()),
        Value(Repr::Double(value)) => serde_json::Number::from_f64(value).map(Json::Number),
        Value(Repr::String(text)) => Some(text.into()),
        value => match (value.as_list(), value.as_map()) {
            (Some(list), _) => reach.within(list.len(), |reach| {
                let items = list.iter().map(|item| to_json(&item, reach));
                Ok(items
                    .collect::<Result<Option<Vec<_>>, _>>()?
                    .map(Json::Array))
            })?,
            (_, Some(map)) => reach.within(map.len(), |reach| {
                let mut fields = JsonObject::new();
                for entry in map.iter() {
                    let (Value(Repr::String(name)), value) = entry? else {
                        return Ok(None);
                    };
                    let Some(value) = to_json(&value, reach)? else {
                        return Ok(None);
                    };
                    fields.insert(name.to_owned(), value);
                }
                Ok(Some(Json::Object(fields)))
            })?,
            _ => None,
        },
    })
}

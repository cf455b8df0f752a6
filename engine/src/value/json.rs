//! JSON seen as values, as Kubernetes reads it: integers that fit are `int`, all other numbers `double`.

use super::{Json, Value};

impl<'a> From<&'a Json> for Value<'a> {
    fn from(json: &'a Json) -> Value<'a> {
        match json {
            Json::Null => Value::Null,
            Json::Bool(b) => Value::Bool(*b),
            Json::Number(number) => match number.as_i64() {
                Some(int) => Value::Int(int),
                None => Value::Double(number.as_f64().unwrap_or(f64::NAN)),
            },
            Json::String(text) => Value::String(text),
            Json::Array(items) => Value::JsonList(items),
            Json::Object(map) => Value::JsonMap(map),
        }
    }
}

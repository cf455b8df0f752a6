//! Field errors in answers.

use gavel_apimachinery::field::{BadValue, Error};
use gavel_engine::value::Json;
use serde::Serialize;

/// What is wrong with one field.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FieldError {
    /// The sort of fault, such as `FieldValueInvalid`.
    #[serde(rename = "type")]
    kind: &'static str,
    /// The path of the field.
    field: String,
    /// The value at fault, if it is told.
    #[serde(skip_serializing_if = "Option::is_none")]
    bad_value: Option<Json>,
    /// What is wrong with it.
    detail: String,
    /// All of it in one line.
    string: String,
}

impl FieldError {
    /// Errors in their own order.
    pub(crate) fn list(errors: &[Error]) -> Vec<FieldError> {
        errors.iter().map(FieldError::from).collect()
    }

    /// Errors by their fields, where upstream's own order is by chance.
    pub(crate) fn sorted(errors: &[Error]) -> Vec<FieldError> {
        let mut list = FieldError::list(errors);
        list.sort_by(|a, b| a.field.cmp(&b.field));
        list
    }
}

impl From<&Error> for FieldError {
    fn from(error: &Error) -> Self {
        let bad_value = match &error.bad_value {
            BadValue::Omitted | BadValue::Json(Json::Null) => None,
            BadValue::Json(value) => Some(with_go_numbers(value.clone())),
            BadValue::Text(text) => serde_json::from_str(text).ok(),
        };
        FieldError {
            kind: error.kind.reason(),
            field: error.field.clone(),
            bad_value,
            detail: error.detail.clone(),
            string: error.to_string(),
        }
    }
}

/// A value with the doubles that are whole written as Go writes them: `1`, not `1.0`.
pub(crate) fn with_go_numbers(mut value: Json) -> Json {
    let mut pending = vec![&mut value];
    while let Some(value) = pending.pop() {
        match value {
            Json::Number(number) => {
                let double = number.as_f64().filter(|_| number.is_f64());
                // What is larger is written as it is.
                if let Some(int) = double.and_then(whole) {
                    *value = int.into();
                }
            }
            Json::Array(items) => pending.extend(items),
            Json::Object(fields) => pending.extend(fields.values_mut()),
            _ => {}
        }
    }
    value
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "what does not fit is left out"
)]
fn whole(double: f64) -> Option<i64> {
    const BEYOND: f64 = 9_223_372_036_854_775_808.0;
    let is_whole = double.fract() == 0.0 && (-BEYOND..BEYOND).contains(&double);
    // Negative zero keeps its sign.
    (is_whole && !(double == 0.0 && double.is_sign_negative())).then_some(double as i64)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn whole_doubles_are_written_without_a_fraction() {
        let value = json!({"a": [1.0, 1.5, -0.0, 1e6, 1e20], "b": 2});
        let expected = r#"{"a":[1,1.5,-0.0,1000000,1e+20],"b":2}"#;
        assert_eq!(with_go_numbers(value).to_string(), expected);
    }
}

//! Field errors in answers.

use gavel_apimachinery::field::{BadValue, Error};
use gavel_apimachinery::json;
use gavel_engine::value::Json;
use serde::Serialize;
use serde_json::value::RawValue;

/// A field error as answers write it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FieldError {
    /// The type of the error, such as `FieldValueInvalid`.
    #[serde(rename = "type")]
    kind: &'static str,
    /// The path of the field.
    field: String,
    /// The value, if it is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    bad_value: Option<Box<RawValue>>,
    /// The details.
    detail: String,
    /// The whole error in one line.
    string: String,
}

impl FieldError {
    /// The errors in the given order.
    pub fn list(errors: &[Error]) -> Vec<FieldError> {
        errors.iter().map(FieldError::from).collect()
    }

    /// The errors, sorted by field. Upstream reports these errors in random order.
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
            BadValue::Json(value) => written(value),
            BadValue::Text(text) => RawValue::from_string(text.clone()).ok(),
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

/// A value as Go writes it: doubles that are whole numbers have no fraction.
pub(crate) fn written(value: &Json) -> Option<Box<RawValue>> {
    RawValue::from_string(json::to_string(value)).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_written_as_go_writes_them() {
        let value = json!({"a": [1.0, 1.5, -0.0, 1e6, 1e20, 1e21], "b": 2, "c": "<"});
        let expected = r#"{"a":[1,1.5,-0,1000000,100000000000000000000,1e+21],"b":2,"c":"\u003c"}"#;
        assert_eq!(written(&value).unwrap().get(), expected);
    }
}

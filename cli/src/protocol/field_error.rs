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
            BadValue::Json(value) => Some(value.clone()),
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

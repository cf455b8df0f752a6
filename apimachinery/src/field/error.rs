//! Errors about fields of objects, as API servers report them (apimachinery `pkg/util/validation/field`).

use std::collections::HashSet;
use std::fmt;

use gavel_golang::quote::quote;
use serde_json::{Number, Value as Json};

use super::Path;
use crate::json;

/// An error about one field. Its message is worded as in Kubernetes.
///
/// ```
/// use gavel_apimachinery::field::{Error, Path};
///
/// let spec = Path::new("spec");
/// let error = Error::invalid(&spec.child("replicas"), -1, "must be greater than or equal to 0");
/// assert_eq!(error.to_string(), "spec.replicas: Invalid value: -1: must be greater than or equal to 0");
/// assert_eq!(error.kind.reason(), "FieldValueInvalid");
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Error {
    /// The type of the error.
    pub kind: ErrorType,
    /// The path of the field.
    pub field: String,
    /// The invalid value.
    pub bad_value: BadValue,
    /// The details. May be empty.
    pub detail: String,
    /// The position of the error in the field's expression, if the expression does not compile.
    pub expression: Option<ExpressionPlace>,
}

/// A position in the text of an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExpressionPlace {
    /// The line, from 1.
    pub line: u32,
    /// The column in code points, from 1.
    pub column: u32,
}

impl ExpressionPlace {
    /// Creates a position from a line and a column, both from 1. `None` is the beginning of the expression.
    pub fn new(position: Option<(u32, u32)>) -> Self {
        let (line, column) = position.unwrap_or((1, 1));
        ExpressionPlace { line, column }
    }

    /// The same position in an expression that `text` precedes.
    ///
    /// ```
    /// use gavel_apimachinery::field::ExpressionPlace;
    ///
    /// let place = ExpressionPlace::new(Some((1, 4)));
    /// assert_eq!(place.behind("\n  "), ExpressionPlace { line: 2, column: 6 });
    /// ```
    #[must_use]
    pub fn behind(self, text: &str) -> Self {
        let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let last_line = text.rsplit('\n').next().unwrap_or_default();
        let before = match self.line {
            1 => count(last_line.chars().count()),
            _ => 0,
        };
        ExpressionPlace {
            line: self.line.saturating_add(count(text.matches('\n').count())),
            column: self.column.saturating_add(before),
        }
    }
}

/// The type of a field's error. Messages name it after the field, as in `spec: Required value`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ErrorType {
    /// The field is required.
    Required,
    /// The value must be unique.
    Duplicate,
    /// The value is malformed.
    Invalid,
    /// The value is not one of the supported values.
    NotSupported,
    /// The value is not allowed here, but would be valid elsewhere.
    Forbidden,
    /// A text is too long.
    TooLong,
    /// A list or map has too many entries.
    TooMany,
    /// The value does not have the type that the schema requires.
    TypeInvalid,
    /// An internal error.
    Internal,
}

impl ErrorType {
    /// The `reason` of a cause in a `Status`, such as `FieldValueInvalid`.
    pub const fn reason(self) -> &'static str {
        match self {
            ErrorType::Required => "FieldValueRequired",
            ErrorType::Duplicate => "FieldValueDuplicate",
            ErrorType::Invalid => "FieldValueInvalid",
            ErrorType::NotSupported => "FieldValueNotSupported",
            ErrorType::Forbidden => "FieldValueForbidden",
            ErrorType::TooLong => "FieldValueTooLong",
            ErrorType::TooMany => "FieldValueTooMany",
            ErrorType::TypeInvalid => "FieldValueTypeInvalid",
            ErrorType::Internal => "InternalError",
        }
    }

    /// The name of this type in messages, such as `Invalid value`.
    pub const fn text(self) -> &'static str {
        match self {
            ErrorType::Required => "Required value",
            ErrorType::Duplicate => "Duplicate value",
            ErrorType::Invalid | ErrorType::TypeInvalid => "Invalid value",
            ErrorType::NotSupported => "Unsupported value",
            ErrorType::Forbidden => "Forbidden",
            ErrorType::TooLong => "Too long",
            ErrorType::TooMany => "Too many",
            ErrorType::Internal => "Internal error",
        }
    }
}

/// The invalid value that the message of an error prints.
#[derive(Debug, Clone, PartialEq)]
pub enum BadValue {
    /// The value is omitted from messages.
    Omitted,
    /// A JSON value.
    Json(Json),
    /// JSON that Go writes for a value of a Go type, with the fields in the order of their declaration. Messages print this text unchanged,
    /// even if it is `null`.
    Text(String),
}

impl From<&Json> for BadValue {
    fn from(value: &Json) -> Self {
        BadValue::Json(value.clone())
    }
}

impl From<Json> for BadValue {
    fn from(value: Json) -> Self {
        BadValue::Json(value)
    }
}

impl From<&str> for BadValue {
    fn from(text: &str) -> Self {
        BadValue::Json(text.into())
    }
}

impl From<String> for BadValue {
    fn from(text: String) -> Self {
        BadValue::Json(text.into())
    }
}

impl From<&String> for BadValue {
    fn from(text: &String) -> Self {
        BadValue::Json(text.as_str().into())
    }
}

impl From<i64> for BadValue {
    fn from(int: i64) -> Self {
        BadValue::Json(int.into())
    }
}

impl From<i32> for BadValue {
    fn from(int: i32) -> Self {
        BadValue::Json(int.into())
    }
}

impl From<f64> for BadValue {
    fn from(double: f64) -> Self {
        BadValue::Json(double.into())
    }
}

impl From<bool> for BadValue {
    fn from(bool: bool) -> Self {
        BadValue::Json(bool.into())
    }
}

impl Error {
    /// An error of the given type.
    pub fn new(
        kind: ErrorType,
        field: &Path<'_>,
        bad_value: impl Into<BadValue>,
        detail: impl Into<String>,
    ) -> Self {
        Error {
            kind,
            field: field.to_string(),
            bad_value: bad_value.into(),
            detail: detail.into(),
            expression: None,
        }
    }

    /// Adds the position at which the field's expression fails to compile.
    #[must_use]
    pub fn in_expression(self, place: ExpressionPlace) -> Self {
        Error {
            expression: Some(place),
            ..self
        }
    }

    /// The error for a malformed value.
    pub fn invalid(
        field: &Path<'_>,
        value: impl Into<BadValue>,
        detail: impl Into<String>,
    ) -> Self {
        Self::new(ErrorType::Invalid, field, value, detail)
    }

    /// The error for a value that does not have the type that the schema requires.
    pub fn type_invalid(
        field: &Path<'_>,
        value: impl Into<BadValue>,
        detail: impl Into<String>,
    ) -> Self {
        Self::new(ErrorType::TypeInvalid, field, value, detail)
    }

    /// The error for a required field that has no value.
    pub fn required(field: &Path<'_>, detail: impl Into<String>) -> Self {
        Self::new(ErrorType::Required, field, "", detail)
    }

    /// The error for a value that is not allowed here, but would be valid elsewhere.
    pub fn forbidden(field: &Path<'_>, detail: impl Into<String>) -> Self {
        Self::new(ErrorType::Forbidden, field, "", detail)
    }

    /// The error for a value that occurs more than once, but must be unique.
    pub fn duplicate(field: &Path<'_>, value: impl Into<BadValue>) -> Self {
        Self::new(ErrorType::Duplicate, field, value, "")
    }

    /// The error for a value that is not one of the values in `supported`.
    pub fn not_supported<S: AsRef<str>>(
        field: &Path<'_>,
        value: impl Into<BadValue>,
        supported: &[S],
    ) -> Self {
        let quoted: Vec<_> = supported.iter().map(|s| quote(s.as_ref())).collect();
        let detail = match quoted.is_empty() {
            true => String::new(),
            false => format!("supported values: {}", quoted.join(", ")),
        };
        Self::new(ErrorType::NotSupported, field, value, detail)
    }

    /// The error for a text longer than `most` bytes. The message omits the limit if it is negative.
    pub fn too_long(field: &Path<'_>, most: i64) -> Self {
        let detail = match most {
            ..=-1 => "value is too long".to_owned(),
            1 => "may not be more than 1 byte".to_owned(),
            most => format!("may not be more than {most} bytes"),
        };
        Self::new(ErrorType::TooLong, field, "<value omitted>", detail)
    }

    /// The error for a list or map that has `actual` entries but may have at most `most`. The message omits negative numbers.
    pub fn too_many(field: &Path<'_>, actual: i64, most: i64) -> Self {
        let detail = match most {
            ..=-1 => "has too many items".to_owned(),
            1 => "must have at most 1 item".to_owned(),
            most => format!("must have at most {most} items"),
        };
        let actual = match actual {
            ..=-1 => BadValue::Omitted,
            actual => actual.into(),
        };
        Self::new(ErrorType::TooMany, field, actual, detail)
    }

    /// An internal error. Its value is an empty object, because upstream uses the Go error as the value, and a Go error has no JSON fields.
    pub fn internal(field: &Path<'_>, detail: impl Into<String>) -> Self {
        let nothing = Json::Object(serde_json::Map::new());
        Self::new(ErrorType::Internal, field, nothing, detail)
    }

    /// The message without the field.
    pub fn body(&self) -> String {
        let mut body = self.kind.text().to_owned();
        let shows_value = !matches!(
            self.kind,
            ErrorType::Required | ErrorType::Forbidden | ErrorType::TooLong | ErrorType::Internal
        );
        if shows_value && let Some(value) = self.value_text() {
            body.push_str(": ");
            body.push_str(&value);
        }
        if !self.detail.is_empty() {
            body.push_str(": ");
            body.push_str(&self.detail);
        }
        body
    }

    fn value_text(&self) -> Option<String> {
        Some(match &self.bad_value {
            BadValue::Omitted => return None,
            BadValue::Text(text) => text.clone(),
            BadValue::Json(Json::String(text)) => quote(text),
            BadValue::Json(Json::Number(number)) => number_text(number),
            BadValue::Json(value) => json::to_string(value),
        })
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.body())
    }
}

impl std::error::Error for Error {}

/// Joins the messages of several errors into one text, without duplicates. Two or more messages are separated by commas and enclosed in
/// brackets. Returns `None` if there are no errors.
pub fn aggregate(errors: &[Error]) -> Option<String> {
    let mut seen = HashSet::new();
    let mut texts: Vec<String> = errors.iter().map(Error::to_string).collect();
    texts.retain(|text| seen.insert(text.clone()));
    match texts.len() {
        0 => None,
        1 => texts.pop(),
        _ => Some(format!("[{}]", texts.join(", "))),
    }
}

/// A number as Go's `%v` prints it.
fn number_text(number: &Number) -> String {
    match json::double(number) {
        Some(double) => gavel_golang::float::format_shortest(double),
        None => number.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(error: &Error, expected: &str) {
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn faults_are_reported_once() {
        let path = Path::new("a");
        let (a, b) = (Error::required(&path, ""), Error::required(&path, "b"));
        assert_eq!(aggregate(&[]), None);
        let same = [a.clone(), a.clone()];
        assert_eq!(aggregate(&same).unwrap(), "a: Required value");
        let expected = "[a: Required value, a: Required value: b]";
        assert_eq!(aggregate(&[a.clone(), b, a]).unwrap(), expected);
    }

    #[test]
    fn values_are_printed_as_go_prints_them() {
        let path = Path::new("a");
        check(
            &Error::invalid(&path, "x\n", "no"),
            r#"a: Invalid value: "x\n": no"#,
        );
        check(&Error::invalid(&path, 1e6, ""), "a: Invalid value: 1e+06");
        check(
            &Error::invalid(&path, serde_json::json!({"b": ["<", 1e21]}), ""),
            r#"a: Invalid value: {"b":["\u003c",1e+21]}"#,
        );
        check(
            &Error::invalid(&path, Json::Null, "no"),
            "a: Invalid value: null: no",
        );
        check(
            &Error::invalid(&Path::root(), BadValue::Omitted, "no"),
            "<nil>: Invalid value: no",
        );
        check(&Error::required(&path, ""), "a: Required value");
        check(
            &Error::not_supported(&path, "x", &["a", "b"]),
            r#"a: Unsupported value: "x": supported values: "a", "b""#,
        );
        check(
            &Error::too_long(&path, 1),
            "a: Too long: may not be more than 1 byte",
        );
        check(
            &Error::too_many(&path, 3, 2),
            "a: Too many: 3: must have at most 2 items",
        );
    }
}

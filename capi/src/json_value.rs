//! The JSON value of a handle.

use gavel_engine::value::{Json, JsonObject};

use crate::error::{Failure, GavelError, GavelErrorKind};

/// How hosts pass JSON text, for messages.
pub(crate) const JSON_TEXT: &str =
    "pass JSON text as json.RawMessage (in C: tag 32, the length, the text)";

/// An immutable JSON value, such as an object that the host uses in several calls.
#[derive(Debug)]
pub struct GavelValue(pub(crate) Json);

impl GavelValue {
    /// The fields of the value.
    ///
    /// # Errors
    ///
    /// The value is not a JSON object. The message begins with `needed`.
    pub(crate) fn object(&self, needed: &str) -> Result<&JsonObject, Failure> {
        let found = match &self.0 {
            Json::Object(fields) => return Ok(fields),
            Json::String(_) => return Err(no_object(needed, &format!("a string; {JSON_TEXT}"))),
            Json::Null => "null",
            Json::Bool(_) => "a bool",
            Json::Number(_) => "a number",
            Json::Array(_) => "a list",
        };
        Err(no_object(needed, found))
    }
}

fn no_object(needed: &str, found: &str) -> Failure {
    GavelError::new(GavelErrorKind::Decode, format!("{needed}, not {found}"))
}

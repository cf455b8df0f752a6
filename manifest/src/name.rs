//! Reads the strings that identify an object.

use serde_json::Value as Json;

/// The string at a path such as `metadata.name`.
///
/// # Errors
///
/// The string is absent or empty, or the value is not a string. The error names the path and says what the value must be.
pub fn name_at<'o>(object: &'o Json, path: &str) -> Result<&'o str, String> {
    let pointer = format!("/{}", path.replace('.', "/"));
    match object.pointer(&pointer) {
        Some(Json::String(name)) if !name.is_empty() => Ok(name),
        None | Some(Json::Null | Json::String(_)) => Err(format!("{path} must be set")),
        Some(_) => Err(format!("{path} must be a string")),
    }
}

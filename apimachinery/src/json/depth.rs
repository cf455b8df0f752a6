//! How deep values are nested.

use gavel_golang::work::{Interrupted, Work};
use serde_json::Value as Json;

/// The units of work for visiting a value.
const WORK_PER_VALUE: usize = 16;

/// Whether the values in a list or object are nested at most `levels` deep.
///
/// # Errors
///
/// The work is interrupted.
///
/// ```
/// use gavel_apimachinery::json::is_within;
/// use gavel_golang::work::Work;
/// use serde_json::json;
///
/// let (json, work) = (json!({"a": [1, 2], "b": 3}), Work::unbounded());
/// assert_eq!(is_within(&json, 2, &work), Ok(true));
/// assert_eq!(is_within(&json, 1, &work), Ok(false));
/// ```
// Recursion is at most `levels` deep.
pub fn is_within(json: &Json, levels: usize, work: &Work<'_>) -> Result<bool, Interrupted> {
    work.spend(WORK_PER_VALUE)?;
    let within = |inner: &Json| match levels.checked_sub(1) {
        Some(levels) => is_within(inner, levels, work),
        None => Ok(false),
    };
    match json {
        Json::Array(items) => all(items, within),
        Json::Object(fields) => all(fields.values(), within),
        _ => Ok(true),
    }
}

/// Whether all values are within the limit.
fn all<'j>(
    values: impl IntoIterator<Item = &'j Json>,
    within: impl Fn(&Json) -> Result<bool, Interrupted>,
) -> Result<bool, Interrupted> {
    for value in values {
        if !within(value)? {
            return Ok(false);
        }
    }
    Ok(true)
}

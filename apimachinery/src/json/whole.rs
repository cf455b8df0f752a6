//! Doubles that Go writes as integers.

use serde_json::Value as Json;

/// Replaces doubles such as 2.0 by integers, as if Go had written and read the value.
///
/// ```
/// use gavel_apimachinery::json::with_whole_numbers;
///
/// let value = serde_json::json!({"a": 2.0, "b": [-0.0, 1.5, 1e30]});
/// assert_eq!(with_whole_numbers(value), serde_json::json!({"a": 2, "b": [0, 1.5, 1e30]}));
/// ```
#[must_use]
pub fn with_whole_numbers(mut value: Json) -> Json {
    write_whole_numbers(&mut value);
    value
}

// Recurses as deep as the value: documents have at most 127 levels, patched documents at most 400.
fn write_whole_numbers(value: &mut Json) {
    match value {
        Json::Number(number) if number.is_f64() => {
            if let Some(int) = number.as_f64().and_then(double_to_int) {
                *value = int.into();
            }
        }
        Json::Array(items) => items.iter_mut().for_each(write_whole_numbers),
        Json::Object(fields) => fields.values_mut().for_each(write_whole_numbers),
        _ => {}
    }
}

/// The integer that Go reads from the text of a double, if the text is an integer that fits in an `i64`. The text has the fewest digits
/// that identify the double: 2^60 is written as 1152921504606847000.
pub fn double_to_int(double: f64) -> Option<i64> {
    double.to_string().parse().ok()
}

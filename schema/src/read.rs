//! Reads JSON as CEL values.

use gavel_apimachinery::json;
use gavel_engine::value::{Arena, Value, read_json};

/// Reads JSON as a CEL value that borrows from `text` and from `arena`.
///
/// # Errors
///
/// The errors of [`json::read`].
pub fn read_value<'a>(text: &'a [u8], arena: &'a Arena) -> serde_json::Result<Value<'a>> {
    let value = simdutf8::basic::from_utf8(text).ok();
    match value.and_then(|text| read_json(text, arena)) {
        Some(value) => Ok(value),
        None => {
            // A document can take a hundred times the memory of its text, so texts that are no JSON are not read into one.
            json::check(text)?;
            Ok(arena.document(json::read(text)?))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_read_as_a_document_is() {
        let check = |text: &[u8]| {
            let arena = Arena::new();
            let document = json::read::<serde_json::Value>(text).map_err(|error| error.to_string());
            let value = read_value(text, &arena).map_err(|error| error.to_string());
            let value = value.map(|value| value.to_json().unwrap());
            assert_eq!(value, document, "{}", text.escape_ascii());
        };
        check(br#"{"b": [-0, -0.0, "\u00e9"], "a": {}}"#);
        check(br#"{"a": 1, "b": -0, "a": 2}"#);
        check(b"[1] 2");
        check(b"[1, \"\xff\"]");
        check(b"{\"a\": 1,}");
        check(br#"{"a": [true, null, 1.5, -1], "b": "\ud800"}"#);
        check(b"[1e400]");
        check(b"{1: 2}");
        for levels in [127, 128] {
            check(&[vec![b'['; levels], vec![b']'; levels]].concat());
        }
    }
}

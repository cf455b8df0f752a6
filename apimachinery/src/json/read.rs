//! Reading JSON as Kubernetes does. Unlike in `serde_json`, `-0` is an integer.

use std::borrow::Cow;

use memchr::memmem;
use serde::de::DeserializeOwned;

/// Reads a JSON text.
///
/// # Errors
///
/// The text is not JSON, or is nested more than 127 levels deep. Errors give the line and the column in bytes, both from 1.
pub fn read<T: DeserializeOwned>(text: &[u8]) -> serde_json::Result<T> {
    let text = without_negative_zeros(text);
    match std::str::from_utf8(&text) {
        // Checking UTF-8 once for the whole text is faster than once for each string in it.
        Ok(text) => serde_json::from_str(text),
        Err(_) => serde_json::from_slice(&text),
    }
}

/// Reads JSON values that stand one after the other.
///
/// # Errors
///
/// The errors of [`read`].
pub fn read_stream<T: DeserializeOwned>(text: &[u8]) -> serde_json::Result<Vec<T>> {
    let text = without_negative_zeros(text);
    serde_json::Deserializer::from_slice(&text)
        .into_iter()
        .collect()
}

/// Replaces each integer `-0` in the text by a space and `0`. The space keeps the positions in the text unchanged.
fn without_negative_zeros(text: &[u8]) -> Cow<'_, [u8]> {
    let mut text = Cow::Borrowed(text);
    let mut found = memmem::find_iter(&text, b"-0");
    if !found.any(|at| may_be_negative_zero(&text, at)) {
        return text;
    }
    let (mut in_string, mut escaped, mut exponent) = (false, false, false);
    for (at, byte) in text.clone().iter().copied().enumerate() {
        if in_string {
            in_string = escaped || byte != b'"';
            escaped = !escaped && byte == b'\\';
            continue;
        }
        in_string = byte == b'"';
        let after = |n: usize| text.get(at.saturating_add(n)).copied();
        let is_zero = byte == b'-' && !exponent && after(1) == Some(b'0');
        let is_integer = !matches!(after(2), Some(b'0'..=b'9' | b'.' | b'e' | b'E'));
        if is_zero
            && is_integer
            && let Some(minus) = text.to_mut().get_mut(at)
        {
            *minus = b' ';
        }
        exponent = matches!(byte, b'e' | b'E');
    }
    text
}

/// Whether the `-0` at this position may be an integer. After a letter or digit, `-0` is part of an exponent or of a text, such as a date
/// or a UUID.
fn may_be_negative_zero(text: &[u8], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|before| text.get(before));
    let after = at.checked_add(2).and_then(|after| text.get(after));
    !before.is_some_and(u8::is_ascii_alphanumeric)
        && !matches!(after, Some(b'0'..=b'9' | b'.' | b'e' | b'E'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn negative_zero_is_an_integer_unless_it_has_a_fraction_or_exponent() {
        let check = |text: &str, expected: &str| {
            let found = without_negative_zeros(text.as_bytes());
            assert_eq!(std::str::from_utf8(&found), Ok(expected));
        };
        check("-0", " 0");
        check(
            "[-0,-0.0,-0e1,-0E1,-01,1e-0,1E-0,-10]",
            "[ 0,-0.0,-0e1,-0E1,-01,1e-0,1E-0,-10]",
        );
        check(
            r#"{"-0": "\"-0\\", "a": -0}"#,
            r#"{"-0": "\"-0\\", "a":  0}"#,
        );
        check("[1]", "[1]");
        let date = r#"{"at": "2026-01-01", "id": "8c0c-0a1b", "n": 1e-0}"#;
        check(date, date);
        check("1 -0", "1  0");
    }
}

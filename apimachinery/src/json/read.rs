//! Reading JSON as Kubernetes does where `serde_json` does otherwise: `-0` is an integer.

use std::borrow::Cow;

use serde::de::DeserializeOwned;

/// Reads a JSON text.
///
/// # Errors
///
/// What is not JSON, or nested deeper than 127. Places count lines and columns from 1, columns in bytes.
pub fn read<T: DeserializeOwned>(text: &[u8]) -> serde_json::Result<T> {
    serde_json::from_slice(&without_negative_zeros(text))
}

/// Reads JSON values that stand one after the other.
///
/// # Errors
///
/// Those of [`read`].
pub fn read_stream<T: DeserializeOwned>(text: &[u8]) -> serde_json::Result<Vec<T>> {
    let text = without_negative_zeros(text);
    serde_json::Deserializer::from_slice(&text)
        .into_iter()
        .collect()
}

/// The text with each integer `-0` written ` 0`, so that all places stay the same.
fn without_negative_zeros(text: &[u8]) -> Cow<'_, [u8]> {
    let mut text = Cow::Borrowed(text);
    if !text.windows(2).any(|pair| pair == b"-0") {
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
    }
}

//! Reading JSON as Kubernetes does. Unlike in `serde_json`, `-0` is an integer.

use std::borrow::Cow;

use gavel_golang::utf8;
use memchr::{memchr, memmem};
use serde::de::{Deserialize, DeserializeOwned, Deserializer, MapAccess, SeqAccess, Visitor};

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

/// Reads a JSON text that need not be Unicode, as Go's decoder does: each byte that is not part of valid UTF-8, and each escape of half a
/// surrogate pair, becomes U+FFFD.
///
/// # Errors
///
/// The errors of [`read`].
pub fn read_replacing<T: DeserializeOwned>(text: &[u8]) -> serde_json::Result<T> {
    read(text).or_else(|error| match error.is_syntax() {
        true => read(&unicode(text)),
        false => Err(error),
    })
}

/// Replaces all parts of a JSON text that are not Unicode.
fn unicode(text: &[u8]) -> Vec<u8> {
    let mut text = utf8::lossy(text).into_bytes();
    let mut at: usize = 0;
    while let Some(found) = text.get(at..).and_then(|rest| memchr(b'\\', rest)) {
        at = at.saturating_add(found);
        let [unit, next] = [0, 6].map(|n| escaped_unit(&text, at.saturating_add(n)));
        let length = match (unit, next) {
            (None, _) => 2,
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => 12,
            (Some(0xd800..=0xdfff), _) => {
                let rest = text.get_mut(at..).unwrap_or_default();
                if let Some(escape) = rest.first_chunk_mut() {
                    *escape = *b"\\ufffd";
                }
                6
            }
            (Some(_), _) => 6,
        };
        at = at.saturating_add(length);
    }
    text
}

/// The UTF-16 code unit that is escaped at this position.
fn escaped_unit(text: &[u8], at: usize) -> Option<u16> {
    let (escape, _) = text.get(at..)?.split_first_chunk::<6>()?;
    let digits = std::str::from_utf8(escape.strip_prefix(b"\\u")?).ok()?;
    u16::from_str_radix(digits, 16).ok()
}

/// Checks that a text is JSON, in constant memory.
///
/// # Errors
///
/// The errors of [`read`] for a `serde_json::Value`.
///
/// ```
/// use gavel_apimachinery::json;
///
/// assert!(json::check(b"[{}, 1]").is_ok());
/// assert!(json::check(b"[{}, 1").is_err());
/// ```
pub fn check(text: &[u8]) -> serde_json::Result<()> {
    read(text).map(|Checked| ())
}

/// A value that was read and dropped. Unlike `IgnoredAny`, it has read the escapes of its texts and the sizes of its numbers.
struct Checked;

impl<'de> Deserialize<'de> for Checked {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Checked)
    }
}

impl<'de> Visitor<'de> for Checked {
    type Value = Checked;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("any valid JSON value")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Checked, E> {
        Ok(Checked)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Checked, E> {
        Ok(Checked)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Checked, E> {
        Ok(Checked)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Checked, E> {
        Ok(Checked)
    }

    fn visit_str<E>(self, _: &str) -> Result<Checked, E> {
        Ok(Checked)
    }

    fn visit_unit<E>(self) -> Result<Checked, E> {
        Ok(Checked)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Checked, A::Error> {
        while items.next_element::<Checked>()?.is_some() {}
        Ok(Checked)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Checked, A::Error> {
        while fields.next_entry::<Checked, Checked>()?.is_some() {}
        Ok(Checked)
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

    #[test]
    fn parts_that_are_not_unicode_are_replaced_as_in_go() {
        let check = |text: &[u8], expected: &str| {
            assert_eq!(read_replacing::<String>(text).unwrap(), expected);
        };
        check(br#""\ud83d\ude00""#, "😀");
        check(br#""\ud800""#, "\u{fffd}");
        check(br#""\udc00a\ud800\n""#, "\u{fffd}a\u{fffd}\n");
        check(br#""\ud800\ud83d\ude00\uD83D""#, "\u{fffd}😀\u{fffd}");
        check(br#""\\ud800\ud800""#, "\\ud800\u{fffd}");
        check(b"\"a\xe2\x82\"", "a\u{fffd}\u{fffd}");
        check("\"\u{e4}\\ud800\"".as_bytes(), "\u{e4}\u{fffd}");
        for wrong in [r#""\ud8""#, r#""\ud800"#, "", "{"] {
            assert!(
                read_replacing::<String>(wrong.as_bytes()).is_err(),
                "{wrong}"
            );
        }
    }
}

//! Computes the values of literals (`parser/unescape.go`, `parser/parser.go`).

use std::borrow::Cow;

use memchr::memchr;

/// The value of an int literal, decimal or `0x…`; `None` if it is out of range.
pub(super) fn int(text: &str, negative: bool) -> Option<i64> {
    let magnitude = magnitude(text)?;
    if negative {
        0i64.checked_sub_unsigned(magnitude)
    } else {
        i64::try_from(magnitude).ok()
    }
}

/// The value of a uint literal, including its `u`; `None` if it is out of range.
pub(super) fn uint(text: &str) -> Option<u64> {
    magnitude(text.strip_suffix(['u', 'U'])?)
}

/// The value of a double literal; `None` if it is too large.
pub(super) fn double(text: &str, negative: bool) -> Option<f64> {
    let value: f64 = text.parse().ok()?;
    value
        .is_finite()
        .then_some(if negative { -value } else { value })
}

/// The value of a string literal with its prefix and quotes.
///
/// # Errors
///
/// The message for an invalid escape.
pub(super) fn string(text: &str) -> Result<String, &'static str> {
    match body(text) {
        (body, true) => unescape_string(&body),
        (body, false) => Ok(body.into_owned()),
    }
}

/// The number of bytes before and after the value of a string literal that is written as it is, without escapes; `None` for other literals.
pub(super) fn plain(text: &str) -> Option<(usize, usize)> {
    let (prefix, quotes) = delimiters(text);
    let raw = prefix > 0;
    let has = |byte| memchr(byte, text.as_bytes()).is_some();
    let is_plain = (raw || !has(b'\\')) && !has(b'\r');
    is_plain.then_some((prefix.saturating_add(quotes), quotes))
}

/// The number of bytes of the prefix of a string literal, and of the quotes on either side.
fn delimiters(text: &str) -> (usize, usize) {
    let prefix = usize::from(text.starts_with(['r', 'R']));
    let quoted = text.get(prefix..).unwrap_or_default();
    let is_long = quoted.len() >= 6 && (quoted.starts_with("'''") || quoted.starts_with("\"\"\""));
    (prefix, if is_long { 3 } else { 1 })
}

/// The value of a bytes literal with its prefix and quotes.
///
/// # Errors
///
/// The message for an invalid escape.
pub(super) fn bytes(text: &str) -> Result<Vec<u8>, &'static str> {
    match body(text.get(1..).unwrap_or_default()) {
        (body, true) => unescape_bytes(&body),
        (body, false) => Ok(body.into_owned().into_bytes()),
    }
}

const UNABLE: &str = "unable to unescape string";

fn magnitude(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// The text between the quotes, and whether it contains escapes. Every line end is converted to LF.
fn body(text: &str) -> (Cow<'_, str>, bool) {
    let (prefix, quotes) = delimiters(text);
    let end = text.len().saturating_sub(quotes);
    let inner = text
        .get(prefix.saturating_add(quotes)..end)
        .unwrap_or_default();
    let raw = prefix > 0;
    let has = |byte| memchr(byte, inner.as_bytes()).is_some();
    let escaped = !raw && has(b'\\');
    if has(b'\r') {
        (
            Cow::Owned(inner.replace("\r\n", "\n").replace('\r', "\n")),
            escaped,
        )
    } else {
        (Cow::Borrowed(inner), escaped)
    }
}

fn unescape_string(body: &str) -> Result<String, &'static str> {
    let mut out = String::with_capacity(body.len());
    let mut rest = body;
    while let Some((plain, escaped)) = rest.split_once('\\') {
        out.push_str(plain);
        let (code, tail) = escape(escaped)?;
        out.push(char::from_u32(code.value()).ok_or("invalid unicode code point")?);
        rest = tail;
    }
    out.push_str(rest);
    Ok(out)
}

fn unescape_bytes(body: &str) -> Result<Vec<u8>, &'static str> {
    let mut out = Vec::with_capacity(body.len());
    let mut rest = body;
    while let Some((plain, escaped)) = rest.split_once('\\') {
        out.extend_from_slice(plain.as_bytes());
        let (Code::Byte(byte), tail) = escape(escaped)? else {
            return Err(UNABLE);
        };
        out.push(byte);
        rest = tail;
    }
    out.extend_from_slice(rest.as_bytes());
    Ok(out)
}

/// The value of an escape.
enum Code {
    /// A byte in a bytes literal. In a string literal, the code point with this number.
    Byte(u8),
    /// A code point. Only string literals can contain it.
    Point(u32),
}

impl Code {
    fn value(&self) -> u32 {
        match self {
            Code::Byte(byte) => u32::from(*byte),
            Code::Point(point) => *point,
        }
    }
}

/// Parses an escape after its backslash. Returns its value and the rest of the text.
fn escape(text: &str) -> Result<(Code, &str), &'static str> {
    let mut chars = text.chars();
    let letter = chars.next().ok_or(UNABLE)?;
    let simple = |byte: u8| Ok((Code::Byte(byte), text.get(1..).unwrap_or_default()));
    let digits = |from: usize, to: usize, radix: u32| {
        let (digits, tail) = (
            text.get(from..to).ok_or(UNABLE)?,
            text.get(to..).unwrap_or_default(),
        );
        Ok((
            u32::from_str_radix(digits, radix).map_err(|_| UNABLE)?,
            tail,
        ))
    };
    let byte = |(value, tail)| Ok((Code::Byte(u8::try_from(value).map_err(|_| UNABLE)?), tail));
    match letter {
        'a' => simple(0x07),
        'b' => simple(0x08),
        'f' => simple(0x0c),
        'n' => simple(b'\n'),
        'r' => simple(b'\r'),
        't' => simple(b'\t'),
        'v' => simple(0x0b),
        '\\' | '\'' | '"' | '`' | '?' => simple(u8::try_from(letter).map_err(|_| UNABLE)?),
        'x' | 'X' => byte(digits(1, 3, 16)?),
        '0'..='3' => byte(digits(0, 3, 8)?),
        'u' => digits(1, 5, 16).map(|(value, tail)| (Code::Point(value), tail)),
        'U' => digits(1, 9, 16).map(|(value, tail)| (Code::Point(value), tail)),
        _ => Err(UNABLE),
    }
}

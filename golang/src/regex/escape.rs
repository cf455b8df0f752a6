//! Escapes of single characters (`parseEscape` of Go's `regexp/syntax/parse.go`).

use super::consumed;
use super::error::{Problem, RegexError};

const MAX_CODE_POINT: u32 = 0x10_ffff;

/// Reads an escape such as `\n`, `\.`, `\x41`, `\x{1F600}` or `\101` at the start of `text`.
///
/// Returns the code point, which may be a surrogate, and the rest.
pub(super) fn parse_escape(text: &str) -> Result<(u32, &str), RegexError> {
    let mut rest = text.strip_prefix('\\').unwrap_or(text).chars();
    let Some(c) = rest.next() else {
        return Err(RegexError::syntax(Problem::TrailingBackslash, ""));
    };
    let code_point = match c {
        '0' => Some(octal(0, &mut rest)),
        // RE2 has no backreferences, so a single digit other than 0 is invalid.
        '1'..='7' if rest.as_str().starts_with(|next| matches!(next, '0'..='7')) => {
            Some(octal(c.to_digit(8).unwrap_or_default(), &mut rest))
        }
        'x' => hexadecimal(&mut rest),
        'a' => Some(0x07),
        'f' => Some(0x0c),
        'n' => Some(0x0a),
        'r' => Some(0x0d),
        't' => Some(0x09),
        'v' => Some(0x0b),
        _ if c.is_ascii() && !c.is_ascii_alphanumeric() => Some(u32::from(c)),
        _ => None,
    };
    match code_point {
        Some(code_point) => Ok((code_point, rest.as_str())),
        None => Err(RegexError::syntax(
            Problem::InvalidEscape,
            consumed(text, rest.as_str()),
        )),
    }
}

/// Reads up to two more octal digits.
fn octal(first: u32, rest: &mut std::str::Chars<'_>) -> u32 {
    let mut value = first;
    for _ in 0..2 {
        let Some(digit) = rest.clone().next().and_then(|c| c.to_digit(8)) else {
            break;
        };
        value = value << 3 | digit;
        rest.next();
    }
    value
}

/// Reads two hexadecimal digits, or any number of them in braces.
fn hexadecimal(rest: &mut std::str::Chars<'_>) -> Option<u32> {
    let first = rest.next()?;
    if first != '{' {
        let second = rest.next();
        return Some(first.to_digit(16)? << 4 | second?.to_digit(16)?);
    }
    let mut value = None;
    loop {
        match rest.next()? {
            '}' => return value,
            c => {
                value =
                    Some(value.unwrap_or(0) << 4 | c.to_digit(16)?).filter(|v| *v <= MAX_CODE_POINT)
            }
        }
        value?;
    }
}

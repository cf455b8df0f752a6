//! Percent-encoding: the bytes that each part of a URL can contain without an escape.

use std::borrow::Cow;
use std::fmt::Write;

use super::{Span, UrlFault};

/// For each byte, the parts that can contain it without an escape: bit `n` is the part with discriminant `n`.
const ALLOWED: [u8; 256] = allowed();

#[expect(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    reason = "the table is computed at compile time, for each byte"
)]
const fn allowed() -> [u8; 256] {
    use Part::{Fragment, Host, Path, Query, User, Zone};
    let parts = [Host, Zone, User, Path, Query, Fragment];
    let mut allowed = [0; 256];
    let mut n = 0;
    while n < allowed.len() * parts.len() {
        let (byte, part) = (n / parts.len(), parts[n % parts.len()]);
        if part.may_contain(byte as u8) {
            allowed[byte] |= 1 << part as u8;
        }
        n += 1;
    }
    allowed
}

/// The part of a URL that is encoded or decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// A host with its port. Of the ASCII characters, only `%` can be escaped in it.
    Host,
    /// The zone after `%25` in an IPv6 address.
    Zone,
    /// A user's name or password.
    User,
    /// A path.
    Path,
    /// A key or value of a query, where `+` is a space.
    Query,
    /// The fragment after `#`.
    Fragment,
}

impl Part {
    /// Whether the part can contain the byte without an escape.
    #[inline]
    fn allows(self, byte: u8) -> bool {
        let parts = ALLOWED.get(usize::from(byte)).copied().unwrap_or(0);
        parts & (1 << self as u8) != 0
    }

    /// The rule from which the table `ALLOWED` is computed: whether the part can contain the byte without an escape.
    const fn may_contain(self, byte: u8) -> bool {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => true,
            b'$' | b'&' | b'+' | b',' | b';' | b'=' => !matches!(self, Part::Query),
            b':' => !matches!(self, Part::User | Part::Query),
            b'/' | b'@' => matches!(self, Part::Path | Part::Fragment),
            b'!' | b'(' | b')' | b'*' => {
                matches!(self, Part::Host | Part::Zone | Part::Fragment)
            }
            b'?' => matches!(self, Part::Fragment),
            b'\'' | b'[' | b']' | b'<' | b'>' | b'"' => matches!(self, Part::Host | Part::Zone),
            _ => false,
        }
    }

    /// Whether the part can contain the text without an escape.
    fn allows_all(self, text: &str) -> bool {
        let allows = |all, byte| all & self.allows(byte);
        text.bytes().fold(true, allows)
    }
}

/// Whether decoding succeeds and leaves the text unchanged.
pub(super) fn is_plain(text: &str, part: Part) -> bool {
    match part {
        Part::Host | Part::Zone => part.allows_all(text),
        Part::Query => !text.bytes().any(|byte| byte == b'%' || byte == b'+'),
        Part::User | Part::Path | Part::Fragment => !text.bytes().any(|byte| byte == b'%'),
    }
}

/// Replaces escapes such as `%41` by the bytes that they stand for.
pub(super) fn decode(text: &str, part: Part) -> Result<Cow<'_, [u8]>, UrlFault> {
    if is_plain(text, part) {
        return Ok(Cow::Borrowed(text.as_bytes()));
    }
    let is_host = matches!(part, Part::Host | Part::Zone);
    let mut decoded = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [byte, after @ ..] = rest {
        rest = match (*byte, after) {
            (b'%', [high, low, after @ ..]) => {
                let value = hex(*high)
                    .zip(hex(*low))
                    .map(|(high, low)| (high << 4) | low);
                match value.filter(|value| may_stand_for(part, *value)) {
                    Some(value) => decoded.push(value),
                    None => return Err(UrlFault::Escape(vec![*byte, *high, *low])),
                }
                after
            }
            (b'%', _) => return Err(UrlFault::Escape(rest.to_vec())),
            (b'+', _) if part == Part::Query => {
                decoded.push(b' ');
                after
            }
            (byte, _) => {
                if is_host && byte.is_ascii() && !part.allows(byte) {
                    return Err(UrlFault::HostCharacter(byte));
                }
                decoded.push(byte);
                after
            }
        };
    }
    Ok(Cow::Owned(decoded))
}

/// Whether the part may contain an escape for the byte. A host may contain escapes only for `%` and for bytes outside of ASCII.
fn may_stand_for(part: Part, value: u8) -> bool {
    match part {
        Part::Host => value == b'%' || !value.is_ascii(),
        Part::Zone => matches!(value, b'%' | b' ') || part.allows(value),
        Part::User | Part::Path | Part::Query | Part::Fragment => true,
    }
}

fn hex(digit: u8) -> Option<u8> {
    let value = char::from(digit).to_digit(16)?;
    u8::try_from(value).ok()
}

/// Appends the bytes to a text; bytes that the part must not contain are escaped as in `%41`.
pub(super) fn encode(bytes: &[u8], part: Part, text: &mut String) {
    if let Ok(plain) = str::from_utf8(bytes)
        && part.allows_all(plain)
    {
        return text.push_str(plain);
    }
    for byte in bytes {
        if part.allows(*byte) {
            text.push(char::from(*byte));
        } else {
            // Writing to a string does not fail.
            let _ = write!(text, "%{byte:02X}");
        }
    }
}

/// Appends a part as Go writes it: a path or fragment that is encoded correctly is unchanged; any other part is decoded and encoded again.
pub(super) fn written(raw: &str, part: Part, text: &mut String) -> Result<Span, UrlFault> {
    let start = text.len();
    if part.allows_all(raw) {
        text.push_str(raw);
        return Ok((start, text.len()));
    }
    let decoded = decode(raw, part)?;
    // Go keeps the spelling of a path or fragment that contains only these bytes, even if Go would escape it differently.
    let known = |byte: u8| b"!$&'()*+,;=:@[]%".contains(&byte) || part.allows(byte);
    match matches!(part, Part::Path | Part::Fragment) && raw.bytes().all(known) {
        true => text.push_str(raw),
        false => encode(&decoded, part, text),
    }
    Ok((start, text.len()))
}

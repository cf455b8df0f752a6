//! Base64 as Go's decoder reads it (`encoding/base64`). Line breaks are allowed anywhere, unused bits at the end are ignored, and
//! errors contain a byte offset.

/// An alphabet, and whether encoded texts are padded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// `+` and `/`, padded.
    Standard,
    /// `+` and `/`, not padded.
    StandardUnpadded,
    /// `-` and `_`, padded.
    UrlSafe,
}

/// The error for a text that is not base64, with the byte offset that Go reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("illegal base64 data at input byte {0}")]
pub struct CorruptInput(pub usize);

/// Decodes a base64 text.
///
/// # Errors
///
/// The text is not base64 of this encoding. The error contains the byte offset that Go reports.
pub fn decode(text: &str, encoding: Encoding) -> Result<Vec<u8>, CorruptInput> {
    let text = text.as_bytes();
    let mut bytes = Vec::with_capacity(text.len());
    let mut next = 0;
    loop {
        let (digits, count, after) = quantum(text, next, encoding).map_err(CorruptInput)?;
        let [a, b, c, d] = digits;
        let group = [(a << 2) | (b >> 4), (b << 4) | (c >> 2), (c << 6) | d];
        bytes.extend(group.iter().take(count.saturating_sub(1)));
        next = after;
        if count < digits.len() {
            return Ok(bytes);
        }
    }
}

/// A group of up to four digits: their values, their number, and the position after the group. Only the last group has fewer than four
/// digits.
type Quantum = ([u8; 4], usize, usize);

fn quantum(text: &[u8], start: usize, encoding: Encoding) -> Result<Quantum, usize> {
    let is_padded = encoding != Encoding::StandardUnpadded;
    let mut digits = [0; 4];
    let mut count = 0_usize;
    let mut next = start;
    while let Some(place) = digits.get_mut(count) {
        let Some(byte) = text.get(next).copied() else {
            return match count {
                1 => Err(next.saturating_sub(1)),
                // Go subtracts only the number of digits, although there may be line breaks between them.
                2.. if is_padded => Err(next.saturating_sub(count)),
                _ => Ok((digits, count, next)),
            };
        };
        let at = next;
        next = next.saturating_add(1);
        match digit(byte, encoding) {
            Some(value) => {
                *place = value;
                count = count.saturating_add(1);
            }
            None if is_line_break(byte) => {}
            None if byte == b'=' && is_padded && count >= 2 => {
                if count == 2 {
                    next = skip_line_breaks(text, next);
                    match text.get(next) {
                        None => return Err(text.len()),
                        Some(b'=') => next = next.saturating_add(1),
                        Some(_) => return Err(next.saturating_sub(1)),
                    }
                }
                next = skip_line_breaks(text, next);
                return match next < text.len() {
                    true => Err(next),
                    false => Ok((digits, count, next)),
                };
            }
            None => return Err(at),
        }
    }
    Ok((digits, count, next))
}

fn skip_line_breaks(text: &[u8], start: usize) -> usize {
    let rest = text.get(start..).unwrap_or_default();
    let breaks = rest.iter().take_while(|byte| is_line_break(**byte)).count();
    start.saturating_add(breaks)
}

fn is_line_break(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

fn digit(byte: u8, encoding: Encoding) -> Option<u8> {
    let is_url_safe = encoding == Encoding::UrlSafe;
    match byte {
        b'A'..=b'Z' => byte.checked_sub(b'A'),
        b'a'..=b'z' => byte.checked_sub(b'a')?.checked_add(26),
        b'0'..=b'9' => byte.checked_sub(b'0')?.checked_add(52),
        b'+' if !is_url_safe => Some(62),
        b'/' if !is_url_safe => Some(63),
        b'-' if is_url_safe => Some(62),
        b'_' if is_url_safe => Some(63),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_go_reads() {
        let check = |text: &str, encoding, expected: Result<&[u8], usize>| {
            let found = decode(text, encoding);
            let expected = expected.map(<[u8]>::to_vec).map_err(CorruptInput);
            assert_eq!(found, expected, "{encoding:?} {text:?}");
        };
        for (text, padded, unpadded) in [
            ("", Ok(&b""[..]), Ok(&b""[..])),
            ("aGlq", Ok(b"hij"), Ok(b"hij")),
            ("aGVsbG8=", Ok(b"hello"), Err(7)),
            ("aGVsbG8", Err(4), Ok(b"hello")),
            ("aGVs\nbG8=\r\n", Ok(b"hello"), Err(8)),
            ("QQ==", Ok(b"A"), Err(2)),
            ("QQ", Err(0), Ok(b"A")),
            // The unused bits of the last digit are ignored.
            ("QR==", Ok(b"A"), Err(2)),
            ("QR", Err(0), Ok(b"A")),
            ("QQ=\n=", Ok(b"A"), Err(2)),
            ("a b", Err(1), Err(1)),
            ("aé", Err(1), Err(1)),
            ("A", Err(0), Err(0)),
            ("\nA\n", Err(2), Err(2)),
            ("QUJD\nA", Err(5), Err(5)),
            ("QUJDA\n", Err(5), Err(5)),
            ("Q=", Err(1), Err(1)),
            ("=", Err(0), Err(0)),
            ("QQ=", Err(3), Err(2)),
            ("QQ=A", Err(2), Err(2)),
            ("QQ=\nA", Err(3), Err(2)),
            ("QQ==A", Err(4), Err(2)),
            ("QUI=QUI=", Err(4), Err(3)),
        ] {
            check(text, Encoding::Standard, padded);
            check(text, Encoding::UrlSafe, padded);
            check(text, Encoding::StandardUnpadded, unpadded);
        }
        check("a+/b", Encoding::Standard, Ok(b"\x6b\xef\xdb"));
        check("a+/b", Encoding::UrlSafe, Err(1));
        check("a-_b", Encoding::UrlSafe, Ok(b"\x6b\xef\xdb"));
        check("a-_b", Encoding::Standard, Err(1));
    }
}

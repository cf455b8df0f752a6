//! URL-safe base64 as Go's decoder reads it (`encoding/base64`): padded, line breaks anywhere, and a fault named by its place.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE;

/// The bytes that a text stands for; or the index of the byte, as Go names it, at which the text is no base64.
pub(super) fn decode(text: &str) -> Result<Vec<u8>, usize> {
    let lines: Vec<u8> = text.bytes().filter(|b| !is_line_break(*b)).collect();
    match URL_SAFE.decode(lines) {
        Ok(bytes) => Ok(bytes),
        Err(_) => decode_slowly(text.as_bytes()),
    }
}

fn is_line_break(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

/// Reads quantum by quantum, as Go does, which also reads texts whose last bits say nothing.
fn decode_slowly(text: &[u8]) -> Result<Vec<u8>, usize> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut next = 0;
    while let Some((quantum, after)) = quantum(text, next)? {
        let (mut bits, mut digits) = (0_u32, 0_u32);
        for digit in quantum.iter().flatten() {
            bits |= u32::from(*digit) << 18_u32.saturating_sub(digits.saturating_mul(6));
            digits = digits.saturating_add(1);
        }
        let count = usize::try_from(digits.saturating_sub(1)).unwrap_or(0);
        let [_, first, second, third] = bits.to_be_bytes();
        bytes.extend([first, second, third].into_iter().take(count));
        next = after;
    }
    Ok(bytes)
}

/// Four digits, or two or three and padding, and where they end. `None` at the end of the text.
type Quantum = Option<([Option<u8>; 4], usize)>;

fn quantum(text: &[u8], start: usize) -> Result<Quantum, usize> {
    let mut digits = [None; 4];
    let mut next = start;
    let mut count = 0_usize;
    while let Some(slot) = digits.get_mut(count) {
        let Some(byte) = text.get(next) else {
            return match count {
                0 => Ok(None),
                // So far back as there were digits, whatever line breaks were between them.
                _ => Err(next.saturating_sub(count)),
            };
        };
        let at = next;
        next = next.saturating_add(1);
        match digit(*byte) {
            Some(value) => {
                *slot = Some(value);
                count = count.saturating_add(1);
            }
            None if is_line_break(*byte) => {}
            None if *byte == b'=' && count >= 2 => {
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
                    false => Ok(Some((digits, next))),
                };
            }
            None => return Err(at),
        }
    }
    Ok(Some((digits, next)))
}

fn skip_line_breaks(text: &[u8], start: usize) -> usize {
    let rest = text.get(start..).unwrap_or(&[]);
    let breaks = rest.iter().take_while(|b| is_line_break(**b)).count();
    start.saturating_add(breaks)
}

fn digit(byte: u8) -> Option<u8> {
    match byte {
        b'A'..=b'Z' => byte.checked_sub(b'A'),
        b'a'..=b'z' => byte.checked_sub(b'a')?.checked_add(26),
        b'0'..=b'9' => byte.checked_sub(b'0')?.checked_add(52),
        b'-' => Some(62),
        b'_' => Some(63),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_go_reads() {
        for (text, expected) in [
            ("", Ok(&b""[..])),
            ("aGVsbG8=", Ok(b"hello")),
            ("aGVs\nbG8=\r\n", Ok(b"hello")),
            ("a-_b", Ok(b"\x6b\xef\xdb")),
            ("QQ==", Ok(b"A")),
            // The last bits say nothing.
            ("QR==", Ok(b"A")),
            ("QQ=\n=", Ok(b"A")),
            ("a+/b", Err(1)),
            ("A", Err(0)),
            ("QUJD\nA", Err(5)),
            ("QUJDA\n", Err(5)),
            ("Q=", Err(1)),
            ("=", Err(0)),
            ("QQ=", Err(3)),
            ("QQ=A", Err(2)),
            ("QQ==A", Err(4)),
            ("QUI=QUI=", Err(4)),
            ("QQ", Err(0)),
            ("aé", Err(1)),
        ] {
            assert_eq!(
                decode(text).as_deref(),
                expected.as_ref().copied(),
                "{text:?}"
            );
        }
    }
}

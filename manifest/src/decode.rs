//! Decodes files. If a file is not text in UTF-8, the error says where and why.

use crate::place::Place;
use crate::problem::{Problem, rule};

/// The byte order mark that some editors and shells write at the beginning of a file, in UTF-8.
pub const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Decodes bytes as UTF-8, without the byte order mark.
///
/// # Errors
///
/// The bytes are not UTF-8. The problem says which encoding or type of file the bytes look like and, if they look like a text, where the
/// first byte is that UTF-8 does not allow.
pub fn decode(mut bytes: Vec<u8>) -> Result<String, Problem> {
    if bytes.starts_with(BYTE_ORDER_MARK) {
        bytes.drain(..BYTE_ORDER_MARK.len());
    }
    let known = match bytes.as_slice() {
        [0x1f, 0x8b, ..] => Some("a file packed with gzip; unpack it first (gunzip)"),
        [b'P', b'K', 3, 4, ..] => Some("a zip archive"),
        [0xff, 0xfe, 0, 0, ..] | [0, 0, 0xfe, 0xff, ..] => {
            Some("UTF-32; convert it first (iconv -f UTF-32 -t UTF-8)")
        }
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => {
            Some("UTF-16; convert it first (iconv -f UTF-16 -t UTF-8)")
        }
        [b'\x7f', b'E', b'L', b'F', ..] => Some("a program"),
        _ => None,
    };
    if let Some(what) = known {
        return Err(looks_like(what));
    }
    String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let bytes = error.as_bytes();
        let before = bytes.get(..valid).unwrap_or_default();
        let line = before.iter().filter(|byte| **byte == b'\n').count();
        let start = before.iter().rposition(|byte| *byte == b'\n');
        let start = start.map_or(0, |at| at.saturating_add(1));
        let column = String::from_utf8_lossy(before.get(start..).unwrap_or_default());
        let byte = bytes.get(valid).copied().unwrap_or_default();
        let problem = match bytes.contains(&0) {
            true => looks_like("a binary file"),
            false => looks_like(&format!(
                "another encoding: the byte 0x{byte:02x} is no UTF-8 here"
            )),
        };
        let column = column.chars().count().saturating_add(1);
        problem.at(Place::new(line.saturating_add(1), column))
    })
}

fn looks_like(what: &str) -> Problem {
    Problem::new(
        rule::UNREADABLE,
        format!("must be UTF-8, but looks like {what}"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_are_no_text_are_described() {
        for (bytes, expected) in [
            (&b"a: caf\xc3\xa9\n"[..], Ok("a: caf\u{e9}\n")),
            (
                b"a: 1\nb: \xc3\xa9\xe9\n",
                Err(
                    "2:5: must be UTF-8, but looks like another encoding: the byte 0xe9 is no UTF-8 here",
                ),
            ),
            (b"\xef\xbb\xbfa: 1\n", Ok("a: 1\n")),
            (
                b"a\0\xe9",
                Err("1:3: must be UTF-8, but looks like a binary file"),
            ),
            (
                b"\xff\xfe\0\0a\0\0\0",
                Err(
                    "must be UTF-8, but looks like UTF-32; convert it first (iconv -f UTF-32 -t UTF-8)",
                ),
            ),
            (
                b"\xff\xfea\0",
                Err(
                    "must be UTF-8, but looks like UTF-16; convert it first (iconv -f UTF-16 -t UTF-8)",
                ),
            ),
        ] {
            let decoded = decode(bytes.to_vec()).map_err(|problem| problem.to_string());
            assert_eq!(decoded.as_deref().map_err(String::as_str), expected);
        }
    }
}

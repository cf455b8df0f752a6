//! Writes JSON on one line.

use std::io::{self, Write};

use gavel_apimachinery::json;
use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};

/// Characters that some readers treat as the end of a line: next line, line separator, paragraph separator.
const SEPARATORS: [char; 3] = ['\u{85}', '\u{2028}', '\u{2029}'];

/// The maximum length of a line, in bytes. A short expression can build a value that would take practically all memory as text.
pub const MAX_BYTES: usize = 256 << 20;

/// A line would be longer than [`MAX_BYTES`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the answer must take at most {} MiB", MAX_BYTES >> 20)]
pub struct LineTooLong;

/// Appends a value and a line feed. Line separators within strings are escaped.
///
/// # Errors
///
/// The line would be longer than [`MAX_BYTES`]. Then nothing is appended.
pub fn write(value: &impl Serialize, out: &mut Vec<u8>) -> Result<(), LineTooLong> {
    write_within(MAX_BYTES, value, out)
}

fn write_within(most: usize, value: &impl Serialize, out: &mut Vec<u8>) -> Result<(), LineTooLong> {
    let before = out.len();
    let most = before.saturating_add(most);
    // Writing does not fail for another reason: the keys of all objects are strings.
    let written = value.serialize(&mut Serializer::with_formatter(Line { out, most }, OneLine));
    match written {
        Ok(()) => {
            out.push(b'\n');
            Ok(())
        }
        Err(_) => {
            out.truncate(before);
            Err(LineTooLong)
        }
    }
}

/// A line that is written to the end of `out`, which may become at most `most` bytes long.
struct Line<'o> {
    out: &'o mut Vec<u8>,
    most: usize,
}

impl Write for Line<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.len() > self.most.saturating_sub(self.out.len()) {
            return Err(io::ErrorKind::OutOfMemory.into());
        }
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

struct OneLine;

impl Formatter for OneLine {
    /// Writes a double as Go does.
    fn write_f64<W: ?Sized + Write>(&mut self, out: &mut W, value: f64) -> io::Result<()> {
        out.write_all(json::double_text(value).as_bytes())
    }

    fn write_string_fragment<W: ?Sized + Write>(
        &mut self,
        out: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        for piece in fragment.split_inclusive(SEPARATORS) {
            match piece
                .char_indices()
                .next_back()
                .filter(|(_, last)| SEPARATORS.contains(last))
            {
                Some((end, separator)) => {
                    out.write_all(piece.as_bytes().get(..end).unwrap_or_default())?;
                    write!(out, "\\u{:04x}", u32::from(separator))?;
                }
                None => out.write_all(piece.as_bytes())?,
            }
        }
        Ok(())
    }

    /// Writes a fragment of JSON, and escapes its line separators, which can only occur within strings.
    fn write_raw_fragment<W: ?Sized + Write>(
        &mut self,
        out: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        self.write_string_fragment(out, fragment)
    }
}

#[cfg(test)]
mod tests {
    use gavel_engine::value::{Arena, Value};
    use serde_json::value::RawValue;

    use super::*;
    use crate::TypedValue;

    #[test]
    fn lines_are_bounded() {
        let arena = Arena::new();
        let mut list = arena.list(&[Value::NULL]);
        for _ in 0..60 {
            list = arena.list(&[list, list]);
        }
        let mut out = b"before".to_vec();
        let written = write_within(1 << 16, &TypedValue::new(list), &mut out);
        assert_eq!((written, &*out), (Err(LineTooLong), b"before".as_slice()));
    }

    #[test]
    fn texts_hold_no_line_separators() {
        let mut out = Vec::new();
        write(&"a\u{2028}b\u{85}\u{2029}\né", &mut out).unwrap();
        let out = String::from_utf8(out).unwrap();
        assert_eq!(out, "\"a\\u2028b\\u0085\\u2029\\né\"\n");
        let mut out = Vec::new();
        write(
            &RawValue::from_string("[\"\u{85}\"]".to_owned()).unwrap(),
            &mut out,
        )
        .unwrap();
        assert_eq!(out, b"[\"\\u0085\"]\n");
    }
}

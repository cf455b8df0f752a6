//! Writes JSON on one line.

use std::io::{self, Write};

use gavel_apimachinery::json;
use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};

/// Characters that some readers treat as the end of a line: next line, line separator, paragraph separator.
const SEPARATORS: [char; 3] = ['\u{85}', '\u{2028}', '\u{2029}'];

/// Appends a value and a line feed. Line separators within strings are escaped.
pub fn write(value: &impl Serialize, out: &mut Vec<u8>) {
    // Writing to a Vec does not fail, and the keys of all objects are strings.
    let _ = value.serialize(&mut Serializer::with_formatter(&mut *out, OneLine));
    out.push(b'\n');
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
    use serde_json::value::RawValue;

    use super::*;

    #[test]
    fn texts_hold_no_line_separators() {
        let mut out = Vec::new();
        write(&"a\u{2028}b\u{85}\u{2029}\né", &mut out);
        let out = String::from_utf8(out).unwrap();
        assert_eq!(out, "\"a\\u2028b\\u0085\\u2029\\né\"\n");
        let mut out = Vec::new();
        write(
            &RawValue::from_string("[\"\u{85}\"]".to_owned()).unwrap(),
            &mut out,
        );
        assert_eq!(out, b"[\"\\u0085\"]\n");
    }
}

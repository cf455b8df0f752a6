//! Text as a Go string literal (`strconv.Quote`, which `fmt`'s `%q` uses).

use std::fmt::{self, Write};
use std::sync::LazyLock;

use regex_syntax::hir::ClassUnicode;

use super::unicode;

/// The text in double quotes, with Go's escapes for `"`, `\` and unprintable characters.
///
/// Accepts text or bytes; each byte that is not part of valid UTF-8 becomes `\xNN`.
pub fn quote(text: impl AsRef<[u8]>) -> String {
    let text = text.as_ref();
    let mut out = String::with_capacity(text.len().saturating_add(2));
    // Writing to a String does not fail.
    let _ = write_quoted(&mut out, text);
    out
}

/// Writes the text that [`quote`] returns.
///
/// # Errors
///
/// Writing to `out` fails.
pub fn write_quoted(out: &mut impl Write, text: impl AsRef<[u8]>) -> fmt::Result {
    out.write_char('"')?;
    for chunk in text.as_ref().utf8_chunks() {
        for c in chunk.valid().chars() {
            write_escaped(out, c)?;
        }
        for byte in chunk.invalid() {
            write!(out, "\\x{byte:02x}")?;
        }
    }
    out.write_char('"')
}

fn write_escaped(out: &mut impl Write, c: char) -> fmt::Result {
    match c {
        '"' | '\\' => write!(out, "\\{c}"),
        '\x07' => out.write_str("\\a"),
        '\x08' => out.write_str("\\b"),
        '\x0c' => out.write_str("\\f"),
        '\n' => out.write_str("\\n"),
        '\r' => out.write_str("\\r"),
        '\t' => out.write_str("\\t"),
        '\x0b' => out.write_str("\\v"),
        _ if is_print(c) => out.write_char(c),
        '\0'..' ' | '\x7f' => write!(out, "\\x{:02x}", u32::from(c)),
        '\0'..='\u{ffff}' => write!(out, "\\u{:04x}", u32::from(c)),
        _ => write!(out, "\\U{:08x}", u32::from(c)),
    }
}

/// Whether Go prints a character without an escape: letters, marks, numbers, punctuation, symbols and the ASCII space.
pub fn is_print(c: char) -> bool {
    static PRINTABLE: LazyLock<ClassUnicode> = LazyLock::new(|| {
        let mut class = unicode::category("L");
        for category in ["M", "N", "P", "S"] {
            class.union(&unicode::category(category));
        }
        class
    });
    if c.is_ascii() {
        matches!(c, ' '..='~')
    } else {
        unicode::contains(&PRINTABLE, c)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_as_go_does() {
        let cases = [
            ("", r#""""#),
            ("plain text", r#""plain text""#),
            ("\"\\'`", r#""\"\\'`""#),
            ("\x07\x08\x0c\n\r\t\x0b", r#""\a\b\f\n\r\t\v""#),
            ("\0\x1f\x7f", r#""\x00\x1f\x7f""#),
            ("\u{80}\u{a0}\u{ad}", r#""\u0080\u00a0\u00ad""#),
            ("é€😀", r#""é€😀""#),
            (
                "\u{200b}\u{feff}\u{2028}\u{3000}",
                r#""\u200b\ufeff\u2028\u3000""#,
            ),
            ("\u{e000}\u{fffd}\u{fffe}", "\"\\ue000\u{fffd}\\ufffe\""),
            (
                "\u{301}\u{10ffff}\u{e0001}",
                "\"\u{301}\\U0010ffff\\U000e0001\"",
            ),
            // The first character is new in Unicode 16.0, which Go 1.26 does not support.
            ("\u{1fadc}\u{1fae8}", "\"\\U0001fadc\u{1fae8}\""),
        ];
        for (text, expected) in cases {
            assert_eq!(quote(text), expected, "{text:?}");
        }
    }

    #[test]
    fn quotes_bytes_that_are_no_utf8() {
        let cases: [(&[u8], &str); 3] = [
            (b"a\xffb", r#""a\xffb""#),
            (b"\xe2\x82", r#""\xe2\x82""#),
            (b"\xed\xa0\x80", r#""\xed\xa0\x80""#),
        ];
        for (bytes, expected) in cases {
            assert_eq!(quote(bytes), expected, "{bytes:?}");
        }
    }
}

//! Makes texts from files safe to print on a terminal.

use std::borrow::Cow;
use std::fmt::Write;

/// Makes a text safe for a terminal: control characters other than newlines and tabs are written as escapes, such as `\u{1b}`.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    let is_hidden = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match is_hidden(c) {
            // Writing to a String does not fail.
            true => _ = write!(shown, "\\u{{{:x}}}", u32::from(c)),
            false => shown.push(c),
        }
    }
    Cow::Owned(shown)
}

/// Makes a line safe for an excerpt. Each control character beyond ASCII becomes U+FFFD; the renderer of excerpts replaces those of ASCII.
/// The columns stay the same.
pub(crate) fn line_of_excerpt(line: &str) -> String {
    line.replace(|c: char| c.is_control() && !c.is_ascii(), "\u{fffd}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_shown() {
        for (text, expected) in [
            ("plain\n\ttext, ä", "plain\n\ttext, ä"),
            ("a\u{1b}[31mred", "a\\u{1b}[31mred"),
            ("\u{7}\r\u{9b}2J\u{7f}", "\\u{7}\\u{d}\\u{9b}2J\\u{7f}"),
        ] {
            assert_eq!(visible(text), expected);
        }
    }
}

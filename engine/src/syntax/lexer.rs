//! Splits a text into tokens (`parser/gen/CEL.g4`). The longest match wins; characters that match no token are an error.

use memchr::memchr;

use super::token::{Token, TokenKind};
use crate::source::{Offset, Source};

/// A set of byte classes. Each class has a bit.
type Class = u8;

const SPACE: Class = 1;
const OCTAL_DIGIT: Class = 2;
const DIGIT: Class = 4;
const HEX_DIGIT: Class = 8;
/// A letter, a digit or `_`.
const WORD: Class = 16;
/// A character of a field name between backticks.
const ESCAPED: Class = 32;
/// A character that neither ends a string nor begins an escape.
const PLAIN: Class = 64;
/// A character that begins white space or may begin a comment.
const HIDDEN: Class = 128;

/// The classes of each byte.
const CLASSES: [Class; 256] = classes();

#[expect(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    reason = "the table is computed at compile time, for each byte"
)]
const fn classes() -> [Class; 256] {
    let mut classes = [0; 256];
    let mut byte = 0;
    while byte < classes.len() {
        classes[byte] = class(byte as u8);
        byte += 1;
    }
    classes
}

const fn class(byte: u8) -> Class {
    match byte {
        b'0'..=b'7' => OCTAL_DIGIT | DIGIT | HEX_DIGIT | WORD | ESCAPED | PLAIN,
        b'8'..=b'9' => DIGIT | HEX_DIGIT | WORD | ESCAPED | PLAIN,
        b'A'..=b'F' | b'a'..=b'f' => HEX_DIGIT | WORD | ESCAPED | PLAIN,
        b'A'..=b'Z' | b'a'..=b'z' | b'_' => WORD | ESCAPED | PLAIN,
        b'.' | b'-' => ESCAPED | PLAIN,
        b'/' => HIDDEN | ESCAPED | PLAIN,
        b' ' => HIDDEN | SPACE | ESCAPED | PLAIN,
        b'\t' | 0x0c => HIDDEN | SPACE | PLAIN,
        b'\n' | b'\r' => HIDDEN | SPACE,
        b'"' | b'\'' | b'\\' => 0,
        _ => PLAIN,
    }
}

/// Sets the high bit of each of eight bytes that is not in [`WORD`].
fn other_than_word(bytes: u64) -> u64 {
    const HIGH_BITS: u64 = repeated(0x80);
    // A sum sets the high bit of each byte that is at least the first byte of the range, or greater than its last byte.
    let in_range = |bytes: u64, first: u8, last: u8| {
        let from_first = bytes.wrapping_add(repeated(0x80_u8.wrapping_sub(first)));
        let past_last = bytes.wrapping_add(repeated(0x7f_u8.wrapping_sub(last)));
        from_first & !past_last
    };
    let ascii = bytes & !HIGH_BITS;
    let letters = in_range(ascii | repeated(0x20), b'a', b'z');
    let word = letters | in_range(ascii, b'0', b'9') | in_range(ascii, b'_', b'_');
    !(word & !bytes) & HIGH_BITS
}

const fn repeated(byte: u8) -> u64 {
    u64::from_le_bytes([byte; 8])
}

fn is(byte: u8, class: Class) -> bool {
    CLASSES
        .get(usize::from(byte))
        .is_some_and(|known| known & class != 0)
}

/// Reads tokens one at a time. Skips white space and comments.
#[derive(Debug, Clone)]
pub(super) struct Lexer<'s> {
    text: &'s str,
    /// The position of the next character, in bytes.
    at: usize,
    /// The position of the next character, in code points.
    offset: Offset,
    /// Whether all characters are single bytes, so that byte and code point positions are the same.
    ascii: bool,
}

/// Characters that form no token, up to and including the first character that cannot continue any token.
#[derive(Debug, Clone, Copy)]
pub(super) struct UnknownToken {
    /// The position of the first character, in code points.
    pub(super) offset: Offset,
    /// The position of the first character, in bytes.
    pub(super) start: usize,
    /// The end of the last character, in bytes.
    pub(super) end: usize,
}

impl<'s> Lexer<'s> {
    /// Starts at the beginning of a text.
    pub(super) fn new(source: &'s Source) -> Self {
        let text = source.text();
        Lexer {
            text,
            at: 0,
            offset: 0,
            ascii: usize::try_from(source.code_points()) == Ok(text.len()),
        }
    }

    /// Reads the next token. At the end of the text, the token is always [`TokenKind::Eof`].
    #[inline(always)]
    pub(super) fn next(&mut self) -> Result<Token, UnknownToken> {
        self.skip_hidden();
        let (start, offset) = (self.at, self.offset);
        match self.scan(start) {
            Ok((kind, end)) => {
                self.advance(end);
                Ok(Token {
                    kind,
                    offset,
                    start,
                    end,
                })
            }
            Err(failed) => {
                let broken = self.text.get(failed..).and_then(|rest| rest.chars().next());
                let end = failed.saturating_add(broken.map_or(0, char::len_utf8));
                self.advance(end);
                Err(UnknownToken { offset, start, end })
            }
        }
    }

    fn byte(&self, at: usize) -> Option<u8> {
        self.text.as_bytes().get(at).copied()
    }

    #[inline]
    fn advance(&mut self, to: usize) {
        match self.ascii {
            true => self.offset = u32::try_from(to).unwrap_or(u32::MAX),
            false => self.count(to),
        }
        self.at = to;
    }

    /// Adds the code points up to `to` to the offset.
    #[inline(never)]
    fn count(&mut self, to: usize) {
        let passed = self.text.get(self.at..to);
        let passed = passed.map_or(0, |passed| passed.chars().count());
        self.offset = self
            .offset
            .saturating_add(u32::try_from(passed).unwrap_or(u32::MAX));
    }

    #[inline(always)]
    fn skip_hidden(&mut self) {
        // Most tokens have at most one space before them.
        if self.byte(self.at) == Some(b' ') {
            self.advance(self.at.saturating_add(1));
        }
        while self.byte(self.at).is_some_and(|byte| is(byte, HIDDEN)) && self.skip() {}
    }

    /// Skips white space or a comment. Returns false if neither comes next.
    #[inline(never)]
    fn skip(&mut self) -> bool {
        let mut end = self.past(self.at, SPACE);
        if end == self.at && self.byte(end.saturating_add(1)) == Some(b'/') {
            let rest = self.text.as_bytes().get(end..).unwrap_or_default();
            end = end.saturating_add(memchr(b'\n', rest).unwrap_or(rest.len()));
        }
        let found = end > self.at;
        self.advance(end);
        found
    }

    /// The position of the first byte from `at` on that is not in the class.
    #[inline(always)]
    fn past(&self, at: usize, class: Class) -> usize {
        let rest = self.text.as_bytes().get(at..).unwrap_or_default();
        let past = rest.iter().position(|byte| !is(*byte, class));
        at.saturating_add(past.unwrap_or(rest.len()))
    }

    /// The position of the first byte from `start` on that is not in [`WORD`]. Looks at eight bytes at a time: the lengths of words differ
    /// so much that a processor cannot predict the end of a loop over bytes.
    #[inline(always)]
    fn past_word(&self, start: usize) -> usize {
        let mut at = start;
        let text = self.text.as_bytes();
        while let Some(bytes) = text.get(at..).and_then(<[u8]>::first_chunk) {
            let other = other_than_word(u64::from_le_bytes(*bytes));
            let length = other.trailing_zeros() / u8::BITS;
            at = at.saturating_add(length as usize);
            if length < 8 {
                return at;
            }
        }
        self.past(at, WORD)
    }

    /// The kind and end of the token at `start`, or the position of the character at which no token is possible.
    #[inline(always)]
    fn scan(&self, start: usize) -> Result<(TokenKind, usize), usize> {
        let Some(first) = self.byte(start) else {
            return Ok((TokenKind::Eof, start));
        };
        let second = start.saturating_add(1);
        let one = |kind| Ok((kind, second));
        let two = |next: u8, kind| match self.byte(second) {
            Some(b) if b == next => Some((kind, second.saturating_add(1))),
            _ => None,
        };
        match first {
            b'A'..=b'Z' | b'a'..=b'z' | b'_' => Ok(self.word(start)),
            b'0'..=b'9' => Ok(self.number(start)),
            b'"' | b'\'' => Ok((TokenKind::String, self.string(start, false)?)),
            b'.' if self.byte(second).is_some_and(|b| b.is_ascii_digit()) => {
                Ok((TokenKind::Float, self.fraction(start)))
            }
            b'.' => one(TokenKind::Dot),
            b'(' => one(TokenKind::LeftParen),
            b')' => one(TokenKind::RightParen),
            b'[' => one(TokenKind::LeftBracket),
            b']' => one(TokenKind::RightBracket),
            b'{' => one(TokenKind::LeftBrace),
            b'}' => one(TokenKind::RightBrace),
            b',' => one(TokenKind::Comma),
            b':' => one(TokenKind::Colon),
            b'?' => one(TokenKind::QuestionMark),
            b'+' => one(TokenKind::Plus),
            b'-' => one(TokenKind::Minus),
            b'*' => one(TokenKind::Star),
            b'/' => one(TokenKind::Slash),
            b'%' => one(TokenKind::Percent),
            b'!' => two(b'=', TokenKind::NotEquals).map_or_else(|| one(TokenKind::Exclam), Ok),
            b'<' => two(b'=', TokenKind::LessEquals).map_or_else(|| one(TokenKind::Less), Ok),
            b'>' => two(b'=', TokenKind::GreaterEquals).map_or_else(|| one(TokenKind::Greater), Ok),
            b'=' => two(b'=', TokenKind::Equals).ok_or(second),
            b'&' => two(b'&', TokenKind::LogicalAnd).ok_or(second),
            b'|' => two(b'|', TokenKind::LogicalOr).ok_or(second),
            b'`' => self.escaped_identifier(second),
            _ => Err(start),
        }
    }

    /// Scans an identifier, a keyword, or a string with a prefix. Returns its kind and end.
    #[inline(always)]
    fn word(&self, start: usize) -> (TokenKind, usize) {
        let end = self.past_word(start);
        let word = self.text.as_bytes().get(start..end).unwrap_or_default();
        if matches!(self.byte(end), Some(b'"' | b'\'')) {
            let prefixed = match word {
                b"r" | b"R" => Some((TokenKind::String, true)),
                b"b" | b"B" => Some((TokenKind::Bytes, false)),
                [b'b' | b'B', b'r' | b'R'] => Some((TokenKind::Bytes, true)),
                _ => None,
            };
            // If the string has no end, its prefix is an identifier.
            if let Some((kind, raw)) = prefixed
                && let Ok(end) = self.string(end, raw)
            {
                return (kind, end);
            }
        }
        let kind = match word {
            b"in" => TokenKind::In,
            b"true" => TokenKind::True,
            b"false" => TokenKind::False,
            b"null" => TokenKind::Null,
            _ => TokenKind::Identifier,
        };
        (kind, end)
    }

    #[inline(never)]
    fn number(&self, start: usize) -> (TokenKind, usize) {
        let mut end = self.past(start, DIGIT);
        let digits = self.text.as_bytes().get(start..end).unwrap_or_default();
        if digits == b"0" && self.byte(end) == Some(b'x') {
            let hex = end.saturating_add(1);
            let past = self.past(hex, HEX_DIGIT);
            if past > hex {
                end = past;
            }
        } else {
            let float = self.fraction(end);
            if float > end {
                return (TokenKind::Float, float);
            }
        }
        match self.byte(end) {
            Some(b'u' | b'U') => (TokenKind::Uint, end.saturating_add(1)),
            _ => (TokenKind::Int, end),
        }
    }

    /// The end of the fraction or exponent at `start`, such as `.5`, `.5e3` or `e3`. Returns `start` if neither is there.
    fn fraction(&self, start: usize) -> usize {
        let mut end = start;
        if self.byte(start) == Some(b'.') {
            let first = start.saturating_add(1);
            let past = self.past(first, DIGIT);
            if past == first {
                return start;
            }
            end = past;
        }
        if matches!(self.byte(end), Some(b'e' | b'E')) {
            let mut first = end.saturating_add(1);
            if matches!(self.byte(first), Some(b'+' | b'-')) {
                first = first.saturating_add(1);
            }
            let past = self.past(first, DIGIT);
            if past > first {
                end = past;
            }
        }
        end
    }

    fn escaped_identifier(&self, start: usize) -> Result<(TokenKind, usize), usize> {
        let end = self.past(start, ESCAPED);
        if end > start && self.byte(end) == Some(b'`') {
            return Ok((TokenKind::EscapedIdentifier, end.saturating_add(1)));
        }
        Err(end)
    }

    /// The end of the string whose opening quote is at `open`. The error is the position of the first character that the string must not
    /// contain, or the end of the text.
    #[inline(never)]
    fn string(&self, open: usize, raw: bool) -> Result<usize, usize> {
        let quote = self.byte(open);
        let second = open.saturating_add(1);
        let third = open.saturating_add(2);
        if self.byte(second) != quote {
            return self.line_string(second, quote, raw);
        }
        if self.byte(third) == quote
            && let Some(end) = self.text_string(open.saturating_add(3), quote, raw)
        {
            return Ok(end);
        }
        // Three quotes that do not begin a string are an empty string and another quote.
        Ok(third)
    }

    fn line_string(&self, start: usize, quote: Option<u8>, raw: bool) -> Result<usize, usize> {
        let mut at = start;
        loop {
            at = self.past(at, PLAIN);
            match self.byte(at) {
                Some(b'\\') if !raw => at = self.escape(at)?,
                None | Some(b'\n' | b'\r') => return Err(at),
                found if found == quote => return Ok(at.saturating_add(1)),
                Some(_) => at = at.saturating_add(1),
            }
        }
    }

    fn text_string(&self, start: usize, quote: Option<u8>, raw: bool) -> Option<usize> {
        let mut at = start;
        loop {
            at = self.past(at, PLAIN);
            let next = at.saturating_add(1);
            match self.byte(at)? {
                b'\\' if !raw => at = self.escape(at).ok()?,
                found
                    if [
                        Some(found),
                        self.byte(next),
                        self.byte(next.saturating_add(1)),
                    ] == [quote; 3] =>
                {
                    return Some(at.saturating_add(3));
                }
                _ => at = next,
            }
        }
    }

    /// The end of the escape whose backslash is at `backslash`. The error is the position of a character that the escape must not contain.
    fn escape(&self, backslash: usize) -> Result<usize, usize> {
        let letter = backslash.saturating_add(1);
        let start = letter.saturating_add(1);
        let digits = |count: usize, class: Class| {
            let end = self.past(start, class);
            let wanted = start.saturating_add(count);
            if end < wanted { Err(end) } else { Ok(wanted) }
        };
        match self.byte(letter) {
            Some(
                b'a' | b'b' | b'f' | b'n' | b'r' | b't' | b'v' | b'"' | b'\'' | b'\\' | b'?' | b'`',
            ) => Ok(start),
            Some(b'0'..=b'3') => digits(2, OCTAL_DIGIT),
            Some(b'x' | b'X') => digits(2, HEX_DIGIT),
            Some(b'u') => digits(4, HEX_DIGIT),
            Some(b'U') => digits(8, HEX_DIGIT),
            _ => Err(letter),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_end_at_the_first_other_byte() {
        for byte in 0..=u8::MAX {
            for place in 0..8 {
                let mut bytes = *b"aZ09_xyz";
                bytes[place] = byte;
                let other = other_than_word(u64::from_le_bytes(bytes));
                let expected = if is(byte, WORD) { 8 } else { place as u32 };
                assert_eq!(other.trailing_zeros() / 8, expected, "{byte} at {place}");
            }
        }
    }
}

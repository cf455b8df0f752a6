//! Splits a text into tokens: the longest match wins, and characters that match nothing are an error (`parser/gen/CEL.g4`).

use super::token::{Token, TokenKind};
use crate::source::{Offset, Source};

/// Reads tokens one at a time; white space and comments are skipped.
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

/// Characters that form no token. The last of them is the first character that no token could continue with.
#[derive(Debug, Clone, Copy)]
pub(super) struct UnknownToken {
    /// Where they start, in code points.
    pub(super) offset: Offset,
    /// Where they start, in bytes.
    pub(super) start: usize,
    /// Where they end, in bytes.
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

    /// The next token; at the end of the text always [`TokenKind::Eof`].
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

    fn advance(&mut self, to: usize) {
        let passed = if self.ascii {
            to.saturating_sub(self.at)
        } else {
            self.text
                .get(self.at..to)
                .map_or(0, |passed| passed.chars().count())
        };
        self.offset = self
            .offset
            .saturating_add(u32::try_from(passed).unwrap_or(u32::MAX));
        self.at = to;
    }

    fn skip_hidden(&mut self) {
        loop {
            let mut at = self.past(self.at, |b| {
                matches!(b, b' ' | b'\t' | b'\n' | b'\r' | 0x0c)
            });
            if self.byte(at) == Some(b'/') && self.byte(at.saturating_add(1)) == Some(b'/') {
                at = self.past(at, |b| b != b'\n');
            }
            if at == self.at {
                return;
            }
            self.advance(at);
        }
    }

    /// The first position from `at` on whose byte is not `accepted`.
    fn past(&self, at: usize, accepted: impl Fn(u8) -> bool) -> usize {
        let rest = self.text.as_bytes().get(at..).unwrap_or_default();
        at.saturating_add(
            rest.iter()
                .position(|b| !accepted(*b))
                .unwrap_or(rest.len()),
        )
    }

    /// The kind and end of the token at `start`, or the position of the character at which no token is possible.
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

    /// An identifier, a keyword, or a string with a prefix.
    fn word(&self, start: usize) -> (TokenKind, usize) {
        let end = self.past(start, |b| b.is_ascii_alphanumeric() || b == b'_');
        let word = self.text.as_bytes().get(start..end).unwrap_or_default();
        if matches!(self.byte(end), Some(b'"' | b'\'')) {
            let prefixed = match word {
                b"r" | b"R" => Some((TokenKind::String, true)),
                b"b" | b"B" => Some((TokenKind::Bytes, false)),
                [b'b' | b'B', b'r' | b'R'] => Some((TokenKind::Bytes, true)),
                _ => None,
            };
            // If the string does not end, its prefix is an identifier.
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

    fn number(&self, start: usize) -> (TokenKind, usize) {
        let mut end = self.past(start, |b| b.is_ascii_digit());
        let digits = self.text.as_bytes().get(start..end).unwrap_or_default();
        if digits == b"0" && self.byte(end) == Some(b'x') {
            let hex = end.saturating_add(1);
            let past = self.past(hex, |b| b.is_ascii_hexdigit());
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

    /// The end of `.5`, `.5e3` or `e3` at `start`; `start` if there is none.
    fn fraction(&self, start: usize) -> usize {
        let mut end = start;
        if self.byte(start) == Some(b'.') {
            let first = start.saturating_add(1);
            let past = self.past(first, |b| b.is_ascii_digit());
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
            let past = self.past(first, |b| b.is_ascii_digit());
            if past > first {
                end = past;
            }
        }
        end
    }

    fn escaped_identifier(&self, start: usize) -> Result<(TokenKind, usize), usize> {
        let end = self.past(start, |b| {
            b.is_ascii_alphanumeric() || b"_.-/ ".contains(&b)
        });
        if end > start && self.byte(end) == Some(b'`') {
            return Ok((TokenKind::EscapedIdentifier, end.saturating_add(1)));
        }
        Err(end)
    }

    /// The end of the string whose quote is at `open`, or the position of the character that is not allowed in it.
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
        // If three quotes do not begin a string, they are an empty string and another quote.
        Ok(third)
    }

    fn line_string(&self, start: usize, quote: Option<u8>, raw: bool) -> Result<usize, usize> {
        let mut at = start;
        loop {
            at = self.past(at, |b| {
                Some(b) != quote && !matches!(b, b'\\' | b'\n' | b'\r')
            });
            match self.byte(at) {
                Some(b'\\') if raw => at = at.saturating_add(1),
                Some(b'\\') => at = self.escape(at)?,
                found if found.is_some() && found == quote => return Ok(at.saturating_add(1)),
                _ => return Err(at),
            }
        }
    }

    fn text_string(&self, start: usize, quote: Option<u8>, raw: bool) -> Option<usize> {
        let mut at = start;
        loop {
            at = self.past(at, |b| Some(b) != quote && b != b'\\');
            let next = at.saturating_add(1);
            match self.byte(at)? {
                b'\\' if !raw => at = self.escape(at).ok()?,
                b'\\' => at = next,
                _ if self.byte(next) == quote && self.byte(next.saturating_add(1)) == quote => {
                    return Some(at.saturating_add(3));
                }
                _ => at = next,
            }
        }
    }

    /// The end of the escape whose backslash is at `backslash`, or the position of the character that is not allowed in it.
    fn escape(&self, backslash: usize) -> Result<usize, usize> {
        let letter = backslash.saturating_add(1);
        let start = letter.saturating_add(1);
        let digits = |count: usize, accepted: fn(u8) -> bool| {
            let end = self.past(start, accepted);
            let wanted = start.saturating_add(count);
            if end < wanted { Err(end) } else { Ok(wanted) }
        };
        let hexadecimal = |b: u8| b.is_ascii_hexdigit();
        match self.byte(letter) {
            Some(
                b'a' | b'b' | b'f' | b'n' | b'r' | b't' | b'v' | b'"' | b'\'' | b'\\' | b'?' | b'`',
            ) => Ok(start),
            Some(b'0'..=b'3') => digits(2, |b| matches!(b, b'0'..=b'7')),
            Some(b'x' | b'X') => digits(2, hexadecimal),
            Some(b'u') => digits(4, hexadecimal),
            Some(b'U') => digits(8, hexadecimal),
            _ => Err(letter),
        }
    }
}

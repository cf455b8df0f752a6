//! The input of the decoder: JSON text, or a JSON value that is already parsed.

use std::borrow::Cow;

use serde_json::Value as Json;

use super::DecodeError;
use super::scan::{self, is_space};
use crate::json;

/// The JSON that an object is decoded from.
#[derive(Debug, Clone, Copy)]
pub enum Source<'t> {
    /// JSON text, in which an object may have duplicate fields.
    Text(&'t str),
    /// A value that was already parsed from YAML or JSON.
    Value(&'t Json),
}

impl<'t> From<&'t str> for Source<'t> {
    fn from(text: &'t str) -> Self {
        Source::Text(text)
    }
}

impl<'t> From<&'t String> for Source<'t> {
    fn from(text: &'t String) -> Self {
        Source::Text(text)
    }
}

impl<'t> From<&'t Json> for Source<'t> {
    fn from(value: &'t Json) -> Self {
        Source::Value(value)
    }
}

impl<'t> Source<'t> {
    /// The JSON as text.
    pub fn text(self) -> Cow<'t, str> {
        match self {
            Source::Text(text) => Cow::Borrowed(text),
            Source::Value(value) => Cow::Owned(json::to_string(value)),
        }
    }

    /// Checks that a text is JSON, and returns a reader that begins with the first value. The error has Go's text.
    pub(super) fn open(self) -> Result<Input<'t>, DecodeError> {
        Ok(match self {
            Source::Text(text) => {
                scan::check(text).map_err(|message| DecodeError::new("", message))?;
                Input::Text(Cursor { text, at: 0 })
            }
            Source::Value(value) => Input::Value(value),
        })
    }
}

/// The type of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Token {
    /// `null`
    Null,
    /// `true` or `false`
    Bool,
    /// A number.
    Number,
    /// A string.
    String,
    /// A list.
    Array,
    /// An object.
    Object,
}

impl Token {
    /// The name in Go's messages.
    pub const fn name(self) -> &'static str {
        match self {
            Token::Null => "null",
            Token::Bool => "bool",
            Token::Number => "number",
            Token::String => "string",
            Token::Array => "array",
            Token::Object => "object",
        }
    }
}

/// A reader of JSON, positioned at the next value.
#[derive(Debug)]
pub(super) enum Input<'t> {
    Text(Cursor<'t>),
    Value(&'t Json),
}

/// The unread rest of a list or object. For texts, the position in the input is enough.
pub(super) enum Rest<'t> {
    Text,
    Elements(std::slice::Iter<'t, Json>),
    Members(serde_json::map::Iter<'t>),
}

impl<'t> Input<'t> {
    pub(super) fn peek(&mut self) -> Token {
        match self {
            Input::Text(cursor) => cursor.peek(),
            Input::Value(Json::Null) => Token::Null,
            Input::Value(Json::Bool(_)) => Token::Bool,
            Input::Value(Json::Number(_)) => Token::Number,
            Input::Value(Json::String(_)) => Token::String,
            Input::Value(Json::Array(_)) => Token::Array,
            Input::Value(Json::Object(_)) => Token::Object,
        }
    }

    pub(super) fn skip(&mut self) -> Cow<'t, str> {
        match self {
            Input::Text(cursor) => Cow::Borrowed(cursor.skip()),
            Input::Value(value) => Cow::Owned(json::to_string(value)),
        }
    }

    /// Skips a value.
    pub(super) fn pass(&mut self) {
        if let Input::Text(cursor) = self {
            cursor.skip();
        }
    }

    pub(super) fn string(&mut self) -> String {
        match self {
            Input::Text(cursor) => unescaped(cursor.skip()),
            Input::Value(value) => value.as_str().unwrap_or_default().to_owned(),
        }
    }

    /// Enters a list or an object.
    pub(super) fn enter(&mut self) -> Rest<'t> {
        match self {
            Input::Text(cursor) => {
                cursor.skip_spaces();
                cursor.advance();
                Rest::Text
            }
            Input::Value(Json::Object(fields)) => Rest::Members(fields.iter()),
            Input::Value(value) => {
                let items = value.as_array().map(Vec::as_slice);
                Rest::Elements(items.unwrap_or_default().iter())
            }
        }
    }

    /// Moves to the next element of a list, or past the end of the list. Returns whether there is an element.
    pub(super) fn next_element(&mut self, rest: &mut Rest<'t>) -> bool {
        match (self, rest) {
            (Input::Text(cursor), _) => !cursor.ends_with(b']'),
            (Input::Value(value), Rest::Elements(items)) => match items.next() {
                Some(item) => {
                    *value = item;
                    true
                }
                None => false,
            },
            (Input::Value(_), _) => false,
        }
    }

    /// Moves to the value of the next key and returns the key. Returns `None` at the end of the object.
    pub(super) fn next_key(&mut self, rest: &mut Rest<'t>) -> Option<String> {
        match (self, rest) {
            (Input::Text(cursor), _) => {
                if cursor.ends_with(b'}') {
                    return None;
                }
                let key = unescaped(cursor.skip());
                cursor.skip_spaces();
                cursor.advance();
                Some(key)
            }
            (Input::Value(value), Rest::Members(fields)) => {
                let (key, field) = fields.next()?;
                *value = field;
                Some(key.clone())
            }
            (Input::Value(_), _) => None,
        }
    }
}

/// A position in a text that was checked to be JSON.
#[derive(Debug)]
pub(super) struct Cursor<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Cursor<'t> {
    fn peek(&mut self) -> Token {
        self.skip_spaces();
        match self.byte() {
            Some(b'{') => Token::Object,
            Some(b'[') => Token::Array,
            Some(b'"') => Token::String,
            Some(b't' | b'f') => Token::Bool,
            Some(b'n') | None => Token::Null,
            Some(_) => Token::Number,
        }
    }

    /// Skips a value and returns its text.
    fn skip(&mut self) -> &'t str {
        self.skip_spaces();
        let start = self.at;
        let mut depth = 0usize;
        loop {
            match self.byte() {
                Some(b'{' | b'[') => depth = depth.saturating_add(1),
                Some(b'}' | b']') => depth = depth.saturating_sub(1),
                Some(b'"') => self.skip_string(),
                Some(byte) if is_word(byte) => {
                    while self.byte().is_some_and(is_word) {
                        self.advance();
                    }
                    if depth == 0 {
                        break;
                    }
                    continue;
                }
                Some(_) => {}
                None => break,
            }
            self.advance();
            if depth == 0 {
                break;
            }
        }
        self.text.get(start..self.at).unwrap_or_default()
    }

    /// Skips a comma, or the end of a list or object. Returns whether the end was reached.
    fn ends_with(&mut self, end: u8) -> bool {
        self.skip_spaces();
        if self.byte() == Some(b',') {
            self.advance();
            self.skip_spaces();
        }
        match self.byte() {
            Some(byte) if byte != end => false,
            _ => {
                self.advance();
                true
            }
        }
    }

    /// Skips the rest of a string after its opening quote.
    fn skip_string(&mut self) {
        self.advance();
        while let Some(byte) = self.byte().filter(|byte| *byte != b'"') {
            if byte == b'\\' {
                self.advance();
            }
            self.advance();
        }
    }

    fn skip_spaces(&mut self) {
        while self.byte().is_some_and(is_space) {
            self.advance();
        }
    }

    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn advance(&mut self) {
        self.at = self.at.saturating_add(1);
    }
}

/// Whether a byte may occur in a number, `true`, `false` or `null`.
fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.')
}

/// The text that a JSON string stands for. Unpaired surrogates become U+FFFD.
fn unescaped(literal: &str) -> String {
    let inner = literal
        .strip_prefix('"')
        .and_then(|text| text.strip_suffix('"'))
        .unwrap_or_default();
    let mut out = String::with_capacity(inner.len());
    let mut rest = inner;
    while let Some((plain, after)) = rest.split_once('\\') {
        out.push_str(plain);
        let mut chars = after.chars();
        let c = match chars.next() {
            Some('u') => {
                let (c, after) = escaped_character(chars.as_str());
                out.push(c);
                rest = after;
                continue;
            }
            Some('b') => '\u{8}',
            Some('f') => '\u{c}',
            Some('n') => '\n',
            Some('r') => '\r',
            Some('t') => '\t',
            Some(c) => c,
            None => break,
        };
        out.push(c);
        rest = chars.as_str();
    }
    out.push_str(rest);
    out
}

/// The character of a `\u` escape (four hexadecimal digits) or of a surrogate pair of two escapes, and the rest of the text.
fn escaped_character(text: &str) -> (char, &str) {
    let (unit, rest) = code_unit(text);
    if let 0xd800..0xdc00 = unit {
        let low = rest
            .strip_prefix("\\u")
            .map(code_unit)
            .filter(|(low, _)| (0xdc00..0xe000).contains(low));
        if let Some((low, rest)) = low {
            let high = unit.saturating_sub(0xd800) << 10;
            let code = high
                .saturating_add(low.saturating_sub(0xdc00))
                .saturating_add(0x10000);
            return (
                char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER),
                rest,
            );
        }
    }
    (
        char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER),
        rest,
    )
}

fn code_unit(text: &str) -> (u32, &str) {
    let (digits, rest) = text.split_at_checked(4).unwrap_or((text, ""));
    (u32::from_str_radix(digits, 16).unwrap_or(0xfffd), rest)
}

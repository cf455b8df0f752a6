//! Checks whether a text is JSON, with Go's error messages (`encoding/json`'s scanner).

use gavel_golang::quote::quote;

/// The nesting limit of lists and objects.
const MAX_DEPTH: usize = 10_000;

/// Checks that a text is one JSON value.
///
/// # Errors
///
/// The text is not JSON, or is nested more than 10,000 levels deep. The message is Go's.
pub(super) fn check(text: &str) -> Result<(), String> {
    let mut scanner = Scanner {
        bytes: text.as_bytes(),
        at: 0,
        open: Vec::new(),
    };
    scanner.run()
}

struct Scanner<'t> {
    bytes: &'t [u8],
    at: usize,
    /// The open lists and objects, the innermost last: `true` is an object, `false` a list.
    open: Vec<bool>,
}

/// The tokens that the scanner accepts next.
enum State {
    Value,
    ValueOrEnd,
    Key,
    KeyOrEnd,
    AfterKey,
    AfterValue,
}

impl Scanner<'_> {
    fn run(&mut self) -> Result<(), String> {
        let mut state = State::Value;
        loop {
            while self.peek().is_some_and(is_space) {
                self.skip();
            }
            let Some(byte) = self.next() else {
                return match (state, self.open.is_empty()) {
                    (State::AfterValue, true) => Ok(()),
                    _ => Err(unexpected_end()),
                };
            };
            state = match (state, byte) {
                (State::ValueOrEnd, b']') | (State::KeyOrEnd, b'}') => self.close(),
                (State::Value | State::ValueOrEnd, byte) => self.value(byte)?,
                (State::Key | State::KeyOrEnd, b'"') => {
                    self.string()?;
                    State::AfterKey
                }
                (State::Key | State::KeyOrEnd, _) => {
                    return fault(byte, "looking for beginning of object key string");
                }
                (State::AfterKey, b':') => State::Value,
                (State::AfterKey, _) => return fault(byte, "after object key"),
                (State::AfterValue, byte) => match (self.open.last(), byte) {
                    (None, _) => return fault(byte, "after top-level value"),
                    (Some(true), b',') => State::Key,
                    (Some(false), b',') => State::Value,
                    (Some(true), b'}') | (Some(false), b']') => self.close(),
                    (Some(true), _) => return fault(byte, "after object key:value pair"),
                    (Some(false), _) => return fault(byte, "after array element"),
                },
            };
        }
    }

    fn value(&mut self, byte: u8) -> Result<State, String> {
        match byte {
            b'{' | b'[' => {
                self.open.push(byte == b'{');
                if self.open.len() > MAX_DEPTH {
                    return fault(byte, "exceeded max depth");
                }
                return Ok(match byte {
                    b'{' => State::KeyOrEnd,
                    _ => State::ValueOrEnd,
                });
            }
            b'"' => self.string()?,
            b'-' => match self.next() {
                Some(b'0') => self.fraction()?,
                Some(b'1'..=b'9') => self.number()?,
                other => return fault(other.unwrap_or(b' '), "in numeric literal"),
            },
            b'0' => self.fraction()?,
            b'1'..=b'9' => self.number()?,
            b't' => self.literal("true")?,
            b'f' => self.literal("false")?,
            b'n' => self.literal("null")?,
            _ => return fault(byte, "looking for beginning of value"),
        }
        Ok(State::AfterValue)
    }

    fn close(&mut self) -> State {
        self.open.pop();
        State::AfterValue
    }

    fn literal(&mut self, name: &str) -> Result<(), String> {
        for expected in name.bytes().skip(1) {
            let byte = self.next().unwrap_or(b' ');
            if byte != expected {
                let expected = char::from(expected);
                return fault(byte, &format!("in literal {name} (expecting '{expected}')"));
            }
        }
        Ok(())
    }

    fn string(&mut self) -> Result<(), String> {
        loop {
            match self.next() {
                None => return Err(unexpected_end()),
                Some(b'"') => return Ok(()),
                Some(b'\\') => self.escape()?,
                Some(byte @ 0..0x20) => return fault(byte, "in string literal"),
                Some(_) => {}
            }
        }
    }

    fn escape(&mut self) -> Result<(), String> {
        match self.next() {
            Some(b'b' | b'f' | b'n' | b'r' | b't' | b'\\' | b'/' | b'"') => Ok(()),
            Some(b'u') => {
                for _ in 0..4 {
                    let byte = self.next().unwrap_or(b' ');
                    if !byte.is_ascii_hexdigit() {
                        return fault(byte, "in \\u hexadecimal character escape");
                    }
                }
                Ok(())
            }
            other => fault(other.unwrap_or(b' '), "in string escape code"),
        }
    }

    /// Scans the rest of a number after a digit other than zero.
    fn number(&mut self) -> Result<(), String> {
        self.digits();
        self.fraction()
    }

    /// Scans the rest of a number after its integer part.
    fn fraction(&mut self) -> Result<(), String> {
        if self.peek() == Some(b'.') {
            self.skip();
            self.some_digits("after decimal point in numeric literal")?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.skip();
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.skip();
            }
            self.some_digits("in exponent of numeric literal")?;
        }
        Ok(())
    }

    fn some_digits(&mut self, context: &str) -> Result<(), String> {
        let byte = self.next().unwrap_or(b' ');
        if !byte.is_ascii_digit() {
            return fault(byte, context);
        }
        self.digits();
        Ok(())
    }

    fn digits(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.skip();
        }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn next(&mut self) -> Option<u8> {
        let byte = self.peek();
        self.skip();
        byte
    }

    fn skip(&mut self) {
        self.at = self.at.saturating_add(1);
    }
}

pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

fn unexpected_end() -> String {
    "unexpected end of JSON input".to_owned()
}

/// The error for an unexpected byte. Go prints the byte as the character with the same code point.
fn fault<T>(byte: u8, context: &str) -> Result<T, String> {
    let character = match byte {
        b'\'' => "\\'".to_owned(),
        b'"' => "\"".to_owned(),
        _ => quote(char::from(byte).encode_utf8(&mut [0; 4]))
            .trim_matches('"')
            .to_owned(),
    };
    Err(format!("invalid character '{character}' {context}"))
}

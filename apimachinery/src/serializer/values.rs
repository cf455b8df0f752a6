//! Values that are not structs: texts, numbers, lists, maps, times.

use std::collections::BTreeMap;
use std::fmt::Write;

use ::base64::Engine;
use ::base64::engine::general_purpose::STANDARD;
use gavel_golang::base64::{self, Encoding};
use gavel_golang::integer::parse_int;
use gavel_golang::time::{Layout, OffsetTime};

use super::{Aborted, ApiValue, Decoder, Token};
use crate::json;

impl ApiValue for String {
    fn decode(&mut self, decoder: &mut Decoder<'_>, named: &'static str) -> Result<(), Aborted> {
        match decoder.peek() {
            Token::String => *self = decoder.string(),
            _ => decoder.pass_over(Self::go_type(decoder, named)),
        }
        Ok(())
    }

    fn is_empty(&self) -> bool {
        str::is_empty(self)
    }

    fn encode(&self, out: &mut String) {
        out.push_str(&json::quoted(self));
    }

    fn go_type(decoder: &Decoder<'_>, named: &'static str) -> String {
        match named {
            "" => "string".to_owned(),
            _ => decoder.qualified(named),
        }
    }
}

impl ApiValue for bool {
    fn decode(&mut self, decoder: &mut Decoder<'_>, _: &'static str) -> Result<(), Aborted> {
        match decoder.peek() {
            Token::Bool => *self = decoder.skip() == "true",
            _ => decoder.pass_over("bool".to_owned()),
        }
        Ok(())
    }

    fn is_empty(&self) -> bool {
        !self
    }

    fn encode(&self, out: &mut String) {
        out.push_str(if *self { "true" } else { "false" });
    }

    fn go_type(_: &Decoder<'_>, _: &'static str) -> String {
        "bool".to_owned()
    }
}

/// Implements the reading and writing of a Go integer type.
macro_rules! integer {
    ($ty:ty, $go:literal) => {
        impl ApiValue for $ty {
            fn decode(
                &mut self,
                decoder: &mut Decoder<'_>,
                _: &'static str,
            ) -> Result<(), Aborted> {
                match decoder.peek() {
                    Token::Number => {
                        let literal = decoder.skip();
                        match parse_int(&literal).and_then(|number| number.try_into().ok()) {
                            Some(number) => *self = number,
                            None => decoder.refuse(&format!("number {literal}"), $go),
                        }
                    }
                    _ => decoder.pass_over($go.to_owned()),
                }
                Ok(())
            }

            fn is_empty(&self) -> bool {
                *self == 0
            }

            fn encode(&self, out: &mut String) {
                // Writing to a String does not fail.
                let _ = write!(out, "{self}");
            }

            fn go_type(_: &Decoder<'_>, _: &'static str) -> String {
                $go.to_owned()
            }
        }
    };
}

integer!(i64, "int64");
integer!(i32, "int32");
integer!(u8, "uint8");

/// A value that may be absent: a Go pointer, or a list for which null and empty are different.
impl<T: ApiValue + Default> ApiValue for Option<T> {
    fn decode(&mut self, decoder: &mut Decoder<'_>, named: &'static str) -> Result<(), Aborted> {
        match decoder.peek() {
            Token::Null => {
                decoder.skip();
                *self = None;
                Ok(())
            }
            _ => self.get_or_insert_default().decode(decoder, named),
        }
    }

    fn is_empty(&self) -> bool {
        self.is_none()
    }

    fn encode(&self, out: &mut String) {
        match self {
            Some(value) => value.encode(out),
            None => out.push_str("null"),
        }
    }

    fn go_type(decoder: &Decoder<'_>, named: &'static str) -> String {
        T::go_type(decoder, named)
    }
}

impl<T: ApiValue + Default> ApiValue for Vec<T> {
    fn decode(&mut self, decoder: &mut Decoder<'_>, named: &'static str) -> Result<(), Aborted> {
        match decoder.peek() {
            Token::Array => {
                let mut length = 0;
                decoder.elements(|decoder, n| {
                    if self.len() <= n {
                        self.push(T::default());
                    }
                    length = n.saturating_add(1);
                    match self.get_mut(n) {
                        Some(element) => element.decode(decoder, named),
                        None => Ok(()),
                    }
                })?;
                self.truncate(length);
            }
            token => {
                if token == Token::Null {
                    self.clear();
                }
                decoder.pass_over(Self::go_type(decoder, named));
            }
        }
        Ok(())
    }

    fn is_empty(&self) -> bool {
        Vec::is_empty(self)
    }

    fn encode(&self, out: &mut String) {
        out.push('[');
        for (n, element) in self.iter().enumerate() {
            if n > 0 {
                out.push(',');
            }
            element.encode(out);
        }
        out.push(']');
    }

    fn go_type(decoder: &Decoder<'_>, named: &'static str) -> String {
        format!("[]{}", T::go_type(decoder, named))
    }
}

impl ApiValue for BTreeMap<String, String> {
    fn decode(&mut self, decoder: &mut Decoder<'_>, named: &'static str) -> Result<(), Aborted> {
        match decoder.peek() {
            Token::Object => {
                let mut read = BTreeMap::new();
                decoder.members(|decoder, key| {
                    if read.contains_key(&key) {
                        decoder.duplicate_key(&key);
                    }
                    decoder.enter(&key);
                    let mut value = String::new();
                    value.decode(decoder, "")?;
                    read.insert(key, value);
                    Ok(())
                })?;
                self.append(&mut read);
            }
            token => {
                if token == Token::Null {
                    self.clear();
                }
                decoder.pass_over(Self::go_type(decoder, named));
            }
        }
        Ok(())
    }

    fn is_empty(&self) -> bool {
        BTreeMap::is_empty(self)
    }

    fn encode(&self, out: &mut String) {
        out.push('{');
        for (n, (key, value)) in self.iter().enumerate() {
            if n > 0 {
                out.push(',');
            }
            key.encode(out);
            out.push(':');
            value.encode(out);
        }
        out.push('}');
    }

    fn go_type(_: &Decoder<'_>, _: &'static str) -> String {
        "map[string]string".to_owned()
    }
}

/// Bytes, encoded as base64 in JSON.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Bytes(pub Vec<u8>);

impl ApiValue for Bytes {
    fn decode(&mut self, decoder: &mut Decoder<'_>, named: &'static str) -> Result<(), Aborted> {
        match decoder.peek() {
            Token::String => match base64::decode(&decoder.string(), Encoding::Standard) {
                Ok(bytes) => self.0 = bytes,
                Err(error) => decoder.fault(error.to_string()),
            },
            _ => self.0.decode(decoder, named)?,
        }
        Ok(())
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn encode(&self, out: &mut String) {
        STANDARD.encode(&self.0).encode(out);
    }

    fn go_type(decoder: &Decoder<'_>, named: &'static str) -> String {
        Vec::<u8>::go_type(decoder, named)
    }
}

/// A time, written in whole seconds. `None` is the zero time, which is written as `null`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Time(pub Option<OffsetTime>);

impl ApiValue for Time {
    fn decode(&mut self, decoder: &mut Decoder<'_>, _: &'static str) -> Result<(), Aborted> {
        match decoder.peek() {
            Token::String => {
                let text = decoder.string();
                let time = Layout::Rfc3339.parse(&text);
                let time = time.map_err(|error| Aborted(error.to_string()))?;
                self.0 = Some(time).filter(|time| !time.is_zero());
            }
            Token::Null => {
                decoder.skip();
                self.0 = None;
            }
            other => {
                decoder.skip();
                return Err(Aborted(decoder.type_error(other.name(), "string")));
            }
        }
        Ok(())
    }

    fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    fn encode(&self, out: &mut String) {
        match self.0 {
            Some(time) => {
                out.push('"');
                // Writing to a String does not fail.
                let _ = time.utc_second().write_rfc3339(out);
                out.push('"');
            }
            None => out.push_str("null"),
        }
    }

    fn go_type(_: &Decoder<'_>, _: &'static str) -> String {
        "v1.Time".to_owned()
    }
}

/// Any JSON value, stored as its original text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RawJson(pub String);

impl ApiValue for RawJson {
    fn decode(&mut self, decoder: &mut Decoder<'_>, _: &'static str) -> Result<(), Aborted> {
        self.0 = decoder.skip().into_owned();
        Ok(())
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Writes the value without spaces, and with Go's escapes.
    fn encode(&self, out: &mut String) {
        let mut is_in_text = false;
        let mut is_escaped = false;
        for c in self.0.chars() {
            match c {
                '"' if !is_escaped => is_in_text = !is_in_text,
                ' ' | '\t' | '\r' | '\n' if !is_in_text => continue,
                '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                    // Writing to a String does not fail.
                    let _ = write!(out, "\\u{:04x}", u32::from(c));
                    continue;
                }
                _ => {}
            }
            is_escaped = c == '\\' && !is_escaped;
            out.push(c);
        }
    }

    fn go_type(_: &Decoder<'_>, _: &'static str) -> String {
        "v1.FieldsV1".to_owned()
    }
}

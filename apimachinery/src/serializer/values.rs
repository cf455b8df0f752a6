//! Values that are no structs: texts, numbers, lists, maps, times.

use std::collections::BTreeMap;
use std::fmt::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use gavel_engine::golang::integer::parse_int;
use gavel_engine::golang::time::{Layout, OffsetTime};

use super::{Aborted, ApiValue, Decoder, Token};
use crate::json;

impl ApiValue for String {
    fn decode(&mut self, decoder: &mut Decoder<'_>, named: &'static str) -> Result<(), Aborted> {
        match decoder.peek() {
            Token::String => *self = decoder.string(),
            Token::Null => {
                decoder.skip();
            }
            _ => decoder.mismatch(Self::go_type(decoder, named)),
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
            Token::Null => {
                decoder.skip();
            }
            _ => decoder.mismatch("bool".to_owned()),
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

/// An integer of Go's.
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
                        match parse_int(literal).and_then(|number| number.try_into().ok()) {
                            Some(number) => *self = number,
                            None => decoder.refuse(&format!("number {literal}"), $go),
                        }
                    }
                    Token::Null => {
                        decoder.skip();
                    }
                    _ => decoder.mismatch($go.to_owned()),
                }
                Ok(())
            }

            fn is_empty(&self) -> bool {
                *self == 0
            }

            fn encode(&self, out: &mut String) {
                // Writing to a text does not fail.
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

/// What may be absent: a pointer of Go's, or a list of which null and the empty one differ.
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
            Token::Null => {
                decoder.skip();
                self.clear();
            }
            _ => decoder.mismatch(Self::go_type(decoder, named)),
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
            Token::Null => {
                decoder.skip();
                self.clear();
            }
            _ => decoder.mismatch(Self::go_type(decoder, named)),
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

/// Bytes, in JSON as base64.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Bytes(pub Vec<u8>);

impl ApiValue for Bytes {
    fn decode(&mut self, decoder: &mut Decoder<'_>, named: &'static str) -> Result<(), Aborted> {
        match decoder.peek() {
            Token::String => match from_base64(&decoder.string()) {
                Ok(bytes) => self.0 = bytes,
                Err(place) => decoder.fault(format!("illegal base64 data at input byte {place}")),
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

/// Reads padded base64, or says which byte is at fault. Line breaks count as bytes, but mean nothing; bits of the last
/// character that are of no byte are not looked at.
fn from_base64(text: &str) -> Result<Vec<u8>, usize> {
    let mut bytes = Vec::new();
    let mut group = [0u8; 4];
    let mut digits = 0usize;
    let mut input = text
        .bytes()
        .enumerate()
        .filter(|(_, byte)| !matches!(byte, b'\r' | b'\n'));
    while let Some((at, byte)) = input.next() {
        let value = match byte {
            b'A'..=b'Z' => byte.wrapping_sub(b'A'),
            b'a'..=b'z' => byte.wrapping_sub(b'a').wrapping_add(26),
            b'0'..=b'9' => byte.wrapping_sub(b'0').wrapping_add(52),
            b'+' => 62,
            b'/' => 63,
            b'=' if digits >= 2 => {
                if digits == 2 {
                    match input.next() {
                        Some((_, b'=')) => {}
                        // Upstream says where the padding was.
                        Some((other, _)) => return Err(other.saturating_sub(1)),
                        None => return Err(text.len()),
                    }
                }
                if let Some((after, _)) = input.next() {
                    return Err(after);
                }
                push_group(&mut bytes, group, digits);
                return Ok(bytes);
            }
            _ => return Err(at),
        };
        if let Some(place) = group.get_mut(digits) {
            *place = value;
        }
        digits = digits.saturating_add(1);
        if digits == 4 {
            push_group(&mut bytes, group, 4);
            group = [0; 4];
            digits = 0;
        }
    }
    match digits {
        0 => Ok(bytes),
        _ => Err(text.len().saturating_sub(digits)),
    }
}

/// The bytes of a group of two to four digits, six bits each.
fn push_group(bytes: &mut Vec<u8>, [a, b, c, d]: [u8; 4], digits: usize) {
    let group = [(a << 2) | (b >> 4), (b << 4) | (c >> 2), (c << 6) | d];
    bytes.extend(group.iter().take(digits.saturating_sub(1)));
}

/// The first second of the year 1, which is Go's time that says nothing.
const YEAR_ONE: i64 = -62_135_596_800;

/// A point in time, written to the second; or none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Time(pub Option<OffsetTime>);

impl ApiValue for Time {
    fn decode(&mut self, decoder: &mut Decoder<'_>, _: &'static str) -> Result<(), Aborted> {
        match decoder.peek() {
            Token::String => {
                let text = decoder.string();
                let time = Layout::Rfc3339.parse(&text);
                let time = time.map_err(|error| Aborted(error.to_string()))?;
                self.0 = Some(time).filter(|time| time.unix_seconds != YEAR_ONE || time.nanos != 0);
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
                let utc = OffsetTime {
                    nanos: 0,
                    offset_seconds: 0,
                    ..time
                };
                // Writing to a text does not fail.
                let _ = utc.write_rfc3339(out);
                out.push('"');
            }
            None => out.push_str("null"),
        }
    }

    fn go_type(_: &Decoder<'_>, _: &'static str) -> String {
        "v1.Time".to_owned()
    }
}

/// A value that is kept as it was written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RawJson(pub String);

impl ApiValue for RawJson {
    fn decode(&mut self, decoder: &mut Decoder<'_>, _: &'static str) -> Result<(), Aborted> {
        self.0 = decoder.skip().to_owned();
        Ok(())
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Without spaces, and with what Go escapes.
    fn encode(&self, out: &mut String) {
        let mut is_in_text = false;
        let mut is_escaped = false;
        for c in self.0.chars() {
            match c {
                '"' if !is_escaped => is_in_text = !is_in_text,
                ' ' | '\t' | '\r' | '\n' if !is_in_text => continue,
                '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                    // Writing to a text does not fail.
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

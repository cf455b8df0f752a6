//! The flat encoding, a binary encoding of values that hosts can write without JSON. `docs/embed-c.md` describes it for hosts.
//!
//! A value is a tag of one byte, followed by the value's data. Numbers are little-endian. Lengths and counts have 32 bits.
//!
//! | tag | value | what follows |
//! |---|---|---|
//! | 0 | null | |
//! | 1, 2 | false, true | |
//! | 3 | int | 8 bytes |
//! | 4 | uint | 8 bytes |
//! | 5 | double | 8 bytes (IEEE 754) |
//! | 6 | string | length, UTF-8 |
//! | 7 | bytes | length, bytes |
//! | 8 | list | count, values |
//! | 9 | object | count, entries: length and UTF-8 of the name, value |
//! | 10 | map | count, entries: key, value |
//! | 11 | timestamp | seconds since 1970 (8 bytes), nanoseconds (4 bytes) |
//! | 12 | duration | nanoseconds (8 bytes) |
//! | 13 | optional.none | |
//! | 14 | optional | value |
//! | 15 | timestamp with an offset | seconds since 1970 (8 bytes), nanoseconds (4 bytes), seconds east of UTC (4 bytes) |
//! | 32 | JSON, read according to the type of the variable | length, UTF-8 |
//! | 33 | a `GavelValue` | the handle (8 bytes) |
//! | 34 | authorizer | number (8 bytes), length and JSON of the user |
//! | 35 | resource check | number (8 bytes), length and JSON of the user, length and JSON of the resource |

use std::borrow::Cow;

use gavel_apimachinery::json;
use gavel_engine::value::{Arena, Duration, Json, JsonObject, MapBuilder, Timestamp, Value};
use gavel_golang::utf8;
use gavel_golang::work::Work;

use crate::arguments;
use crate::error::{Failure, GavelError, GavelErrorKind};
use crate::json_value::{GavelValue, JSON_TEXT};

/// The nesting limit of values. It equals the nesting limit of JSON.
const MAX_DEPTH: usize = 127;

/// The tags of values.
pub(crate) mod tag {
    pub(crate) const NULL: u8 = 0;
    pub(crate) const FALSE: u8 = 1;
    pub(crate) const TRUE: u8 = 2;
    pub(crate) const INT: u8 = 3;
    pub(crate) const UINT: u8 = 4;
    pub(crate) const DOUBLE: u8 = 5;
    pub(crate) const STRING: u8 = 6;
    pub(crate) const BYTES: u8 = 7;
    pub(crate) const LIST: u8 = 8;
    pub(crate) const OBJECT: u8 = 9;
    pub(crate) const MAP: u8 = 10;
    pub(crate) const TIMESTAMP: u8 = 11;
    pub(crate) const DURATION: u8 = 12;
    pub(crate) const NONE: u8 = 13;
    pub(crate) const SOME: u8 = 14;
    pub(crate) const TIMESTAMP_WITH_OFFSET: u8 = 15;
    pub(crate) const JSON: u8 = 32;
    pub(crate) const HANDLE: u8 = 33;
    pub(crate) const AUTHORIZER: u8 = 34;
    pub(crate) const RESOURCE_CHECK: u8 = 35;
}

/// Reads one JSON value in the flat encoding, which may contain JSON texts and handles. The values of handles are copied.
///
/// # Safety
///
/// The requirements of [`Reader::new`].
pub(crate) unsafe fn read_json(bytes: &[u8]) -> Result<Json, Failure> {
    // SAFETY: the caller vouches for the handles.
    let mut reader = unsafe { Reader::new(bytes) }?;
    let value = reader.json(0)?;
    reader.end()?;
    Ok(value)
}

/// Reads a JSON value into an arena. The values of handles are borrowed.
///
/// # Safety
///
/// The requirements of [`Reader::new`].
pub(crate) unsafe fn read_value<'a>(
    bytes: &'a [u8],
    arena: &'a Arena,
) -> Result<Value<'a>, Failure> {
    // SAFETY: the caller vouches for the handles.
    let mut reader = unsafe { Reader::new(bytes) }?;
    let value = reader.value(arena, Flavour::Json, 0)?;
    reader.end()?;
    Ok(value)
}

/// The representation of lists and objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flavour {
    /// JSON, for variables of type `dyn` and of object types.
    Json,
    /// CEL values, for variables of types such as `list(int)`.
    Cel,
}

/// The value of a variable.
#[derive(Debug)]
pub(crate) enum Given<'r, 'b> {
    /// The next value of the reader.
    Next(&'r mut Reader<'b>),
    /// A value of one JSON object with all variables.
    Json(Json),
}

/// Reads values in the flat encoding, one after the other.
#[derive(Debug)]
pub(crate) struct Reader<'b> {
    rest: &'b [u8],
}

impl<'b> Reader<'b> {
    /// Reads these bytes. They must be so short that no length in them can overflow: otherwise a part of a text could be read as another
    /// value.
    ///
    /// # Safety
    ///
    /// Handles within the bytes must be values that are not freed as long as the bytes live.
    pub(crate) unsafe fn new(bytes: &'b [u8]) -> Result<Self, Failure> {
        match u32::try_from(bytes.len()) {
            Ok(_) => Ok(Reader { rest: bytes }),
            Err(_) => Err(malformed("must be shorter than 4 GiB")),
        }
    }

    /// Checks that everything has been read.
    pub(crate) fn end(&self) -> Result<(), Failure> {
        match self.rest.is_empty() {
            true => Ok(()),
            false => Err(malformed("bytes behind the value")),
        }
    }

    /// Returns the tag of the next value without reading it.
    pub(crate) fn peek(&self) -> Result<u8, Failure> {
        self.rest.first().copied().ok_or_else(cut_off)
    }

    /// Reads the tag of the next value.
    pub(crate) fn tag(&mut self) -> Result<u8, Failure> {
        let tag = self.peek()?;
        self.take(1)?;
        Ok(tag)
    }

    fn take(&mut self, len: usize) -> Result<&'b [u8], Failure> {
        let (taken, rest) = self.rest.split_at_checked(len).ok_or_else(cut_off)?;
        self.rest = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Failure> {
        let (taken, rest) = self.rest.split_first_chunk().ok_or_else(cut_off)?;
        self.rest = rest;
        Ok(*taken)
    }

    pub(crate) fn u64(&mut self) -> Result<u64, Failure> {
        self.array().map(u64::from_le_bytes)
    }

    fn i64(&mut self) -> Result<i64, Failure> {
        self.array().map(i64::from_le_bytes)
    }

    /// Reads a timestamp without its offset.
    fn timestamp(&mut self) -> Result<Timestamp, Failure> {
        Ok(Timestamp {
            seconds: self.i64()?,
            nanos: u32::from_le_bytes(self.array()?).min(999_999_999),
            offset: 0,
        })
    }

    /// Reads the offset of a timestamp.
    fn offset(&mut self) -> Result<i32, Failure> {
        let offset = i32::from_le_bytes(self.array()?);
        match offset.unsigned_abs() < 86_400 {
            true => Ok(offset),
            false => Err(unfit("the offset of a time must be less than a day")),
        }
    }

    /// Reads the number of items. Fails if fewer than `least` bytes per item remain.
    pub(crate) fn count(&mut self, least: usize) -> Result<usize, Failure> {
        let count = u32::from_le_bytes(self.array()?);
        let count = usize::try_from(count).map_err(|_| cut_off())?;
        match count.saturating_mul(least) > self.rest.len() {
            true => Err(cut_off()),
            false => Ok(count),
        }
    }

    pub(crate) fn bytes(&mut self) -> Result<&'b [u8], Failure> {
        let len = self.count(1)?;
        self.take(len)
    }

    /// Reads a text. Each byte that is not part of valid UTF-8 becomes U+FFFD, as in Go's JSON decoder.
    pub(crate) fn text(&mut self) -> Result<Cow<'b, str>, Failure> {
        let bytes = self.bytes()?;
        Ok(match std::str::from_utf8(bytes) {
            Ok(text) => Cow::Borrowed(text),
            Err(_) => Cow::Owned(utf8::lossy(bytes)),
        })
    }

    /// Reads a text. Valid UTF-8 is borrowed from the bytes; any other text is copied to the arena.
    fn text_in<'a>(&mut self, arena: &'a Arena) -> Result<&'a str, Failure>
    where
        'b: 'a,
    {
        Ok(match self.text()? {
            Cow::Borrowed(text) => text,
            Cow::Owned(text) => arena.bump().alloc_str(&text),
        })
    }

    /// Reads variables: an object of the encoding, one JSON object, or no bytes, which are no variables. `bind` receives each name, and the
    /// value or the reader of the value.
    pub(crate) fn variables(
        &mut self,
        mut bind: impl FnMut(&str, Given<'_, 'b>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        if self.rest.is_empty() {
            return Ok(());
        }
        match self.tag()? {
            tag::OBJECT => {
                for _ in 0..self.count(5)? {
                    let name = self.text()?;
                    bind(&name, Given::Next(self))?;
                }
            }
            tag::JSON => match self.json_text()? {
                Json::Object(fields) => {
                    for (name, json) in fields {
                        bind(&name, Given::Json(json))?;
                    }
                }
                _ => return Err(unfit("variables must be a JSON object")),
            },
            other => {
                let needed = "variables must be an object (tag 9) or JSON text (tag 32)";
                return Err(unfit(&format!("{needed}, not tag {other}")));
            }
        }
        self.end()
    }

    /// Reads and parses a JSON text.
    pub(crate) fn json_text(&mut self) -> Result<Json, Failure> {
        json::read_replacing(self.bytes()?)
            .map_err(|error| GavelError::new(GavelErrorKind::Decode, error.to_string()))
    }

    /// Reads a JSON text at a depth of a value.
    fn nested_json(&mut self, depth: usize) -> Result<Json, Failure> {
        let json = self.json_text()?;
        check_depth(&json, depth)?;
        Ok(json)
    }

    /// Reads the address of a handle, and returns the value of the handle.
    pub(crate) fn handle(&mut self) -> Result<&'b Json, Failure> {
        let address = usize::try_from(self.u64()?).unwrap_or(0);
        let handle = std::ptr::with_exposed_provenance::<GavelValue>(address);
        // SAFETY: the caller of `new` vouches for the handles.
        let GavelValue(json) = unsafe { arguments::handle(handle) }?;
        Ok(json)
    }

    /// Like [`Reader::handle`], at a depth of a value.
    fn nested_handle(&mut self, depth: usize) -> Result<&'b Json, Failure> {
        let json = self.handle()?;
        check_depth(json, depth)?;
        Ok(json)
    }

    /// Reads a value and converts it to JSON. Values without a JSON type are errors.
    pub(crate) fn json(&mut self, depth: usize) -> Result<Json, Failure> {
        let depth = deeper(depth)?;
        Ok(match self.tag()? {
            tag::NULL => Json::Null,
            tag::FALSE => Json::Bool(false),
            tag::TRUE => Json::Bool(true),
            tag::INT => self.i64()?.into(),
            tag::UINT => self.u64()?.into(),
            tag::DOUBLE => {
                let number = f64::from_bits(self.u64()?);
                let number = serde_json::Number::from_f64(number);
                Json::Number(number.ok_or_else(|| unfit("a number must be finite to be JSON"))?)
            }
            tag::STRING => Json::String(self.text()?.into_owned()),
            tag::LIST => {
                let count = self.count(1)?;
                let mut items = Vec::with_capacity(count);
                for _ in 0..count {
                    items.push(self.json(depth)?);
                }
                Json::Array(items)
            }
            tag::OBJECT => {
                let count = self.count(5)?;
                let mut fields = JsonObject::new();
                for _ in 0..count {
                    let name = self.text()?.into_owned();
                    fields.insert(name, self.json(depth)?);
                }
                Json::Object(fields)
            }
            tag::JSON => self.nested_json(depth)?,
            tag::HANDLE => self.nested_handle(depth)?.clone(),
            tag::BYTES => return Err(unfit(&format!("bytes are not JSON; {JSON_TEXT}"))),
            tag::MAP => {
                return Err(unfit(
                    "a map is not JSON; a JSON object must have string keys (in C: tag 9)",
                ));
            }
            tag::TIMESTAMP | tag::TIMESTAMP_WITH_OFFSET | tag::DURATION => {
                return Err(unfit("a time is not JSON; it must be passed as a string"));
            }
            tag::NONE | tag::SOME => return Err(unfit("an optional is not JSON")),
            other => return Err(misplaced(other)),
        })
    }

    /// Reads a value into an arena.
    pub(crate) fn value<'a>(
        &mut self,
        arena: &'a Arena,
        flavour: Flavour,
        depth: usize,
    ) -> Result<Value<'a>, Failure>
    where
        'b: 'a,
    {
        let depth = deeper(depth)?;
        Ok(match self.tag()? {
            tag::NULL => Value::NULL,
            tag::FALSE => Value::from(false),
            tag::TRUE => Value::from(true),
            tag::INT => Value::from(self.i64()?),
            tag::UINT => Value::from(self.u64()?),
            tag::DOUBLE => Value::from(f64::from_bits(self.u64()?)),
            tag::STRING => Value::from(self.text_in(arena)?),
            tag::BYTES => arena.bytes(self.bytes()?),
            tag::LIST => {
                let count = self.count(1)?;
                let mut items = Vec::with_capacity(count);
                for _ in 0..count {
                    items.push(self.value(arena, flavour, depth)?);
                }
                match flavour {
                    Flavour::Json => arena.array(items),
                    Flavour::Cel => arena.list(&items),
                }
            }
            tag::OBJECT => self.object(arena, flavour, depth)?,
            tag::MAP => {
                let count = self.count(2)?;
                let mut map = MapBuilder::new();
                for _ in 0..count {
                    let key = self.value(arena, flavour, depth)?;
                    map.insert(key, self.value(arena, flavour, depth)?);
                }
                map.build(arena)
            }
            tag::TIMESTAMP => Value::from(self.timestamp()?),
            tag::TIMESTAMP_WITH_OFFSET => {
                let time = self.timestamp()?;
                let offset = self.offset()?;
                Value::from(Timestamp { offset, ..time })
            }
            tag::DURATION => Value::from(Duration(self.i64()?)),
            tag::NONE => Value::NONE,
            tag::SOME => arena.some(self.value(arena, flavour, depth)?),
            tag::JSON => arena.document(self.nested_json(depth)?),
            tag::HANDLE => Value::from(self.nested_handle(depth)?),
            other => return Err(misplaced(other)),
        })
    }

    fn object<'a>(
        &mut self,
        arena: &'a Arena,
        flavour: Flavour,
        depth: usize,
    ) -> Result<Value<'a>, Failure>
    where
        'b: 'a,
    {
        let count = self.count(5)?;
        let mut fields = Vec::with_capacity(count);
        for _ in 0..count {
            let name = self.text_in(arena)?;
            fields.push((name, self.value(arena, flavour, depth)?));
        }
        Ok(match flavour {
            Flavour::Json => arena.object(fields),
            Flavour::Cel => {
                let mut map = MapBuilder::new();
                for (name, value) in fields {
                    map.insert(Value::from(name), value);
                }
                map.build(arena)
            }
        })
    }
}

fn deeper(depth: usize) -> Result<usize, Failure> {
    match depth < MAX_DEPTH {
        true => Ok(depth.saturating_add(1)),
        false => Err(too_deep()),
    }
}

/// Checks that a JSON value at this depth is not nested too deeply. A document itself is not nested deeper than a value may be.
fn check_depth(json: &Json, depth: usize) -> Result<(), Failure> {
    let levels = MAX_DEPTH.saturating_sub(depth);
    match depth <= 1 || json::is_within(json, levels, &Work::unbounded()) == Ok(true) {
        true => Ok(()),
        false => Err(too_deep()),
    }
}

fn too_deep() -> Failure {
    malformed(&format!("nested deeper than {MAX_DEPTH}"))
}

fn cut_off() -> Failure {
    malformed("the bytes end within a value")
}

/// The error for a tag that is unknown, or whose value must not be part of another value.
fn misplaced(tag: u8) -> Failure {
    match tag {
        tag::AUTHORIZER | tag::RESOURCE_CHECK => {
            unfit("an authorizer or a resource check must be the whole value of a variable")
        }
        _ => malformed(&format!(
            "tag {tag} is unknown; the tags are 0 to 15 and 32 to 35; JSON text must follow tag 32 and its length"
        )),
    }
}

fn malformed(what: &str) -> Failure {
    unfit(&format!("flat value: {what}"))
}

fn unfit(what: &str) -> Failure {
    GavelError::new(GavelErrorKind::Argument, what)
}

#[cfg(test)]
mod tests;

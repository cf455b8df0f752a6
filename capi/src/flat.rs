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
use crate::value::GavelValue;

/// The nesting limit of values. It equals the nesting limit of JSON.
const MAX_DEPTH: usize = 127;

/// How hosts pass JSON text, for messages.
pub(crate) const JSON_TEXT: &str =
    "pass JSON text as json.RawMessage (in C: tag 32, the length, the text)";

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
mod tests {
    use gavel_engine::value::ValueKind;
    use serde_json::json;

    use super::*;

    fn read_json(bytes: &[u8]) -> Result<Json, Failure> {
        // SAFETY: the handles in the bytes live until the end of the test.
        unsafe { super::read_json(bytes) }
    }

    fn read_value<'a>(bytes: &'a [u8], arena: &'a Arena) -> Result<Value<'a>, Failure> {
        // SAFETY: the handles in the bytes live until the end of the test.
        unsafe { super::read_value(bytes, arena) }
    }

    /// The flat encoding of `{"a": [1, true], "b": "x"}`.
    const OBJECT: &[u8] = b"\x09\x02\0\0\0\x01\0\0\0a\x08\x02\0\0\0\x03\x01\0\0\0\0\0\0\0\x02\x01\0\0\0b\x06\x01\0\0\0x";

    #[test]
    fn a_flat_object_is_the_json_that_it_stands_for() {
        assert_eq!(
            read_json(OBJECT).unwrap(),
            json!({"a": [1, true], "b": "x"})
        );
        let arena = Arena::new();
        let value = read_value(OBJECT, &arena).unwrap();
        assert_eq!(value.to_json().unwrap(), json!({"a": [1, true], "b": "x"}));
    }

    #[test]
    fn truncated_input_is_an_error_wherever_it_ends() {
        let arena = Arena::new();
        for end in 0..OBJECT.len() {
            assert!(read_json(&OBJECT[..end]).is_err(), "{end}");
            assert!(read_value(&OBJECT[..end], &arena).is_err(), "{end}");
        }
    }

    #[test]
    fn counts_that_the_bytes_cannot_hold_take_no_memory() {
        assert!(read_json(b"\x08\xff\xff\xff\xff").is_err());
        assert!(read_json(b"\x09\xff\xff\xff\xff\0").is_err());
    }

    #[test]
    #[cfg(target_pointer_width = "64")]
    fn bytes_whose_lengths_overflow_are_rejected() {
        // The operating system provides the zeros only when they are read.
        let bytes = vec![0; 1 << 32];
        let error = read_json(&bytes).unwrap_err();
        assert_eq!(error.message(), "flat value: must be shorter than 4 GiB");
        assert!(read_value(&bytes, &Arena::new()).is_err());
    }

    #[test]
    fn nesting_is_bounded() {
        let deep: Vec<u8> = b"\x08\x01\0\0\0".repeat(200_000);
        assert!(read_json(&deep).is_err());
        assert!(read_value(&deep, &Arena::new()).is_err());
        let check = |levels: usize, inner: usize, is_valid: bool| {
            let text = ["[".repeat(inner), "]".repeat(inner)].concat();
            let length = u32::try_from(text.len()).unwrap().to_le_bytes();
            let flat = b"\x08\x01\0\0\0".repeat(levels);
            let flat = [&flat, b"\x20".as_slice(), &length, text.as_bytes()].concat();
            assert_eq!(read_json(&flat).is_ok(), is_valid, "{levels} {inner}");
            let arena = Arena::new();
            assert_eq!(
                read_value(&flat, &arena).is_ok(),
                is_valid,
                "{levels} {inner}"
            );
        };
        check(0, 127, true);
        check(100, 27, true);
        check(100, 28, false);
        check(126, 127, false);
    }

    #[test]
    fn errors_say_what_to_pass_instead() {
        let check = |bytes: &[u8], expected: &str| {
            assert_eq!(read_json(bytes).unwrap_err().message(), expected);
        };
        check(
            b"\x07\x01\0\0\0a",
            "bytes are not JSON; pass JSON text as json.RawMessage (in C: tag 32, the length, the text)",
        );
        check(
            b"{\"a\": 1}",
            "flat value: tag 123 is unknown; the tags are 0 to 15 and 32 to 35; JSON text must follow tag 32 and its length",
        );
        check(b"\x0d", "an optional is not JSON");
        check(b"\x21\0\0\0\0\0\0\0\0", "a handle is null");
    }

    #[test]
    fn variables_are_an_object_or_json() {
        let check = |bytes: &[u8], expected: Result<&[&str], &str>| {
            let mut names = Vec::new();
            // SAFETY: there are no handles.
            let mut reader = unsafe { Reader::new(bytes) }.unwrap();
            let found = reader.variables(|name, given| {
                names.push(name.to_owned());
                match given {
                    Given::Next(reader) => reader.json(0).map(|_| ()),
                    Given::Json(_) => Ok(()),
                }
            });
            let found = found.map(|()| names.as_slice());
            let found = found.map_err(|error| error.message().to_owned());
            match expected {
                Ok(expected) => assert_eq!(found.unwrap(), expected),
                Err(expected) => assert_eq!(found.unwrap_err(), expected),
            }
        };
        check(b"", Ok(&[]));
        check(OBJECT, Ok(&["a", "b"]));
        check(b"\x20\x08\0\0\0{\"c\": 1}", Ok(&["c"]));
        check(
            b"\x20\x04\0\0\0true",
            Err("variables must be a JSON object"),
        );
        check(
            b"{\"a\": 1}",
            Err("variables must be an object (tag 9) or JSON text (tag 32), not tag 123"),
        );
        check(
            b"\x20\x02\0\0\0{}\0",
            Err("flat value: bytes behind the value"),
        );
    }

    #[test]
    fn each_invalid_byte_becomes_the_replacement_character() {
        let flat = b"\x06\x03\0\0\0a\xe2\x82";
        let text = "a\u{fffd}\u{fffd}";
        assert_eq!(read_json(flat).unwrap(), json!(text));
        let arena = Arena::new();
        assert_eq!(read_value(flat, &arena).unwrap().as_str(), Some(text));
    }

    #[test]
    fn handles_stand_for_their_values_at_any_depth() {
        let object = GavelValue(json!({"a": [1]}));
        let address = u64::try_from((&raw const object).expose_provenance()).unwrap();
        let handle = [&[tag::HANDLE][..], &address.to_le_bytes()].concat();
        let check = |levels: usize, expected: Option<Json>| {
            let flat = [&b"\x08\x01\0\0\0".repeat(levels), &handle[..]].concat();
            assert_eq!(read_json(&flat).ok(), expected);
            let arena = Arena::new();
            let value = read_value(&flat, &arena).ok();
            assert_eq!(value.map(|value| value.to_json().unwrap()), expected);
        };
        check(0, Some(json!({"a": [1]})));
        check(2, Some(json!([[{"a": [1]}]])));
        check(126, None);
    }

    #[test]
    fn times_have_offsets_of_less_than_a_day() {
        let check = |offset: i32, expected: Option<i32>| {
            let flat = [
                b"\x0f\0\0\0\0\0\0\0\0\x05\0\0\0".as_slice(),
                &offset.to_le_bytes(),
            ];
            let (flat, arena) = (flat.concat(), Arena::new());
            let found = read_value(&flat, &arena)
                .ok()
                .map(|value| match value.kind() {
                    ValueKind::Timestamp(time) => time.offset,
                    _ => panic!("no timestamp"),
                });
            assert_eq!(found, expected, "{offset}");
        };
        check(-19_800, Some(-19_800));
        check(86_399, Some(86_399));
        check(86_400, None);
        check(i32::MIN, None);
    }
}

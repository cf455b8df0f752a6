//! Tests of the flat encoding.

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
const OBJECT: &[u8] =
    b"\x09\x02\0\0\0\x01\0\0\0a\x08\x02\0\0\0\x03\x01\0\0\0\0\0\0\0\x02\x01\0\0\0b\x06\x01\0\0\0x";

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

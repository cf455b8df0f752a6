//! Fuzzes manifests. Any text is read as YAML and as JSON. Reading returns documents, and problems with positions, in bounded time and
//! without a panic.
//!
//! The target also checks that each value of a document has a position within the text, and that a document is the same after it is
//! written, as JSON or as YAML, and read again.
#![no_main]

use std::fmt::Write;

use gavel_apimachinery::json;
use gavel_manifest::{Document, Format, Place, Problem, read};
use libfuzzer_sys::fuzz_target;
use serde_json::Value as Json;

fuzz_target!(|text: &str| {
    for format in [Format::Yaml, Format::Json] {
        let reading = read(text, format);
        for document in reading.documents {
            places_are_in_the_text(&document, text);
            written_again_is_the_same(document.value());
            let whole = document.value().clone();
            for object in document.into_objects() {
                let value = object.into_value();
                assert!(
                    value == whole || contains(&whole, &value),
                    "{whole} {value}"
                );
            }
        }
        for problem in &reading.problems {
            check_problem(problem, text);
        }
    }
});

/// Checks that a problem has a message and a position in the text.
fn check_problem(problem: &Problem, text: &str) {
    assert!(!problem.message.is_empty());
    is_in_the_text(problem.range.expect("a place").start, text);
}

fn places_are_in_the_text(document: &Document, text: &str) {
    is_in_the_text(document.place(), text);
    for problem in document.duplicate_keys() {
        check_problem(problem, text);
    }
    let mut open = vec![(String::new(), document.value())];
    while let Some((path, value)) = open.pop() {
        is_in_the_text(document.place_of(&path), text);
        document.place_within(&path, 1, 1);
        match value {
            Json::Array(items) if path.len() < 200 => {
                open.extend(
                    items
                        .iter()
                        .enumerate()
                        .map(|(n, item)| (format!("{path}[{n}]"), item)),
                );
            }
            Json::Object(fields) if path.len() < 200 => {
                open.extend(
                    fields
                        .iter()
                        .map(|(key, value)| (format!("{path}.{key}"), value)),
                );
            }
            _ => {}
        }
    }
}

/// Checks that a position is on a line of the text, or on the line after the last one.
fn is_in_the_text(place: Place, text: &str) {
    let lines = text
        .split(['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}'])
        .count();
    let line = usize::try_from(place.line).expect("a number");
    assert!((1..=lines + 1).contains(&line), "{place} in {text:?}");
    assert!(place.column >= 1, "{place}");
}

/// Checks that a value is the same after it is written and read again. The value is written as JSON, and as YAML with one key per line. The
/// JSON is also read as YAML.
fn written_again_is_the_same(value: &Json) {
    let text = json::to_string(value);
    let check = |text: &str, format| match read(text, format).all().as_deref() {
        Ok([]) => assert!(value.is_null(), "{text}"),
        Ok([document]) => assert_eq!(json::to_string(document.value()), json::to_string(value)),
        other => panic!("{text}: {other:?}"),
    };
    // As in upstream, a negative zero loses its sign.
    if text.contains("-0") {
        return;
    }
    check(&text, Format::Json);
    // YAML allows neither these characters nor long keys.
    let is_foreign = |c| {
        matches!(
            c,
            '\u{7f}'..='\u{9f}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}'
        )
    };
    if text.contains(is_foreign) || has_long_key(value) {
        return;
    }
    check(&text, Format::Yaml);
    if let Json::Object(fields) = value
        && !fields.is_empty()
    {
        let mut block = String::new();
        for (key, value) in fields {
            let _ = writeln!(block, "{}: {}", json::quoted(key), json::to_string(value));
        }
        check(&block, Format::Yaml);
    }
}

fn has_long_key(value: &Json) -> bool {
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        match value {
            Json::Array(items) => open.extend(items),
            Json::Object(fields) if fields.keys().any(|key| key.len() > 150) => return true,
            Json::Object(fields) => open.extend(fields.values()),
            _ => {}
        }
    }
    false
}

fn contains(whole: &Json, part: &Json) -> bool {
    let mut open = vec![whole];
    while let Some(value) = open.pop() {
        if value == part || is_completed(value, part) {
            return true;
        }
        match value {
            Json::Array(items) => open.extend(items),
            Json::Object(fields) => open.extend(fields.values()),
            _ => {}
        }
    }
    false
}

/// Whether an object is an item of a list with the `apiVersion` and the `kind` that the list says.
fn is_completed(item: &Json, object: &Json) -> bool {
    let (Json::Object(item), Json::Object(object)) = (item, object) else {
        return false;
    };
    let mut item = item.clone();
    for key in ["apiVersion", "kind"] {
        let value = object.get(key).map(|value| (key.to_owned(), value.clone()));
        item.extend(value);
    }
    item == *object
}

//! Tests how JSON is read through schemas.

use gavel_engine::decl::TypeProvider;
use gavel_engine::value::{FieldPlace, Host, list_contains};

use serde_json::json;

use super::*;

/// Reads JSON through a schema. Returns the text of the value or the error.
fn read(schema: &Json, json: &Json) -> Result<String, String> {
    let schema = self::schema(schema.clone());
    let arena = Arena::new();
    let value = schema.view(json).read(&arena);
    value
        .map(|value| value.in_message().to_string())
        .map_err(|error| error.message().to_owned())
}

/// Checks lines such as `{"type": "number"} | 1 | 1`: a schema, JSON, and the text of the value or the error.
fn check(cases: &str, outcome: fn(String) -> Result<String, String>) {
    for case in cases.trim().lines() {
        let (schema, rest) = case.split_once(" | ").unwrap();
        let (json, expected) = rest.split_once(" | ").unwrap();
        let [schema, json] = [schema, json].map(|text| serde_json::from_str(text).unwrap());
        assert_eq!(read(&schema, &json), outcome(expected.to_owned()), "{case}");
    }
}

#[test]
fn json_is_read_as_the_schema_says() {
    check(
        r#"
{"type": "number"} | 1 | 1
{"type": "number"} | 18446744073709551615 | 1.8446744073709552e+19
{"type": "integer", "nullable": true} | null | 0
{"x-kubernetes-int-or-string": true} | "5%" | 5%
{"type": "string", "format": "byte"} | "a-_b" | [107 239 219]
{"type": "string", "format": "duration"} | "2 days" | 48h0m0s
{"type": "string", "format": "date"} | "2020-02-29" | 2020-02-29 00:00:00 +0000 UTC
{"type": "string", "format": "date-time"} | "" | 1970-01-01 00:00:00 +0000 UTC
{"type": "string", "format": "date-time"} | "2020-01-01T00:00:00.5" | 2020-01-01 00:00:00.5 +0000 UTC
{"type": "string", "format": "datetime"} | "x" | x
"#,
        Ok,
    );
}

#[test]
fn json_that_cannot_be_read_fails_as_upstream() {
    check(
        r#"
{"type": "string"} | null | invalid data, got null for schema with nullable=false
{"type": "string"} | 1.0 | invalid data, expected string, got float64
{"type": "string"} | {} | invalid data, expected string, got map[string]interface {}
{"type": "integer"} | 1.0 | invalid data, expected int, got float64
{"type": "number"} | [] | invalid data, expected float, got []interface {}
{"type": "boolean"} | "true" | invalid data, expected bool, got string
{"type": "object"} | [] | invalid data, expected a map for the provided schema with type=object
{"type": "array", "items": {}} | {} | invalid data, expected an array for the provided schema with type=array
{"type": "array"} | [] | invalid array type, expected Items with a non-empty Schema
{"type": "array", "items": {}, "x-kubernetes-list-type": "bag"} | [] | invalid x-kubernetes-list-type, expected 'map', 'set' or 'atomic' but got bag
{"x-kubernetes-int-or-string": true} | 1.5 | invalid data, expected XIntOrString value to be either a string or integer
{"type": "string", "format": "byte"} | "a+/b" | Invalid byte formatted string a+/b: illegal base64 data at input byte 1
{"type": "string", "format": "duration"} | "5" | Invalid duration 5: unable to parse 5 as duration
{"type": "string", "format": "date"} | "x" | Invalid date formatted string x: parsing time "x" as "2006-01-02": cannot parse "x" as "2006"
{"type": "string", "format": "date-time"} | "2020-01-01t00:00:00z" | Invalid date-time formatted string 2020-01-01t00:00:00z: parsing time "2020-01-01t00:00:00z" as "2006-01-02T15:04:05": cannot parse "t00:00:00z" as "T"
"#,
        Err,
    );
}

#[test]
fn fields_are_found_as_identifiers_and_keys_as_they_are() {
    let object = schema(
        json!({"type": "object", "properties": {"a-b": {"type": "integer"}, "c$d": {"type": "integer"}, "n": {"type": "integer", "nullable": true}}}),
    );
    let json = json!({"a-b": 1, "c$d": 2, "n": null, "unknown": 3});
    let map = object.view(&json).as_map().unwrap();
    let mut keys = map.iter();
    let keys: Vec<String> = std::iter::from_fn(|| keys.next_key())
        .map(|key| key.in_message().to_string())
        .collect();
    assert_eq!(
        keys,
        ["a__dash__b", "c$d", "n", "0"],
        "a null for what is unknown"
    );
    let found = |key: &str| {
        map.get_str(key)
            .unwrap()
            .map(|value| value.in_message().to_string())
    };
    for (key, expected) in [
        ("a__dash__b", Some("1")),
        ("a-b", Some("1")),
        ("c$d", Some("2")),
        ("n", None),
        ("unknown", None),
        ("__x__", None),
    ] {
        assert_eq!(found(key).as_deref(), expected, "{key}");
    }
    assert!(map.get(&Value::from(1)).is_err());

    let values = schema(
        json!({"type": "object", "additionalProperties": {"type": "integer", "nullable": true}}),
    );
    let json = json!({"a-b": 1, "n": null});
    let map = values.view(&json).as_map().unwrap();
    assert_eq!(map.get_str("a-b").unwrap().unwrap().as_int(), Some(1));
    assert!(matches!(map.get_str("a__dash__b"), Ok(None)));
    assert!(map.get_str("n").unwrap().unwrap().is_null());
}

#[test]
fn elements_say_whether_they_are_a_value() {
    let numbers = schema(json!({"type": "array", "items": {"type": "integer"}}));
    let json = json!([1, 1.5, 2]);
    let list = numbers.view(&json).as_list().unwrap();
    assert!(list_contains(list, &Value::from(2), &Host::default()).unwrap());
    let failure =
        list_contains(list, &Value::from(3), &Host::default()).expect_err("an element fails");
    assert_eq!(failure.message(), "invalid data, expected int, got float64");
}

#[test]
fn fields_are_found_wherever_they_are_said_to_be() {
    let schema = schema(json!({"type": "object", "properties": {
        "a": {"type": "integer"}, "a-b": {"type": "string"}, "namespace": {"type": "string"}, "a__b": {"type": "boolean"},
    }}));
    let object = json!({"a": 1, "a-b": "text", "namespace": "default", "a__b": true, "c": 5});
    let (map, shape) = (object.as_object().unwrap(), schema.shape.clone());
    let types = schema.provider(true);
    for field in [
        "a",
        "a__dash__b",
        "a-b",
        "__namespace__",
        "namespace",
        "a__underscores__b",
        "a__b",
        "c",
    ] {
        let found = |value: Option<Value<'_>>| value.map(|value| value.in_message().to_string());
        let expected = found(shape.find(map, field));
        assert_eq!(
            shape.field_place(field),
            types.field_place("selfType1", field)
        );
        for place in [
            shape.field_place(field),
            FieldPlace::UNKNOWN,
            FieldPlace::new(0),
            FieldPlace::new(3),
        ] {
            let at = shape.field_at(field, place);
            let is_known = place != FieldPlace::UNKNOWN && place == shape.field_place(field);
            assert!(at.is_some() || !is_known, "{field}");
            let value = match at {
                Some((name, shape)) => map.get(name).map(|json| shape.view(json)),
                None => shape.find(map, field),
            };
            assert_eq!(found(value), expected, "{field}");
        }
    }
    assert_ne!(
        types.field_place("selfType1", "a__dash__b"),
        FieldPlace::UNKNOWN
    );
}

#[test]
fn texts_are_found_in_sets_of_texts() {
    let texts = schema(
        json!({"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"}),
    );
    let contains = |json: &Json, value: Value<'_>| {
        let list = texts.view(json).as_list().unwrap();
        let found = list_contains(list, &value, &Host::default());
        found.map_err(|error| error.message().to_owned())
    };
    let known = json!(["a", "b"]);
    assert_eq!(contains(&known, Value::from("b")), Ok(true));
    assert_eq!(contains(&known, Value::from("c")), Ok(false));
    assert_eq!(contains(&known, Value::from(1)), Ok(false));
    let faulty = json!(["a", 1, "b"]);
    assert_eq!(contains(&faulty, Value::from("b")), Ok(true));
    let message = "invalid data, expected string, got int64";
    assert_eq!(contains(&faulty, Value::from("c")), Err(message.to_owned()));
}

#[test]
fn copies_of_json_count_against_the_memory_limit() {
    let items: Vec<Json> = (0..1_000).map(|n| json!({"n": n})).collect();
    for (schema, json) in [
        (
            json!({"x-kubernetes-preserve-unknown-fields": true}),
            Json::from(items),
        ),
        (
            json!({"type": "string", "format": "byte"}),
            Json::from("QUJD".repeat(50_000)),
        ),
    ] {
        let schema = self::schema(schema);
        let arena = Arena::new();
        arena.set_limit(1 << 20);
        let reads = (0..100).map(|_| schema.view(&json).read(&arena).is_ok());
        let read = reads.take_while(|read| *read).count();
        assert!((1..10).contains(&read), "{read} copies");
    }
}

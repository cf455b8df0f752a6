//! Tests lists that `+` joins.

use gavel_engine::value::{Host, concat_lists, list_contains};

use serde_json::json;

use super::*;

#[test]
fn appended_elements_are_read_anew() {
    let check = |schema: Json, left: Json, right: Json, expected: &str| {
        let schema = self::schema(schema);
        let arena = Arena::new();
        let lists = [&left, &right].map(|json| schema.view(json).as_list().unwrap());
        let joined = concat_lists(&arena, lists[0], lists[1], &Host::default());
        let text = match joined {
            Ok(joined) => joined.in_message().to_string(),
            Err(error) => error.to_string(),
        };
        assert_eq!(text, expected, "{left} {right}");
    };
    let list = |item: Json| json!({"type": "array", "items": item});
    let set = |item: Json| json!({"type": "array", "items": item, "x-kubernetes-list-type": "set"});
    let text = json!({"type": "string"});
    let date = json!({"type": "string", "format": "date"});
    check(
        list(text.clone()),
        json!(["a"]),
        json!(["a", "b"]),
        "[a, a, b]",
    );
    check(
        set(text),
        json!(["a", "a"]),
        json!(["b", "a", "b"]),
        "[a, a, b]",
    );
    check(
        list(date),
        json!(["2020-01-01"]),
        json!(["2020-01-02"]),
        "[2020-01-01 00:00:00 +0000 UTC, invalid data, expected string, got time.Time]",
    );
    let bytes = json!({"type": "string", "format": "byte"});
    check(
        set(bytes),
        json!([]),
        json!(["QQ=="]),
        "internal error: hash of unhashable type: []uint8",
    );
    let object = json!({"type": "object", "properties": {"k": {"type": "string"}, "v": {"type": "integer"}}});
    let maps = json!({"type": "array", "items": object, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"]});
    check(
        maps,
        json!([{"k": "a", "v": 1}, {"k": "b", "v": 2}]),
        json!([{"k": "b", "v": 3}, {"k": "c"}]),
        "[{k: a, v: 1}, {k: b, v: 3}, {k: c}]",
    );
}

#[test]
fn a_bound_set_keeps_added_elements() {
    let set = schema(
        json!({"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"}),
    );
    let (json, other) = (json!(["a", "b"]), json!(["a", "c"]));
    let arena = Arena::new();
    let (bound, other) = (set.bind(&json, &arena), set.view(&other));
    let add = |more: &'static str| {
        let more = arena.list(&[Value::from(more)]);
        let lists = (bound.as_list().unwrap(), more.as_list().unwrap());
        let sum = concat_lists(&arena, lists.0, lists.1, &Host::default()).unwrap();
        sum.in_message().to_string()
    };
    assert!(!bound.equals(&other).unwrap());
    assert_eq!(add("c"), "[a, b, c]");
    assert!(bound.equals(&other).unwrap());
    assert_eq!(add("c"), "[a, b]");
    assert!(
        !list_contains(
            bound.as_list().unwrap(),
            &Value::from("c"),
            &Host::default()
        )
        .unwrap()
    );
    assert_eq!(bound.as_list().map(|list| list.len()), Some(2));
}

#[test]
fn a_bound_set_has_the_elements_before_the_first_that_cannot_be_hashed() {
    let set = schema(
        json!({"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"}),
    );
    let json = json!(["x", {}]);
    let arena = Arena::new();
    let (bound, texts) = (set.bind(&json, &arena), arena.list(&[Value::from("x"); 2]));
    let error = |value: &Value<'_>| bound.equals(value).unwrap_err().to_string();
    let first = "internal error: runtime error: hash of unhashable type map[string]interface {}";
    assert_eq!(error(&texts), first);
    assert!(bound.equals(&texts).unwrap());
    let objects = json!([{}]);
    let bound = set.bind(&objects, &arena);
    let objects = Value::from(&objects);
    let error = || bound.equals(&objects).unwrap_err().to_string();
    assert_eq!(error(), first);
    let later = "internal error: hash of unhashable type: map[string]interface {}";
    assert_eq!(error(), later);
}

#[test]
fn elements_that_cannot_be_read_equal_only_themselves() {
    let time = json!({"type": "string", "format": "date-time"});
    let bytes = json!({"type": "string", "format": "byte"});
    let set = |item: Json| json!({"type": "array", "items": item, "x-kubernetes-list-type": "set"});
    let object = json!({"type": "object", "properties": {"k": time}});
    let map = json!({"type": "array", "items": object, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"]});
    let wrong = "2020-01-01t00:00:00z";
    // The list, whether it equals itself, and the length of the list that is joined with itself.
    for (schema, list, equal, length) in [
        (set(time), json!([wrong]), Some(false), 2),
        (set(bytes), json!(["a+/b"]), Some(false), 2),
        (map, json!([{"k": wrong}]), None, 1),
    ] {
        let newest = Server::from(KubeVersion::v1(37));
        let schema = serde_json::from_value(schema).unwrap();
        let schema = CelSchema::for_server(&schema, false, newest);
        let (arena, view) = (Arena::new(), schema.view(&list));
        let operand = view.as_list().unwrap();
        let sum = concat_lists(&arena, operand, operand, &Host::default()).unwrap();
        assert_eq!(view.equals(&view).ok(), equal, "{list}");
        assert_eq!(sum.as_list().unwrap().len(), length, "{list}");
        assert_eq!(sum.equals(&view).ok(), equal, "{list}");
        assert_eq!(sum.equals(&sum).ok(), equal.map(|_| true), "{list}");
    }
}

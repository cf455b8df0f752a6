use gavel_engine::decl::TypeProvider;
use gavel_engine::value::{concat_lists, list_contains};
use serde_json::json;

use super::*;

fn schema(json: Json) -> CelSchema {
    CelSchema::new(&serde_json::from_value(json).unwrap(), false)
}

fn resource(json: Json) -> CelSchema {
    CelSchema::new(&serde_json::from_value(json).unwrap(), true)
}

/// The type, the fewest bytes and the most elements; a list or map of it has so many elements.
#[test]
fn every_kind_of_node_has_a_type_and_sizes() {
    let check = |node: Json, ty: &str, size: u64, elements: u64, in_list: u64, in_map: u64| {
        let root = schema(json!({"type": "object", "properties": {
            "x": node,
            "list": {"type": "array", "items": node},
            "map": {"type": "object", "additionalProperties": node},
        }}));
        let of = |name: &str| root.property(name).expect("a property");
        let x = of("x");
        let text = x.declared_type().map_or("none".into(), |ty| ty.to_string());
        assert_eq!(text, ty, "{node}");
        assert_eq!(
            (x.min_serialized_size(), x.max_elements()),
            (size, elements),
            "{node}"
        );
        if ty != "none" {
            assert_eq!(of("list").max_elements(), in_list, "{node}");
            assert_eq!(of("map").max_elements(), in_map, "{node}");
        }
    };
    check(
        json!({"x-kubernetes-int-or-string": true}),
        "dyn",
        1,
        3_145_726,
        1_572_863,
        449_389,
    );
    check(
        json!({"x-kubernetes-int-or-string": true, "maxLength": 5}),
        "dyn",
        1,
        20,
        1_572_863,
        449_389,
    );
    check(json!({"type": "boolean"}), "bool", 4, 0, 629_145, 314_572);
    check(
        json!({"type": "number"}),
        "double",
        1,
        0,
        1_572_863,
        449_389,
    );
    check(json!({"type": "integer"}), "int", 1, 0, 1_572_863, 449_389);
    check(
        json!({"type": "string"}),
        "string",
        2,
        3_145_726,
        1_048_575,
        393_215,
    );
    check(
        json!({"type": "string", "format": "uri", "maxLength": 5}),
        "string",
        2,
        20,
        1_048_575,
        393_215,
    );
    check(
        json!({"type": "string", "maxLength": -1}),
        "string",
        2,
        0,
        1_048_575,
        393_215,
    );
    check(
        json!({"type": "string", "enum": ["a", "äb"]}),
        "string",
        2,
        3,
        1_048_575,
        393_215,
    );
    check(
        json!({"type": "string", "enum": ["a"], "maxLength": 9}),
        "string",
        2,
        36,
        1_048_575,
        393_215,
    );
    check(
        json!({"type": "string", "format": "byte", "maxLength": 5}),
        "bytes",
        2,
        5,
        1_048_575,
        393_215,
    );
    check(
        json!({"type": "string", "format": "duration", "maxLength": 5}),
        "google.protobuf.Duration",
        3,
        32,
        786_431,
        349_525,
    );
    check(
        json!({"type": "string", "format": "date"}),
        "google.protobuf.Timestamp",
        12,
        12,
        241_978,
        174_762,
    );
    check(
        json!({"type": "string", "format": "date-time"}),
        "google.protobuf.Timestamp",
        21,
        32,
        142_987,
        116_508,
    );
    check(
        json!({"type": "array", "items": {"type": "integer"}, "maxItems": 3}),
        "list(int)",
        2,
        3,
        1_048_575,
        393_215,
    );
    check(
        json!({"type": "object", "additionalProperties": {"type": "string"}, "maxProperties": -3}),
        "map(string, string)",
        2,
        0,
        1_048_575,
        393_215,
    );
    check(
        json!({"type": "object"}),
        "selfType1",
        2,
        0,
        1_048_575,
        393_215,
    );
    check(
        json!({"type": "object", "additionalProperties": true}),
        "selfType1",
        2,
        0,
        1_048_575,
        393_215,
    );
    check(
        json!({"x-kubernetes-preserve-unknown-fields": true}),
        "none",
        0,
        0,
        0,
        0,
    );
    check(
        json!({"type": "array", "items": {"x-kubernetes-preserve-unknown-fields": true}}),
        "none",
        2,
        3_145_726,
        0,
        0,
    );
    check(json!({"type": "array"}), "none", 0, 0, 0, 0);
}

#[test]
fn required_properties_count_unless_they_have_a_default() {
    let schema = schema(
        json!({"type": "object", "required": ["a", "b$", "c", "d", "unknown"], "properties": {
            "a": {"type": "string"},
            "b$": {"type": "boolean"},
            "c": {"type": "integer", "default": 1},
            "d": {"x-kubernetes-preserve-unknown-fields": true},
            "e": {"type": "string"},
        }}),
    );
    assert_eq!(schema.min_serialized_size(), 2 + (1 + 2 + 4) + (2 + 4 + 4));
}

#[test]
fn types_are_named_after_their_place() {
    let schema = schema(json!({"type": "object", "properties": {
        "a-b": {"type": "array", "items": {"type": "object", "properties": {"namespace": {"type": "string"}}}},
        "m": {"type": "object", "additionalProperties": {"type": "object", "properties": {"x": {"type": "integer"}}}},
        "a$": {"type": "string"},
        "p": {"x-kubernetes-preserve-unknown-fields": true},
    }}));
    let types = schema.clone().named("T").provider(true);
    let check = |ty: &str, field: &str, expected: &str| {
        let found = types.field_type(ty, field);
        assert_eq!(
            found.map_or("none".into(), |ty| ty.to_string()),
            expected,
            "{ty} {field}"
        );
    };
    check("T", "a__dash__b", "list(T.a__dash__b.@idx)");
    check("T.a__dash__b.@idx", "__namespace__", "string");
    check("T.a__dash__b.@idx", "namespace", "string");
    check("T", "m", "map(string, T.m.@elem)");
    check("T.m.@elem", "x", "int");
    for field in ["a$", "a-b", "p", "unknown"] {
        check("T", field, "none");
    }
    let strict = schema.provider(false);
    assert_eq!(
        strict.field_type("selfType1.a__dash__b.@idx", "namespace"),
        None
    );
    assert_eq!(
        strict.find_type("selfType1.m.@elem"),
        Some(Type::Struct("selfType1.m.@elem".into()))
    );
    assert_eq!(strict.find_type("selfType1.m.@elem.x"), None);
    assert_eq!(strict.find_type("other"), None);
}

#[test]
fn resources_have_the_fields_of_all_resources() {
    let name = |schema: &CelSchema| {
        schema
            .property("metadata")?
            .property("name")
            .map(|name| name.max_elements())
    };
    let embedded = json!({"type": "object", "x-kubernetes-embedded-resource": true,
        "properties": {"metadata": {"type": "object", "properties": {"name": {"type": "string", "maxLength": 5}, "labels": {"type": "object"}}}}});
    let schema = resource(json!({"type": "object", "properties": {"template": embedded}}));
    assert_eq!(name(&schema), Some(3_145_726));
    let template = schema.property("template").expect("a property");
    assert_eq!(name(&template), Some(3_145_726));
    assert!(
        template
            .property("metadata")
            .is_some_and(|metadata| metadata.property("labels").is_none())
    );
    let text = json!({"type": "string"});
    let complete = resource(
        json!({"type": "object", "properties": {"kind": text, "apiVersion": text, "metadata":
        {"type": "object", "properties": {"name": {"type": "string", "maxLength": 5}, "generateName": text}}}}),
    );
    assert_eq!(name(&complete), Some(20));
}

#[test]
fn sizes_are_found_by_path() {
    let schema = schema(json!({"type": "object", "properties": {
        "xs": {"type": "array", "maxItems": 3, "items": {"type": "object", "properties": {"a-b": {"type": "string", "maxLength": 2}}}},
        "m": {"type": "object", "maxProperties": 4, "additionalProperties": {"type": "string", "maxLength": 3}},
        "namespace": {"type": "string", "maxLength": 1},
    }}));
    let check = |path: &[&str], expected: Option<u64>| {
        let size = schema.size(path, &Type::Dyn).map(|size| size.max);
        assert_eq!(size, expected, "{path:?}");
    };
    check(&["self"], Some(0));
    check(&["int", "xs"], Some(3));
    check(&["self", "xs", "@items", "a__dash__b"], Some(8));
    check(&["self", "m"], Some(4));
    check(&["self", "m", "@values"], Some(12));
    check(&["self", "m", "@keys"], Some(0));
    check(&["self", "xs", "@keys"], None);
    check(&["self", "xs", "@indices"], None);
    check(&["self", "__namespace__"], Some(4));
    check(&["self", "namespace"], None);
    check(&["self", "a-b"], None);
}

/// What JSON is by a schema, or why it is nothing.
fn read(schema: &Json, json: &Json) -> Result<String, String> {
    let schema = self::schema(schema.clone());
    let arena = Arena::new();
    let value = schema.view(json).read(&arena);
    value
        .map(|value| value.in_message().to_string())
        .map_err(|error| error.message().to_owned())
}

#[test]
fn json_is_read_as_the_schema_says() {
    for (schema, json, expected) in [
        (json!({"type": "number"}), json!(1), "1"),
        (
            json!({"type": "number"}),
            json!(u64::MAX),
            "1.8446744073709552e+19",
        ),
        (
            json!({"type": "integer", "nullable": true}),
            json!(null),
            "0",
        ),
        (
            json!({"x-kubernetes-int-or-string": true}),
            json!("5%"),
            "5%",
        ),
        (
            json!({"type": "string", "format": "byte"}),
            json!("a-_b"),
            "[107 239 219]",
        ),
        (
            json!({"type": "string", "format": "duration"}),
            json!("2 days"),
            "48h0m0s",
        ),
        (
            json!({"type": "string", "format": "date"}),
            json!("2020-02-29"),
            "2020-02-29 00:00:00 +0000 UTC",
        ),
        (
            json!({"type": "string", "format": "date-time"}),
            json!(""),
            "1970-01-01 00:00:00 +0000 UTC",
        ),
        (
            json!({"type": "string", "format": "date-time"}),
            json!("2020-01-01T00:00:00.5"),
            "2020-01-01 00:00:00.5 +0000 UTC",
        ),
        (
            json!({"type": "string", "format": "datetime"}),
            json!("x"),
            "x",
        ),
    ] {
        assert_eq!(
            read(&schema, &json).as_deref(),
            Ok(expected),
            "{schema} {json}"
        );
    }
}

#[test]
fn json_that_cannot_be_read_fails_as_upstream() {
    for (schema, json, message) in [
        (
            json!({"type": "string"}),
            json!(null),
            "invalid data, got null for schema with nullable=false",
        ),
        (
            json!({"type": "string"}),
            json!(1.0),
            "invalid data, expected string, got float64",
        ),
        (
            json!({"type": "string"}),
            json!({}),
            "invalid data, expected string, got map[string]interface {}",
        ),
        (
            json!({"type": "integer"}),
            json!(1.0),
            "invalid data, expected int, got float64",
        ),
        (
            json!({"type": "number"}),
            json!([]),
            "invalid data, expected float, got []interface {}",
        ),
        (
            json!({"type": "boolean"}),
            json!("true"),
            "invalid data, expected bool, got string",
        ),
        (
            json!({"type": "object"}),
            json!([]),
            "invalid data, expected a map for the provided schema with type=object",
        ),
        (
            json!({"type": "array", "items": {}}),
            json!({}),
            "invalid data, expected an array for the provided schema with type=array",
        ),
        (
            json!({"type": "array"}),
            json!([]),
            "invalid array type, expected Items with a non-empty Schema",
        ),
        (
            json!({"type": "array", "items": {}, "x-kubernetes-list-type": "bag"}),
            json!([]),
            "invalid x-kubernetes-list-type, expected 'map', 'set' or 'atomic' but got bag",
        ),
        (
            json!({"x-kubernetes-int-or-string": true}),
            json!(1.5),
            "invalid data, expected XIntOrString value to be either a string or integer",
        ),
        (
            json!({"type": "string", "format": "byte"}),
            json!("a+/b"),
            "Invalid byte formatted string a+/b: illegal base64 data at input byte 1",
        ),
        (
            json!({"type": "string", "format": "duration"}),
            json!("5"),
            "Invalid duration 5: unable to parse 5 as duration",
        ),
        (
            json!({"type": "string", "format": "date"}),
            json!("x"),
            "Invalid date formatted string x: parsing time \"x\" as \"2006-01-02\": cannot parse \"x\" as \"2006\"",
        ),
        (
            json!({"type": "string", "format": "date-time"}),
            json!("2020-01-01t00:00:00z"),
            "Invalid date-time formatted string 2020-01-01t00:00:00z: parsing time \"2020-01-01t00:00:00z\" as \
             \"2006-01-02T15:04:05\": cannot parse \"t00:00:00z\" as \"T\"",
        ),
    ] {
        assert_eq!(
            read(&schema, &json),
            Err(message.to_owned()),
            "{schema} {json}"
        );
    }
}

/// What `left == right` comes to by the schemas of both sides.
fn compare(left: (&Json, &Json), right: (&Json, &Json)) -> Result<bool, String> {
    let (left_schema, right_schema) = (schema(left.0.clone()), schema(right.0.clone()));
    let (left, right) = (left_schema.view(left.1), right_schema.view(right.1));
    left.equals(&right)
        .map_err(|error| error.message().to_owned())
}

#[test]
fn the_left_list_decides_what_equality_means() {
    let list = |item: Json, list_type: &str| json!({"type": "array", "items": item, "x-kubernetes-list-type": list_type, "x-kubernetes-list-map-keys": ["k", "my-key"]});
    let text = json!({"type": "string"});
    let (set, atomic) = (list(text.clone(), "set"), list(text, "atomic"));
    let object = json!({"type": "object", "properties": {"k": {"type": "string"}, "my-key": {"type": "string"}, "v": {"type": "integer"}}});
    let maps = list(object, "map");
    let dates = list(json!({"type": "string", "format": "date"}), "set");
    let numbers = list(json!({"type": "number"}), "set");
    let bytes = list(json!({"type": "string", "format": "byte"}), "set");
    let check = |left: (&Json, Json), right: (&Json, Json), expected: Result<bool, &str>| {
        let equal = compare((left.0, &left.1), (right.0, &right.1));
        assert_eq!(equal, expected.map_err(str::to_owned), "{left:?} {right:?}");
    };
    let (ab, ba, aa) = (json!(["a", "b"]), json!(["b", "a"]), json!(["a", "a"]));
    check((&set, ab.clone()), (&atomic, ba.clone()), Ok(true));
    check((&atomic, ba), (&set, ab.clone()), Ok(false));
    check((&set, ab.clone()), (&set, aa.clone()), Ok(true));
    check((&set, aa), (&set, ab.clone()), Ok(false));
    check((&set, ab), (&set, json!(["a"])), Ok(false));
    // Members are compared as Go holds them: the schema's texts with CEL's timestamps, and ints with doubles.
    check(
        (&dates, json!(["2020-01-01"])),
        (&dates, json!(["2020-01-01"])),
        Ok(false),
    );
    check((&numbers, json!([1])), (&numbers, json!([1])), Ok(false));
    check((&numbers, json!([1.5])), (&numbers, json!([1.5])), Ok(true));
    let unhashable = "internal error: runtime error: hash of unhashable type []uint8";
    check(
        (&bytes, json!(["QQ=="])),
        (&bytes, json!(["QQ=="])),
        Err(unhashable),
    );
    let (one, two) = (json!({"k": "a", "v": 1}), json!({"k": "b", "v": 2}));
    check(
        (&maps, json!([one, two])),
        (&maps, json!([two, one])),
        Ok(true),
    );
    check(
        (&maps, json!([one, two])),
        (&maps, json!([one, one])),
        Ok(true),
    );
    check(
        (&maps, json!([one, one])),
        (&maps, json!([one, two])),
        Ok(false),
    );
    // Keys are looked for by their escaped names.
    let (x, y) = (json!({"my-key": "x"}), json!({"my-key": "y"}));
    check((&maps, json!([x, y])), (&maps, json!([x, y])), Ok(false));
}

#[test]
fn objects_are_equal_by_the_fields_that_both_know() {
    let object = json!({"type": "object", "properties": {"x": {"type": "integer"}, "o": {"type": "object", "nullable": true}}});
    let check = |left: Json, right: Json, expected: Result<bool, &str>| {
        let equal = compare((&object, &left), (&object, &right));
        assert_eq!(equal, expected.map_err(str::to_owned), "{left} {right}");
    };
    check(json!({"x": 1}), json!({"x": 1}), Ok(true));
    check(json!({"x": 1, "q": 1}), json!({"x": 1, "r": 1}), Ok(true));
    check(
        json!({"x": 1, "q": 1}),
        json!({"x": 1, "q": 1.0}),
        Ok(false),
    );
    check(json!({"x": 1, "o": null}), json!({"x": 1}), Ok(false));
    check(
        json!({"x": 1, "o": null}),
        json!({"x": 1, "q": 1}),
        Ok(true),
    );
    check(
        json!({"x": 1.5}),
        json!({"x": 1}),
        Err("invalid data, expected int, got float64"),
    );
    check(json!({"x": 1}), json!({"x": 1.5}), Ok(false));
    check(json!({"o": 5, "x": 1}), json!({"o": 5, "x": 2}), Ok(false));
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
    assert!(map.get(&Value::Int(1)).is_err());

    let values = schema(
        json!({"type": "object", "additionalProperties": {"type": "integer", "nullable": true}}),
    );
    let json = json!({"a-b": 1, "n": null});
    let map = values.view(&json).as_map().unwrap();
    assert!(matches!(map.get_str("a-b"), Ok(Some(Value::Int(1)))));
    assert!(matches!(map.get_str("a__dash__b"), Ok(None)));
    assert!(matches!(map.get_str("n"), Ok(Some(Value::Null))));
}

#[test]
fn what_is_appended_is_read_anew() {
    let check = |schema: Json, left: Json, right: Json, expected: &str| {
        let schema = self::schema(schema);
        let arena = Arena::new();
        let lists = [&left, &right].map(|json| schema.view(json).as_list().unwrap());
        let joined = concat_lists(&arena, lists[0], lists[1]);
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
fn elements_say_whether_they_are_a_value() {
    let numbers = schema(json!({"type": "array", "items": {"type": "integer"}}));
    let json = json!([1, 1.5, 2]);
    let list = numbers.view(&json).as_list().unwrap();
    assert!(list_contains(list, &Value::Int(2)).unwrap());
    let failure = list_contains(list, &Value::Int(3)).expect_err("an element fails");
    assert_eq!(failure.message(), "invalid data, expected int, got float64");
}

#[test]
fn equal_parts_of_a_schema_are_one() {
    let part = json!({"type": "object", "properties": {"x": {"type": "array", "items": {"type": "string"}}}});
    let schema = schema(
        json!({"type": "object", "properties": {"a": part, "b": part, "c": {"type": "object", "nullable": true, "properties": {}}}}),
    );
    let shape = |name: &str| schema.property(name).unwrap().shape;
    assert!(shape("a").is(&shape("b")));
    assert!(!shape("a").is(&shape("c")));
}

#[test]
fn a_set_that_is_bound_remembers_what_was_added_to_it() {
    let set = schema(
        json!({"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"}),
    );
    let (json, other) = (json!(["a", "b"]), json!(["a", "c"]));
    let arena = Arena::new();
    let (bound, other) = (set.bind(&json, &arena), set.view(&other));
    let add = |more: &'static str| {
        let more = arena.list(&[Value::String(more)]);
        let lists = (bound.as_list().unwrap(), more.as_list().unwrap());
        let sum = concat_lists(&arena, lists.0, lists.1).unwrap();
        sum.in_message().to_string()
    };
    assert!(!bound.equals(&other).unwrap());
    assert_eq!(add("c"), "[a, b, c]");
    assert!(bound.equals(&other).unwrap());
    assert_eq!(add("c"), "[a, b]");
    assert!(!list_contains(bound.as_list().unwrap(), &Value::String("c")).unwrap());
    assert_eq!(bound.as_list().map(|list| list.len()), Some(2));
}

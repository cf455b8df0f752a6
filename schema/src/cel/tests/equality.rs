//! Tests the equality of values that are read through schemas.

use serde_json::json;

use super::*;

/// Evaluates `left == right`; each side is a schema and a value.
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
    // Members are compared as Go values: strings in the JSON with CEL's timestamps, and ints with doubles.
    check(
        (&dates, json!(["2020-01-01"])),
        (&dates, json!(["2020-01-01"])),
        Ok(false),
    );
    check((&numbers, json!([1])), (&numbers, json!([1])), Ok(false));
    check((&numbers, json!([1.5])), (&numbers, json!([1.5])), Ok(true));
    let anything = list(json!({"x-kubernetes-preserve-unknown-fields": true}), "set");
    let mixed = |members: Json| (&anything, members);
    check(
        mixed(json!(["a", 1, true])),
        mixed(json!([true, "a", 1])),
        Ok(true),
    );
    check(mixed(json!(["a", 1])), mixed(json!(["a", 2])), Ok(false));
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
    // Keys are looked up by their escaped names.
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

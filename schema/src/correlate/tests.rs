use serde_json::json;

use super::*;

fn schema(of: Json) -> JsonSchema {
    JsonSchema::read(&of).unwrap()
}

fn check(of: &Json, new: Json, old: Json, expected: bool) {
    let schema = schema(json!({"type": "object", "properties": {"f": of}}));
    let (new, old) = (json!({"f": new}), json!({"f": old}));
    let correlation = Correlation::new(&new, &old, &schema);
    let root = correlation.root();
    let field = root.key("f").unwrap();
    for part in [field, root, field] {
        assert_eq!(part.is_unchanged(), expected, "{new} {old}");
    }
}

#[test]
fn scalars_are_compared_as_go_compares_them() {
    let any = json!({});
    check(&any, json!(1), json!(1), true);
    check(&any, json!(1), json!(1.0), false);
    check(&any, json!(null), json!(null), true);
    check(&any, json!(null), json!("a"), false);
    check(&any, json!("a"), json!(["a"]), false);
}

#[test]
fn objects_are_compared_by_what_the_schema_knows() {
    let of = json!({"type": "object", "properties": {"a": {}, "m": {"additionalProperties": {}}}});
    check(&of, json!({"a": 1}), json!({"a": 1}), true);
    check(&of, json!({"a": 1}), json!({"a": 2}), false);
    check(&of, json!({"a": 1}), json!({"a": 1, "m": {}}), false);
    check(&of, json!({"m": {"k": 1}}), json!({"m": {"k": 1}}), true);
    check(&of, json!({"m": {"k": 1}}), json!({"m": {"l": 1}}), false);
    check(&of, json!({"unknown": 1}), json!({"unknown": 1}), false);
    check(
        &json!({"additionalProperties": true}),
        json!({"k": 1}),
        json!({"k": 1}),
        false,
    );
}

#[test]
fn lists_of_type_map_are_compared_by_their_keys() {
    let of = json!({
        "type": "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["k"],
        "items": {"type": "object", "properties": {"k": {}, "v": {}}},
    });
    let (a, b) = (json!({"k": "a", "v": 1}), json!({"k": "b"}));
    check(&of, json!([a, b]), json!([b, a]), true);
    check(&of, json!([a]), json!([a, b]), false);
    check(&of, json!([a, {"v": 1}]), json!([a, {"v": 1}]), false);
    check(&of, json!([]), json!([]), true);
    let mut other = of;
    for list_type in ["set", "atomic"] {
        other["x-kubernetes-list-type"] = json!(list_type);
        check(&other, json!([a, b]), json!([a, b]), true);
        check(&other, json!([a, b]), json!([b, a]), false);
        check(
            &other,
            json!([{"unknown": 1}]),
            json!([{"unknown": 1}]),
            true,
        );
    }
}

#[test]
fn only_elements_of_lists_of_type_map_were_something() {
    let (new, old) = (json!(["a"]), json!(["a"]));
    let list = schema(json!({"type": "array", "items": {"type": "string"}}));
    let correlation = Correlation::new(&new, &old, &list);
    assert!(correlation.root().index(0).is_none());
    assert!(correlation.root().is_unchanged());
}

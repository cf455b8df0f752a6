//! Tests the CEL types and sizes of schemas.

use gavel_engine::decl::TypeProvider;
use gavel_engine::env::Env;
use gavel_engine::stdlib;
use serde_json::json;

use super::*;

/// Each node is followed by its type, its minimum size in bytes, its maximum number of elements, and the maximum sizes of a list and a map
/// whose values have the node's schema.
#[test]
fn every_kind_of_node_has_a_type_and_sizes() {
    let cases = r#"
{"x-kubernetes-int-or-string": true} => dyn [1, 3145726] [1572863, 449389]
{"x-kubernetes-int-or-string": true, "maxLength": 5} => dyn [1, 20] [1572863, 449389]
{"type": "boolean"} => bool [4, 0] [629145, 314572]
{"type": "number"} => double [1, 0] [1572863, 449389]
{"type": "integer"} => int [1, 0] [1572863, 449389]
{"type": "string"} => string [2, 3145726] [1048575, 393215]
{"type": "string", "format": "uri", "maxLength": 5} => string [2, 20] [1048575, 393215]
{"type": "string", "maxLength": -1} => string [2, 0] [1048575, 393215]
{"type": "string", "enum": ["a", "äb"]} => string [2, 3] [1048575, 393215]
{"type": "string", "enum": ["a"], "maxLength": 9} => string [2, 36] [1048575, 393215]
{"type": "string", "format": "byte", "maxLength": 5} => bytes [2, 5] [1048575, 393215]
{"type": "string", "format": "duration", "maxLength": 5} => google.protobuf.Duration [3, 32] [786431, 349525]
{"type": "string", "format": "date"} => google.protobuf.Timestamp [12, 12] [241978, 174762]
{"type": "string", "format": "date-time"} => google.protobuf.Timestamp [21, 32] [142987, 116508]
{"type": "array", "items": {"type": "integer"}, "maxItems": 3} => list(int) [2, 3] [1048575, 393215]
{"type": "object", "additionalProperties": {"type": "string"}, "maxProperties": -3} => map(string, string) [2, 0] [1048575, 393215]
{"type": "object"} => selfType1 [2, 0] [1048575, 393215]
{"type": "object", "additionalProperties": true} => selfType1 [2, 0] [1048575, 393215]
{"x-kubernetes-preserve-unknown-fields": true} => none [0, 0]
{"type": "array", "items": {"x-kubernetes-preserve-unknown-fields": true}} => none [2, 3145726]
{"type": "array"} => none [0, 0]
"#;
    for case in cases.trim().lines() {
        let (node, expected) = case.split_once(" => ").unwrap();
        let node: Json = serde_json::from_str(node).unwrap();
        let root = schema(json!({"type": "object", "properties": {
            "x": node,
            "list": {"type": "array", "items": node},
            "map": {"type": "object", "additionalProperties": node},
        }}));
        let [x, list, map] = ["x", "list", "map"].map(|name| root.property(name).unwrap());
        let sizes = [x.min_serialized_size(), x.max_elements()];
        let found = match x.declared_type() {
            Some(ty) => {
                let outer = [list.max_elements(), map.max_elements()];
                format!("{ty} {sizes:?} {outer:?}")
            }
            None => format!("none {sizes:?}"),
        };
        assert_eq!(found, expected, "{node}");
    }
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
fn variables_have_the_types_of_their_own_schemas() {
    let with =
        |field: &str| schema(json!({"type": "object", "properties": {field: {"type": "integer"}}}));
    let env = with("a").declare("self", Env::builder());
    let env = with("a").declare("oldSelf", env);
    let env = with("b").declare("params", env);
    let env = with("c").declare("other", env);
    let env = stdlib::TABLES
        .iter()
        .fold(env, |env, rows| env.overloads(rows))
        .build()
        .unwrap();
    let compiles = |text: &str| env.compile(text).is_ok();
    assert!(compiles("self == oldSelf && self.a == oldSelf.a"));
    assert!(compiles("params.b == other.c"));
    for text in [
        "self.b == 1",
        "params.a == 1",
        "other.b == 1",
        "self == params",
    ] {
        assert!(!compiles(text), "{text}");
    }
}

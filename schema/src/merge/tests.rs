use serde_json::json;

use gavel_apimachinery::server::{REPRODUCED, Server};
use gavel_engine::value::Json;

use super::*;
use crate::JsonSchema;
use crate::built_in::Kubernetes;

fn schema() -> JsonSchema {
    let named = json!({"type": "object", "properties": {
        "name": {"type": "string"}, "value": {"type": "string"}, "kind": {"type": "string", "default": "x"},
    }});
    let keyed = |keys: &[&str]| json!({"type": "array", "items": named, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": keys});
    serde_json::from_value(json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {
        "size": {"type": "integer"},
        "mode": {"type": "string", "nullable": true},
        "port": {"x-kubernetes-int-or-string": true},
        "set": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
        "plain": {"type": "array", "items": {"type": "string"}},
        "keyed": keyed(&["name"]),
        "twice": keyed(&["name", "kind"]),
        "limits": {"type": "object", "additionalProperties": {"type": "string"}},
        "frozen": {"type": "object", "additionalProperties": {"type": "string"}, "x-kubernetes-map-type": "atomic"},
        "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
    }}}}))
    .unwrap()
}

fn applied(live: Json, patch: &Json) -> Result<Json, String> {
    let schema = schema();
    let ty = MergeType::custom_resource(&schema, Server::default());
    let [live, patch] = [&live, patch].map(|spec| Plain::from(json!({"spec": spec})));
    apply(live, patch, ty, false)
        .map(|merged| merged.into_json(&mut Vec::new())["spec"].take())
        .map_err(|error| error.to_string())
}

#[test]
fn values_are_merged_by_type() {
    let cases = r#"
[{"size": 1, "mode": "a"}, {"size": 2}, {"size": 2, "mode": "a"}]
[{"mode": "a"}, {"mode": null}, {"mode": null}]
[{"set": ["a", "b"]}, {"set": ["c", "a"]}, {"set": ["c", "a", "b"]}]
[{"set": ["a"]}, {"set": null}, {"set": ["a"]}]
[{"set": []}, {"set": null}, {"set": null}]
[{"limits": {"a": "1"}}, {"limits": {}}, {"limits": {"a": "1"}}]
[{"plain": ["a"]}, {"size": 1}, {"plain": ["a"], "size": 1}]
[{"port": "http"}, {"port": 80}, {"port": 80}]
[{"free": {"a": {"b": 1}, "l": [1]}}, {"free": {"a": {"c": 2}}}, {"free": {"a": {"b": 1, "c": 2}, "l": [1]}}]
"#;
    for case in cases.trim().lines() {
        let [live, patch, expected]: [Json; 3] = serde_json::from_str(case).unwrap();
        assert_eq!(applied(live, &patch), Ok(expected), "{patch}");
    }
}

#[test]
fn keyed_lists_keep_the_live_order_and_take_in_what_is_new() {
    let names = |names: &[&str]| -> Json {
        json!({"keyed": names.iter().map(|name| json!({"name": name})).collect::<Vec<_>>()})
    };
    for (live, patch, expected) in [
        (
            &["a", "b", "c"][..],
            &["b", "n"][..],
            &["a", "b", "c", "n"][..],
        ),
        (&["a", "b", "c"], &["n", "c"], &["a", "b", "n", "c"]),
        (&["x"], &["y"], &["x", "y"]),
        (&["a", "a"], &["b"], &["a", "a", "b"]),
    ] {
        assert_eq!(applied(names(live), &names(patch)), Ok(names(expected)));
    }
    let live =
        json!({"keyed": [{"name": "a", "value": "1"}, {"name": "a", "value": "2"}, {"name": "b"}]});
    let patch = json!({"keyed": [{"name": "a", "kind": "k"}]});
    let expected = json!({"keyed": [{"name": "a", "kind": "k"}, {"name": "b"}]});
    assert_eq!(applied(live, &patch), Ok(expected));
    let live = json!({"twice": [{"name": "a"}, {"name": "a", "kind": "y"}]});
    let patch = json!({"twice": [{"name": "a", "kind": "x", "value": "v"}]});
    let expected =
        json!({"twice": [{"name": "a", "kind": "x", "value": "v"}, {"name": "a", "kind": "y"}]});
    assert_eq!(applied(live, &patch), Ok(expected));
}

#[test]
fn mismatched_values_are_rejected_with_upstreams_messages() {
    let rejects = |live: Json, patch: Json, expected: &str| {
        assert_eq!(applied(live, &patch), Err(expected.to_owned()), "{patch}");
    };
    let cases = r#"
{"sizes": 1} => .spec.sizes: field not declared in schema
{"size": "1"} => .spec.size: expected numeric (int or float), got string
{"mode": 1} => .spec.mode: expected string, got &value.valueUnstructured{Value:1}
{"set": ["a", "a"]} => .spec.set: duplicate entries for key [="a"]
{"keyed": [{"name": "a"}, {"name": "a"}]} => .spec.keyed: duplicate entries for key [name="a"]
{"keyed": [{"value": "a"}]} => .spec.keyed: element 0: associative list with keys has an element that omits all key fields ["name"] (and doesn't have default values for any key fields)
{"keyed": [1]} => .spec.keyed: element 0: associative list with keys may not have non-map elements
{"set": [["a"]]} => .spec.set: element 0: not supported: associative list with lists as elements
{"limits": "a"} => .spec.limits: expected map, got &{a}
"#;
    for case in cases.trim().lines() {
        let (patch, expected) = case.split_once(" => ").unwrap();
        let expected = format!("failed to convert patch object to typed object: {expected}");
        rejects(json!({}), serde_json::from_str(patch).unwrap(), &expected);
    }
    rejects(
        json!({}),
        json!({"size": "1", "set": "x"}),
        "failed to convert patch object to typed object: errors:\n  .spec.set: expected list, got &{x}\n  .spec.size: expected numeric (int or float), got string",
    );
    rejects(
        json!({"size": "1"}),
        json!({}),
        "failed to convert original object to typed object: .spec.size: expected numeric (int or float), got string",
    );
    rejects(
        json!({}),
        json!({"plain": [], "frozen": {}}),
        "invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: .spec.frozen, .spec.plain",
    );
}

#[test]
fn built_in_kinds_are_merged_by_their_structure() {
    let ty = MergeType::built_in("v1", "Pod", Server::default()).unwrap();
    let live = json!({"spec": {"containers": [{"name": "a", "image": "x", "ports": [{"containerPort": 80}]}]}});
    let patch = json!({"spec": {"containers": [{"name": "a", "ports": [{"containerPort": 80, "protocol": "TCP", "name": "web"}]}, {"name": "b"}]}});
    let expected = json!({"spec": {"containers": [
        {"name": "a", "image": "x", "ports": [{"containerPort": 80, "protocol": "TCP", "name": "web"}]}, {"name": "b"},
    ]}});
    assert_eq!(
        apply(live.into(), patch.into(), ty, false),
        Ok(expected.into())
    );
    let patch = json!({"metadata": {"ownerReferences": [{"uid": "u"}]}});
    let error = apply(json!({}).into(), patch.into(), ty, false)
        .unwrap_err()
        .to_string();
    assert!(
        error.ends_with("structs: .metadata.ownerReferences[0]"),
        "{error}"
    );
}

#[test]
fn nil_lists_are_empty_and_known_by_their_place() {
    let schema = schema();
    let ty = MergeType::custom_resource(&schema, Server::default());
    let keyed = Plain::List(vec![Plain::Map(
        [("name".to_owned(), Plain::String("a".to_owned()))].into(),
    )]);
    let spec = [
        ("set".to_owned(), Plain::NilList),
        ("keyed".to_owned(), keyed),
    ];
    let patch = Plain::Map([("spec".to_owned(), Plain::Map(spec.into()))].into());
    let merged = apply(json!({"spec": {"size": 1}}).into(), patch, ty, false).unwrap();
    let mut nil_lists = Vec::new();
    let merged = merged.into_json(&mut nil_lists);
    assert_eq!(
        merged,
        json!({"spec": {"size": 1, "set": [], "keyed": [{"name": "a"}]}})
    );
    assert_eq!(nil_lists, ["/spec/set"]);
}

#[test]
fn fields_that_a_type_does_not_have_are_named() {
    let ty = MergeType::built_in("apps/v1", "Deployment", Server::default()).unwrap();
    let object = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"labels": {"a": "b"}, "x": 1}, "spec": {
        "template": {"spec": {"containers": [{"name": "a", "resources": {"limits": {"cpu": 1}}, "imag": "x"}]}},
    }, "": 1});
    let expected = ["", "metadata.x", "spec.template.spec.containers[0].imag"];
    assert_eq!(unknown_fields(&object, ty), expected);
}

#[test]
fn built_in_kinds_are_known_by_their_own_version() {
    let server = Server::default();
    assert!(MergeType::built_in("apps/v1", "Deployment", server).is_some());
    assert!(Kubernetes::of(server).knows("autoscaling/v1"));
    assert!(MergeType::built_in("autoscaling/v1", "Scale", server).is_none());
    assert!(!Kubernetes::of(server).knows("example.com/v1"));
}

#[test]
fn all_references_lead_somewhere() {
    for (version, _) in REPRODUCED {
        let kubernetes = Kubernetes::of(Server::new(*version));
        let unresolved = |schema: &JsonSchema| {
            let name = schema.unsupported.reference.as_deref();
            name.is_some_and(|name| MergeType::named(name, kubernetes).is_none())
        };
        assert!(kubernetes.schemas().count() > 700);
        for (name, schema) in kubernetes.schemas() {
            assert!(!schema.any(&unresolved), "{version}: {name}");
        }
    }
}

//! Tests mutating policies through the public interface: patches of the changes, idempotence, and expressions that use too many resources.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test"
)]

mod conversion;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use allocation_counter::measure;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use gavel_engine::value::{Arena, Json, Value};
use gavel_libraries::{EnvSet, Server};
use gavel_policy::mutating::{Mutated, ObjectSchemas, difference, mutate};
use gavel_policy::{
    AdmissionRequest, AdmissionResponse, Convert, EquivalentResources, GroupVersionKind,
    GroupVersionResource, Options, PolicyIndex, Snapshot,
};
use gavel_schema::JsonSchema;
use proptest::prelude::*;
use serde_json::json;

/// A snapshot with one policy and its binding. The policy applies these mutations to ConfigMaps and Things.
fn snapshot(reinvocation: &str, mutations: &[Json]) -> Snapshot {
    let mut index = PolicyIndex::new(&EnvSet::new(Server::default()).unwrap());
    let group = "admissionregistration.k8s.io/v1";
    for object in [
        json!({"apiVersion": group, "kind": "MutatingAdmissionPolicy", "metadata": {"name": "p"}, "spec": {
            "matchConstraints": {"resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["configmaps"]},
                {"apiGroups": ["apps", "example.com"], "apiVersions": ["v1"], "operations": ["*"], "resources": ["things", "things/scale"]}]},
            "reinvocationPolicy": reinvocation, "failurePolicy": "Fail", "mutations": mutations,
        }}),
        json!({"apiVersion": group, "kind": "MutatingAdmissionPolicyBinding", "metadata": {"name": "b"}, "spec": {"policyName": "p"}}),
    ] {
        index.apply(object).unwrap();
    }
    index.snapshot()
}

fn patch(expression: &str) -> Json {
    json!({"patchType": "JSONPatch", "jsonPatch": {"expression": expression}})
}

fn configuration(expression: &str) -> Json {
    json!({"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": expression}})
}

fn mutated(snapshot: &Snapshot, resource: &str, object: &Json) -> Mutated {
    let kind = json!({"group": "", "version": "v1", "kind": object["kind"]});
    let resource = json!({"group": "", "version": "v1", "resource": resource});
    let request = json!({"uid": "u", "operation": "CREATE", "kind": kind, "resource": resource, "name": "x", "object": object});
    let arena = Arena::new();
    let request = AdmissionRequest::read((&request).into(), &arena).unwrap();
    let schemas = ObjectSchemas::new(Server::default()).typed();
    mutate(snapshot, &request, &schemas, &Options::default())
}

fn config_map(data: &Json) -> Json {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}, "data": data})
}

#[test]
fn policies_change_objects_and_say_so_only_then() {
    let labels = configuration("Object{metadata: Object.metadata{labels: {'a': 'b'}}}");
    let policies = snapshot(
        "Never",
        &[
            labels,
            patch(
                "[JSONPatch{op: 'add', path: '/data/' + jsonpatch.escapeKey('a/b'), value: 'c'}]",
            ),
        ],
    );
    let object = config_map(&json!({"k": "v"}));
    let found = mutated(&policies, "configmaps", &object);
    assert_eq!(found.status, None);
    let expected = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x", "labels": {"a": "b"}}, "data": {"k": "v", "a/b": "c"}});
    assert_eq!(found.object, Some(expected));
    assert_eq!(mutated(&policies, "secrets", &object), Mutated::default());
}

#[test]
fn whole_doubles_are_no_changes_in_patches() {
    let labels = configuration("Object{metadata: Object.metadata{labels: {'a': 'b'}}}");
    let object = json!({"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "x"}, "spec": {"sizes": [1.0, 1.5]}});
    let mutated = mutated_thing(&snapshot("Never", &[labels]), &object);
    assert_eq!(
        mutated.object.as_ref().unwrap()["spec"]["sizes"],
        json!([1, 1.5])
    );
    let arena = Arena::new();
    let request = thing_request(&object);
    let request = AdmissionRequest::read((&request).into(), &arena).unwrap();
    let response = AdmissionResponse::of_mutation(&request, mutated);
    let patch = STANDARD.decode(response.patch.unwrap()).unwrap();
    let patch: Json = serde_json::from_slice(&patch).unwrap();
    assert_eq!(
        patch,
        json!([{"op": "add", "path": "/metadata/labels", "value": {"a": "b"}}])
    );
}

#[test]
fn results_of_an_idempotent_policy_are_stable() {
    let policies = snapshot(
        "IfNeeded",
        &[
            configuration(
                "Object{metadata: Object.metadata{labels: {'a': 'b'}, finalizers: ['x']}}",
            ),
            patch(
                "has(object.data.k) ? [JSONPatch{op: 'replace', path: '/data/k', value: 'w'}] : []",
            ),
        ],
    );
    let first = mutated(&policies, "configmaps", &config_map(&json!({"k": "v"})))
        .object
        .unwrap();
    let second = mutated(&policies, "configmaps", &first).object.unwrap();
    assert_eq!(first, second);
    assert!(difference(&first, &second).is_empty());
}

#[test]
fn patches_beyond_the_object_are_errors() {
    for (expression, expected) in [
        (
            "[JSONPatch{op: 'add', path: '/none/x', value: 1}]",
            "doc is missing path",
        ),
        ("[JSONPatch{op: 'remove', path: ''}]", "doc is missing path"),
        (
            "[JSONPatch{op: 'add', path: '/metadata/finalizers/99999999999', value: 'x'}]",
            "invalid index",
        ),
        (
            "[JSONPatch{op: 'replace', path: '', value: 1}]",
            "must be object or array",
        ),
        (
            "[JSONPatch{op: 'add', path: '/unknown', value: 1}]",
            "strict decoding error: unknown field \"unknown\"",
        ),
    ] {
        let mut object = config_map(&json!({"k": "v"}));
        object["metadata"]["finalizers"] = json!([]);
        let found = mutated(
            &snapshot("Never", &[patch(expression)]),
            "configmaps",
            &object,
        );
        let message = found.status.unwrap().message;
        assert!(message.contains(expected), "{message}");
    }
    let nothing = patch("[JSONPatch{op: 'replace', path: '', value: {}}]");
    let thing = json!({"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "x"}});
    let found = mutated_thing(&snapshot("Never", &[nothing]), &thing);
    let message = found.status.unwrap().message;
    assert!(message.contains("Object 'Kind' is missing"), "{message}");
}

#[test]
fn objects_do_not_grow_without_bound() {
    let double = patch(
        "[JSONPatch{op: 'add', path: '/data/a', value: object.data}, JSONPatch{op: 'add', path: '/data/b', value: object.data}]",
    );
    let mutations: Vec<Json> = vec![double; 18];
    let mut object = config_map(&json!({"k": "v".repeat(1000)}));
    object["metadata"]["annotations"] = json!({});
    let found = mutated(&snapshot("Never", &mutations), "configmaps", &object);
    assert!(found.status.is_some());
}

#[test]
fn texts_that_a_list_repeats_take_bounded_memory() {
    let repeated = configuration(
        "Object{data: Object.data{k: [[1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map(n, object.data.k)]}}",
    );
    let message = |length: usize| {
        let object = config_map(&json!({"k": "v".repeat(length)}));
        let found = mutated(
            &snapshot("Never", std::slice::from_ref(&repeated)),
            "configmaps",
            &object,
        );
        found.status.unwrap().message
    };
    assert!(message(1).contains("expected string"), "{}", message(1));
    let message = message(8 << 20);
    assert!(message.ends_with("values are too large"), "{message}");
}

#[test]
fn objects_too_large_as_documents_are_not_mutated() {
    let same = "[JSONPatch{op: 'test', path: '/kind', value: 'Thing'}]";
    let policies = snapshot("Never", &[patch(same)]);
    let many = |count: usize| {
        let spec = json!({"list": vec![json!({"a": "b"}); count]});
        json!({"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "x"}, "spec": spec})
    };
    assert_eq!(mutated_thing(&policies, &many(10)).status, None);
    let message = mutated_thing(&policies, &many(250_000))
        .status
        .unwrap()
        .message;
    assert!(
        message.ends_with("the object is too large to be mutated"),
        "{message}"
    );
}

#[test]
fn policies_that_undo_each_other_run_twice_each() {
    let flip = |to: &str| {
        configuration(&format!(
            "Object{{data: {{'k': '{to}', 'n': object.data.n + '{to}'}}}}"
        ))
    };
    let policies = snapshot("IfNeeded", &[flip("a"), flip("b")]);
    let object = config_map(&json!({"k": "v", "n": ""}));
    let found = mutated(&policies, "configmaps", &object).object.unwrap();
    assert_eq!(found["data"], json!({"k": "b", "n": "abab"}));
}

#[test]
fn no_mutation_begins_after_the_interrupt() {
    let counted = configuration("Object{data: {'n': object.data.n + 'x'}}");
    let policies = snapshot("Never", &vec![counted; 50]);
    let object = config_map(&json!({"n": ""}));
    let kind = json!({"group": "", "version": "v1", "kind": "ConfigMap"});
    let resource = json!({"group": "", "version": "v1", "resource": "configmaps"});
    let request = json!({"uid": "u", "operation": "CREATE", "kind": kind, "resource": resource, "name": "x", "object": object});
    let arena = Arena::new();
    let request = AdmissionRequest::read((&request).into(), &arena).unwrap();
    let checks = AtomicUsize::new(0);
    let interrupt = || checks.fetch_add(1, Ordering::Relaxed) >= 10;
    let options = Options {
        interrupt: Some(&interrupt),
        ..Options::default()
    };
    let found = mutate(
        &policies,
        &request,
        &ObjectSchemas::new(Server::default()),
        &options,
    );
    let message = found.status.unwrap().message;
    assert!(message.ends_with("operation interrupted"), "{message}");
    assert!(checks.load(Ordering::Relaxed) < 200);
}

#[test]
fn converting_the_values_of_a_patch_is_interrupted() {
    let many = "[JSONPatch{op: 'add', path: '/spec/copy', value: object.spec.list}]";
    let policies = snapshot("Never", &[patch(many)]);
    let spec = json!({"list": vec![0; 50_000]});
    let object = json!({"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "x"}, "spec": spec});
    let questions = AtomicUsize::new(0);
    let interrupt = || questions.fetch_add(1, Ordering::Relaxed) >= 10;
    let options = Options {
        interrupt: Some(&interrupt),
        ..Options::default()
    };
    let found = mutated_thing_with(&policies, &object, &options);
    let message = found.status.unwrap().message;
    assert!(message.ends_with("operation interrupted"), "{message}");
}

#[test]
fn operations_with_one_long_path_share_it() {
    let long = "object.spec.list.map(x, JSONPatch{op: 'add', path: object.spec.path, value: x})";
    let policies = snapshot("Never", &[patch(long)]);
    let spec = json!({"path": format!("/spec/{}", "k".repeat(1 << 20)), "list": vec![1; 100]});
    let object = json!({"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "x"}, "spec": spec});
    let info = measure(|| assert_eq!(mutated_thing(&policies, &object).status, None));
    assert!(info.bytes_max < 1 << 25, "{} bytes", info.bytes_max);
}

#[test]
fn an_object_that_no_policy_matches_is_not_copied() {
    let policies = snapshot("Never", &[configuration("Object{}")]);
    let object = config_map(&json!({"k": "v".repeat(1 << 20)}));
    let request = json!({"uid": "u", "operation": "CREATE", "kind": {"group": "", "version": "v1", "kind": "Secret"},
        "resource": {"group": "", "version": "v1", "resource": "secrets"}, "name": "x", "object": object});
    let arena = Arena::new();
    let request = AdmissionRequest::read((&request).into(), &arena).unwrap();
    let schemas = ObjectSchemas::new(Server::default());
    let options = Options::default();
    let info = measure(|| {
        assert_eq!(
            mutate(&policies, &request, &schemas, &options),
            Mutated::default()
        );
    });
    assert!(info.bytes_total < 4096, "{} bytes", info.bytes_total);
}

/// Keys of objects, including keys that JSON pointers escape.
fn key() -> impl Strategy<Value = String> + Clone {
    prop_oneof![
        Just(String::new()),
        Just("~1".to_owned()),
        Just("a/b~".to_owned()),
        "[a-c~/é\"\\\\ ]{0,3}"
    ]
}

/// A random JSON document.
fn document() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        (-1e9..1e9).prop_map(Json::from),
        ".{0,4}".prop_map(Json::from),
    ];
    leaf.prop_recursive(4, 48, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Json::from),
            prop::collection::btree_map(key(), inner, 0..6)
                .prop_map(|fields| Json::Object(fields.into_iter().collect())),
        ]
    })
}

/// Applies a patch according to RFC 6902.
fn applied(mut document: Json, operations: &[Json]) -> Json {
    for operation in operations {
        let path = operation["path"].as_str().unwrap();
        let Some((parent, key)) = path.rsplit_once('/') else {
            assert_eq!(operation["op"], "replace");
            document = operation["value"].clone();
            continue;
        };
        let key = key.replace("~1", "/").replace("~0", "~");
        let op = operation["op"].as_str().unwrap();
        let value = || operation["value"].clone();
        match document.pointer_mut(parent).unwrap() {
            Json::Object(fields) => match op {
                "remove" => drop(fields.remove(&key).unwrap()),
                op => assert_eq!(fields.insert(key, value()).is_some(), op == "replace"),
            },
            Json::Array(items) => {
                let index: usize = key.parse().unwrap();
                match op {
                    "remove" => drop(items.remove(index)),
                    "add" => items.insert(index, value()),
                    _ => items[index] = value(),
                }
            }
            _ => panic!("{path}"),
        }
    }
    document
}

/// An expression that returns the document.
fn expression(document: &Json) -> String {
    match document {
        Json::Array(items) => {
            let items: Vec<String> = items.iter().map(expression).collect();
            format!("dyn([{}])", items.join(", "))
        }
        Json::Object(fields) => {
            let fields = fields.iter();
            let fields: Vec<String> = fields
                .map(|(name, value)| format!("{}: {}", json!(name), expression(value)))
                .collect();
            format!("dyn({{{}}})", fields.join(", "))
        }
        leaf => format!("dyn({leaf})"),
    }
}

/// The request that creates a custom resource.
fn thing_request(object: &Json) -> Json {
    let kind = json!({"group": "example.com", "version": "v1", "kind": "Thing"});
    let resource = json!({"group": "example.com", "version": "v1", "resource": "things"});
    json!({"uid": "u", "operation": "CREATE", "kind": kind, "resource": resource, "name": "x", "object": object})
}

/// Mutates a custom resource whose schema allows any fields.
fn mutated_thing(snapshot: &Snapshot, object: &Json) -> Mutated {
    mutated_thing_with(snapshot, object, &Options::default())
}

fn mutated_thing_with(snapshot: &Snapshot, object: &Json, options: &Options<'_>) -> Mutated {
    let request = thing_request(object);
    let arena = Arena::new();
    let request = AdmissionRequest::read((&request).into(), &arena).unwrap();
    let free = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let mut schemas = ObjectSchemas::new(Server::default());
    schemas.insert(
        GroupVersionKind::new("example.com/v1", "Thing"),
        Arc::new(JsonSchema::read(&free).unwrap()),
    );
    mutate(snapshot, &request, &schemas, options)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(150) })]

    #[test]
    fn results_of_idempotent_policies_are_stable_and_match_their_patch(old in document(), key in key(), value in document(), label in "[a-z]{1,5}") {
        let set = format!(
            "[JSONPatch{{op: 'add', path: '/spec/' + jsonpatch.escapeKey({}), value: {}}}]",
            json!(key),
            expression(&value),
        );
        let labels = format!("Object{{metadata: Object.metadata{{labels: {{'l': {}}}}}}}", json!(label));
        let policies = snapshot("IfNeeded", &[patch(&set), configuration(&labels)]);
        let object = json!({"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "x"}, "spec": {"old": old}});
        let first = mutated_thing(&policies, &object);
        prop_assert_eq!(&first.status, &None);
        let first = first.object.unwrap();
        prop_assert_eq!(&first["metadata"]["labels"]["l"], &json!(label));
        prop_assert!(first["spec"].get(&key).is_some());
        prop_assert_eq!(&mutated_thing(&policies, &first).object, &Some(first.clone()));
        prop_assert_eq!(applied(object.clone(), &difference(&object, &first)), first);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn a_difference_turns_the_old_document_into_exactly_the_new_one(old in document(), new in document()) {
        let operations = difference(&old, &new);
        prop_assert_eq!(operations.is_empty(), old == new);
        prop_assert_eq!(applied(old, &operations), new);
    }

    #[test]
    fn a_difference_of_one_part_is_small(document in document(), part in document()) {
        let old = json!({"a": document.clone(), "b": [document.clone(), part.clone(), document.clone()]});
        let new = json!({"a": document.clone(), "b": [document.clone(), {"new": 1}, document]});
        let operations = difference(&old, &new);
        prop_assert_eq!(applied(old, &operations), new);
        prop_assert!(operations.iter().all(|operation| operation["path"].as_str().unwrap().starts_with("/b/")));
    }
}

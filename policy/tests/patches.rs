//! Tests the checks of mutations with schemas.
#![expect(clippy::expect_used, reason = "a test")]

use gavel_policy::GroupVersionKind;
use gavel_policy::api::{MutatingAdmissionPolicy, Registration};
use gavel_policy::cel::TypeFault;
use gavel_policy::typecheck::TypeChecker;
use gavel_schema::JsonSchema;
use serde_json::json;

/// The errors of a mutation of Routes.
fn faults(patch_type: &str, expression: &str) -> Vec<String> {
    let schema: JsonSchema = serde_json::from_value(json!({"type": "object", "properties": {"spec": {
        "type": "object",
        "properties": {
            "size": {"type": "integer"},
            "title": {"type": "string"},
            "paused": {"type": "boolean"},
            "limit": {"x-kubernetes-int-or-string": true},
            "hosts": {"type": "array", "items": {"type": "string"}},
            "tags": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
            "selector": {"type": "object", "x-kubernetes-map-type": "atomic", "additionalProperties": {"type": "string"}},
            "notes": {"type": "object", "additionalProperties": {"type": "string"}},
            "groups": {"type": "object", "additionalProperties": {"type": "object", "properties": {"size": {"type": "integer"}}}},
            "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
            "ports": {
                "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
                "items": {"type": "object", "properties": {"name": {"type": "string"}, "port": {"type": "integer"}}},
            },
        },
    }}}))
    .expect("a schema");
    let mut checker = TypeChecker::new("1.36".parse().expect("a version")).expect("a checker");
    let kind = GroupVersionKind::new("example.com/v1", "Route");
    checker.add_custom_kind(kind, Some(&schema));
    let member = match patch_type {
        "JSONPatch" => "jsonPatch",
        _ => "applyConfiguration",
    };
    let policy = MutatingAdmissionPolicy::from_json(&json!({"spec": {
        "matchConstraints": {"resourceRules": [{
            "apiGroups": ["example.com"], "apiVersions": ["v1"], "resources": ["routes"], "operations": ["CREATE"],
        }]},
        "mutations": [{"patchType": patch_type, member: {"expression": expression}}],
    }}))
    .expect("a policy");
    let messages = checker
        .analyze(&policy)
        .faults
        .into_iter()
        .flat_map(|fault| match fault.fault {
            TypeFault::Issues(issues) => {
                let sorted = issues.sorted().into_iter();
                sorted.map(|issue| issue.message.clone()).collect()
            }
            TypeFault::Internal(error) => vec![error],
        });
    messages.collect()
}

/// Checks expressions, each on a line. The errors that are expected of an expression are indented lines after it.
#[track_caller]
fn check(patch_type: &str, cases: &str) {
    let mut lines = cases.trim_start().lines().peekable();
    while let Some(expression) = lines.next() {
        let errors = std::iter::from_fn(|| lines.next_if(|line| line.starts_with("    ")));
        let expected: Vec<_> = errors.map(str::trim_start).collect();
        assert_eq!(faults(patch_type, expression), expected, "{expression}");
    }
}

#[test]
fn configurations_are_of_the_types_of_the_schema() {
    check(
        "ApplyConfiguration",
        r#"
Object{spec: Object.spec{size: 1, title: 'a', paused: true, limit: '5%'}}
Object{spec: Object.spec{limit: 5, tags: ['a'], notes: {'a': 'b'}}}
Object{spec: Object.spec{notes: Object.spec.notes{a: 'b'}, free: Object.spec.free{x: 1}}}
Object{spec: Object.spec{ports: object.spec.ports.map(p, Object.spec.ports{name: p.name, port: 1})}}
Object{metadata: Object.metadata{labels: {'a': 'b'}, annotations: object.metadata.annotations}}
Object{spec: Object.spec{?size: object.spec.?size, ?title: optional.of('a')}}
Object{spec: Object.spec{groups: {'a': Object.spec.groups{size: 1}}}}
Object{spec: has(object.spec.size) ? Object.spec{} : Object.spec{size: 1}}
Object{spec: Object.spec{sise: 1}}
    .spec.sise: field not declared in schema
Object{status: Object.status{a: 1}}
    .status: field not declared in schema
    .status: field not declared in schema
Object{spec: Object.spec{size: 'a'}}
    .spec.size: expected numeric (int or float), got string
Object{spec: Object.spec{title: object.spec.size}}
    .spec.title: expected string, got int
Object{spec: Object.spec{?paused: object.spec.?title}}
    .spec.paused: expected boolean, got string
Object{spec: Object.spec{limit: ['a']}}
    may not mutate atomic arrays, maps or structs: .spec.limit
Object{spec: Object.spec{tags: 'a'}}
    .spec.tags: expected list, got string
Object{spec: Object.spec{tags: [1]}}
    .spec.tags: expected string, got int
Object{spec: Object.spec{notes: {'a': 1}}}
    .spec.notes: expected string, got int
Object{spec: Object.spec{notes: {1: 'a'}}}
    .spec.notes: expected a map with keys of type string, got int
Object{spec: Object.spec{notes: Object.spec.notes{a: 1}}}
    .spec.notes.a: expected string, got int
Object{spec: {'sise': 1}}
    .spec.sise: field not declared in schema
Object{spec: Object.spec{title: null}}
    .spec.title: expected string, got null_type
Object{spec: Object.spec{hosts: ['a']}}
    may not mutate atomic arrays, maps or structs: .spec.hosts
Object{spec: Object.spec{selector: {'a': 'b'}}}
    may not mutate atomic arrays, maps or structs: .spec.selector
Object{spec: Object.spec{ports: object.spec.ports.map(p, Object.spec.ports{prot: 1})}}
    .spec.ports.prot: field not declared in schema
Object{spec: Object.spec{notes: Object.spec.wrong{}}}
    .spec.wrong: field not declared in schema
    unexpected type name "Object.spec.wrong", expected "Object.spec.notes", which matches field name path from root Object type
"#,
    );
}

#[test]
fn json_patches_go_where_the_schema_has_something() {
    check(
        "JSONPatch",
        r#"
[JSONPatch{op: 'add', path: '/spec/size', value: 1}]
[JSONPatch{op: 'add', path: '/spec/hosts/-', value: 'a'}, JSONPatch{op: 'remove', path: '/spec/hosts/0'}]
[JSONPatch{op: 'add', path: '/metadata/labels/' + jsonpatch.escapeKey('a/b'), value: 'b'}]
[JSONPatch{op: 'add', path: '/metadata/labels/a~1b', value: 'b'}]
[JSONPatch{op: 'replace', path: '/spec/hosts', value: ['a']}, JSONPatch{op: 'add', path: '/spec/title', value: null}]
[JSONPatch{op: 'add', path: '/spec/' + object.spec.title, value: 1}]
[JSONPatch{op: 'add', path: '/spec/' + jsonpatch.escapeKey('a'), value: 1}]
[JSONPatch{op: 'add', path: '/spec/ports/-', value: Object.spec.ports{name: 'a', port: 1}}]
[JSONPatch{op: 'add', path: '/spec/notes', value: Object.any.name{a: 'b'}}]
[JSONPatch{op: 'add', path: '/spec/sise', value: 1}]
    /spec/sise: field not declared in schema
[JSONPatch{op: 'move', from: '/spec/sise', path: '/spec/size'}]
    /spec/sise: field not declared in schema
[JSONPatch{op: 'remove', path: '/spec/size/a'}]
    /spec/size/a: missing value
[JSONPatch{op: 'remove', path: '/spec/hosts/first'}]
    /spec/hosts/first: value was not a proper array index: 'first'
[JSONPatch{op: 'add', path: '/spec/size', value: 'a'}]
    /spec/size: expected numeric (int or float), got string
[0].map(i, JSONPatch{op: 'add', path: '/spec/ports/' + string(i) + '/prot', value: 1})
    /spec/ports/*/prot: field not declared in schema
[0].map(i, JSONPatch{op: 'add', path: '/spec/ports/' + string(i) + '/port', value: 'a'})
    /spec/ports/*/port: expected numeric (int or float), got string
[JSONPatch{op: 'append', path: '/spec/size', value: 1}]
    Unexpected kind: append
[JSONPatch{op: 'add', path: '/spec/ports/-', value: Object.spec.ports{prot: 1}}]
    .spec.ports.prot: field not declared in schema
"#,
    );
    let without_kind = "[JSONPatch{path: '/spec/size', value: 1}]";
    assert_eq!(faults("JSONPatch", without_kind), ["Unexpected kind: "]);
}

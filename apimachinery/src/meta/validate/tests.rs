use serde_json::json;

use super::*;

fn server() -> Server {
    crate::version::KubeVersion::v1(36).into()
}

fn texts(errors: &[Error]) -> Vec<String> {
    errors.iter().map(ToString::to_string).collect()
}

#[track_caller]
fn check_create(metadata: Json, expected: &[&str]) {
    let path = Path::new("metadata");
    let rule = names::subdomain_name;
    let found = texts(&validate(
        MetadataView::new(&metadata),
        true,
        rule,
        &path,
        server(),
    ));
    assert_eq!(found.len(), expected.len(), "{found:#?}");
    for (found, expected) in found.iter().zip(expected) {
        let found = found.strip_prefix("metadata.").unwrap();
        // The tests of `names` cover the full messages.
        assert!(found.starts_with(expected), "{found}\n{expected}");
    }
}

#[test]
fn names_are_needed_and_follow_the_rule() {
    check_create(
        json!({"generateName": "A.b-"}),
        &[
            r#"generateName: Invalid value: "A.b-": a lowercase RFC 1123 subdomain must"#,
            "name: Required value: name or generateName is required",
            "namespace: Required value",
        ],
    );
    check_create(
        json!({"name": "a.b", "namespace": "a.b"}),
        &[r#"namespace: Invalid value: "a.b": must not contain dots"#],
    );
    let metadata = json!({"name": "x/y", "namespace": "a"});
    let path = Path::new("metadata");
    let found = validate(
        MetadataView::new(&metadata),
        false,
        names::path_segment,
        &path,
        server(),
    );
    assert_eq!(
        texts(&found),
        [
            r#"metadata.name: Invalid value: "x/y": may not contain '/'"#,
            "metadata.namespace: Forbidden: not allowed on this type",
        ]
    );
}

#[test]
fn labels_and_annotations_are_checked_by_key() {
    let named = |rest: Json| {
        let mut metadata = json!({"name": "a", "namespace": "b"});
        for (key, value) in rest.as_object().unwrap() {
            metadata[key] = value.clone();
        }
        metadata
    };
    check_create(
        named(
            json!({"labels": {"a b": "x-"}, "annotations": {"a/B": " ", "Ex.com/a": "", "/": ""}}),
        ),
        &[
            r#"labels: Invalid value: "a b": name part must consist"#,
            r#"labels: Invalid value: "x-": a valid label must be"#,
            r#"annotations: Invalid value: "/": prefix part must be non-empty"#,
            r#"annotations: Invalid value: "/": name part must be non-empty"#,
            r#"annotations: Invalid value: "/": name part must consist"#,
        ],
    );
    let most = "x".repeat(MAX_ANNOTATIONS - 1);
    check_create(named(json!({"annotations": {"a": most}})), &[]);
    check_create(
        named(json!({"annotations": {"a": most, "b": ""}})),
        &["annotations: Too long: may not be more than 262144 bytes"],
    );
    check_create(
        named(json!({"finalizers": ["orphan", "foregroundDeletion"]})),
        &[
            r#"finalizers: Invalid value: ["orphan","foregroundDeletion"]: finalizer orphan and foregroundDeletion cannot be both set"#,
        ],
    );
    check_create(
        named(
            json!({"managedFields": [{"manager": "é\u{1}\u{2028}", "operation": "apply"}, {"operation": "Apply", "fieldsType": "x"}]}),
        ),
        &[
            r#"managedFields[0].operation: Invalid value: "apply": must be `Apply` or `Update`"#,
            r#"managedFields[0].manager: Invalid value: "é\x01\u2028": invalid character U+0001 (at position 2)"#,
            r#"managedFields[0].manager: Invalid value: "é\x01\u2028": invalid character U+2028 (at position 3)"#,
            r#"managedFields[1].fieldsType: Invalid value: "x": must be `FieldsV1`"#,
        ],
    );
}

#[test]
fn errors_are_limited() {
    let errors_of = |metadata: Json| {
        let metadata = MetadataView::new(&metadata);
        validate_update(metadata, metadata, &Path::new("metadata"), server()).len()
    };
    // Each error repeats the whole manager (256 KiB), or all owners (1 MiB).
    let manager = "\u{1}".repeat(1 << 18);
    assert_eq!(
        errors_of(
            json!({"resourceVersion": "1", "managedFields": [{"operation": "Apply", "manager": manager}]})
        ),
        65
    );
    let owner = json!({"apiVersion": "v1", "kind": "Pod", "name": "n".repeat(1 << 15), "uid": "u", "controller": true});
    assert_eq!(
        errors_of(json!({"resourceVersion": "1", "ownerReferences": vec![owner; 32]})),
        16
    );
}

#[test]
fn owners_are_complete_and_one_of_them_controls() {
    let path = Path::new("o");
    let check = |owners: Json, expected: &[&str]| {
        let metadata = json!({"ownerReferences": owners});
        let mut errors = Errors::default();
        let owners = MetadataView::new(&metadata).owner_references();
        validate_owner_references(&mut errors, &owners, &path, server());
        assert_eq!(texts(&errors.into_vec()), expected);
    };
    let pod =
        json!({"apiVersion": "v1", "kind": "Pod", "name": "a<", "uid": "u", "controller": true});
    check(json!([pod]), &[]);
    check(
        json!([pod, pod]),
        &[
            "o: Invalid value: [{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"name\":\"a\\u003c\",\"uid\":\"u\",\"controller\":true},{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"name\":\"a\\u003c\",\"uid\":\"u\",\"controller\":true}]: Only one reference can have Controller set to true. Found \"true\" in references for Pod/a< and Pod/a<",
        ],
    );
    check(
        json!([{"apiVersion": "a/b/c"}]),
        &[
            r#"o.apiVersion: Invalid value: "a/b/c": version must not be empty"#,
            r#"o.kind: Invalid value: "": must not be empty"#,
            r#"o.name: Invalid value: "": must not be empty"#,
            r#"o.uid: Invalid value: "": must not be empty"#,
        ],
    );
    check(
        json!([{"apiVersion": "/v1", "kind": "Event", "name": "a", "uid": "u", "blockOwnerDeletion": false}]),
        &[
            r#"o: Invalid value: {"apiVersion":"/v1","kind":"Event","name":"a","uid":"u","blockOwnerDeletion":false}: /v1, Kind=Event is disallowed from being an owner"#,
        ],
    );
}

#[test]
fn updates_keep_what_is_immutable() {
    let check = |new: Json, old: Json, expected: &[&str]| {
        let path = Path::new("m");
        let errors = validate_update(
            MetadataView::new(&new),
            MetadataView::new(&old),
            &path,
            server(),
        );
        assert_eq!(texts(&errors), expected);
    };
    let old = json!({
        "name": "a", "uid": "u", "generation": 2, "resourceVersion": "1", "finalizers": ["b/c"],
        "creationTimestamp": "2024-01-01T00:00:00Z", "deletionTimestamp": "2024-01-01T00:00:00Z",
        "deletionGracePeriodSeconds": 0,
    });
    check(old.clone(), old.clone(), &[]);
    check(
        json!({"name": "b", "namespace": "c", "uid": "<", "generation": 1, "finalizers": ["d/e", "b/c", "a\"/b", "d/e"]}),
        old,
        &[
            r#"m.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"a\"/b", "d/e"}"#,
            r#"m.resourceVersion: Invalid value: "": must be specified for an update"#,
            "m.generation: Invalid value: 1: must not be decremented",
            r#"m.name: Invalid value: "b": field is immutable"#,
            r#"m.namespace: Invalid value: "c": field is immutable"#,
            r#"m.uid: Invalid value: "\u003c": field is immutable"#,
            "m.creationTimestamp: Invalid value: null: field is immutable",
            "m.deletionTimestamp: Invalid value: null: field is immutable",
            "m.deletionGracePeriodSeconds: Invalid value: null: field is immutable",
        ],
    );
    check(
        json!({"resourceVersion": "1", "deletionTimestamp": "2024-01-01T00:00:00Z", "labels": {"": ""}, "finalizers": [""]}),
        json!({}),
        &[
            r#"m.deletionTimestamp: Invalid value: "2024-01-01T00:00:00Z": field is immutable"#,
            r#"m.labels: Invalid value: "": name part must be non-empty"#,
            r#"m.labels: Invalid value: "": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"#,
        ],
    );
}

#[test]
fn types_are_the_definitions() {
    let check = |object: Json, expected: &[&str]| {
        let version = GroupVersion {
            group: "a.io",
            version: "v1",
        };
        assert_eq!(texts(&validate_type(&object, version, "A")), expected);
    };
    check(json!({"kind": "A", "apiVersion": "a.io/v1"}), &[]);
    check(
        json!({"kind": "B"}),
        &[
            r#"kind: Invalid value: "B": must be A"#,
            r#"apiVersion: Invalid value: "": must be a.io/v1"#,
        ],
    );
}

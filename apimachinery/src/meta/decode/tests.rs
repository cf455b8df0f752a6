use serde_json::json;

use super::*;

#[test]
fn metadata_is_written_anew() {
    let check = |mut metadata: Json, expected: Json| {
        decode(&mut metadata).unwrap();
        assert_eq!(metadata, expected);
    };
    check(Json::Null, json!({}));
    check(
        json!({"name": "a", "namespace": "", "uid": null, "generation": 0}),
        json!({"name": "a"}),
    );
    check(json!({"generation": 3.0}), json!({"generation": 3}));
    check(
        json!({"deletionGracePeriodSeconds": 0}),
        json!({"deletionGracePeriodSeconds": 0}),
    );
    check(
        json!({"labels": {"a": null}, "annotations": {}}),
        json!({"labels": {"a": ""}}),
    );
    check(
        json!({"finalizers": [null, "a"]}),
        json!({"finalizers": ["", "a"]}),
    );
    let empty = json!({"apiVersion": "", "kind": "", "name": "", "uid": ""});
    check(
        json!({"ownerReferences": [null, {"controller": false, "blockOwnerDeletion": null, "x": 1, "kind": "A"}]}),
        json!({"ownerReferences": [empty, {"apiVersion": "", "kind": "A", "name": "", "uid": "", "controller": false}]}),
    );
    check(
        json!({"managedFields": [null, {"fieldsV1": {"f:a": {}, "f:b": null}, "time": "2024-01-01T00:00:00.7Z"}]}),
        json!({"managedFields": [{}, {"fieldsV1": {"f:a": {}, "f:b": null}, "time": "2024-01-01T00:00:00Z"}]}),
    );
    check(
        json!({"creationTimestamp": "0001-01-01T00:00:00Z", "deletionTimestamp": "0001-01-01T01:00:00+01:00"}),
        json!({"deletionTimestamp": null}),
    );
}

#[test]
fn wrong_types_are_reported_as_go_reports_them() {
    let check = |metadata: Json, expected: &str| {
        let found = decode(&mut metadata.clone()).unwrap_err();
        assert_eq!(found.message, expected, "{metadata}");
    };
    let prefix = "json: cannot unmarshal";
    for (metadata, expected) in [
        (json!("a"), "string into Go value of type v1.ObjectMeta"),
        (
            json!({"name": 1}),
            "number into Go struct field ObjectMeta.name of type string",
        ),
        (
            json!({"uid": []}),
            "array into Go struct field ObjectMeta.uid of type types.UID",
        ),
        (
            json!({"generation": 1.5}),
            "number 1.5 into Go struct field ObjectMeta.generation of type int64",
        ),
        (
            json!({"generation": u64::MAX}),
            "number 18446744073709552000 into Go struct field ObjectMeta.generation of type int64",
        ),
        (
            json!({"labels": ["a"]}),
            "array into Go struct field ObjectMeta.labels of type map[string]string",
        ),
        (
            json!({"ownerReferences": [{}, true]}),
            "bool into Go struct field ObjectMeta.ownerReferences of type v1.OwnerReference",
        ),
        (
            json!({"ownerReferences": [{"controller": "true"}]}),
            "string into Go struct field OwnerReference.ownerReferences.controller of type bool",
        ),
        (
            json!({"managedFields": {}}),
            "object into Go struct field ObjectMeta.managedFields of type []v1.ManagedFieldsEntry",
        ),
        (
            json!({"managedFields": [{"operation": 1}]}),
            "number into Go struct field ManagedFieldsEntry.managedFields.operation of type v1.ManagedFieldsOperationType",
        ),
        (
            json!({"annotations": 1, "deletionTimestamp": 1}),
            "number into Go struct field ObjectMeta.deletionTimestamp of type string",
        ),
    ] {
        check(metadata, &format!("{prefix} {expected}"));
    }
    // A malformed time is reported instead of any other error.
    check(
        json!({"annotations": 1, "creationTimestamp": "now"}),
        r#"parsing time "now" as "2006-01-02T15:04:05Z07:00": cannot parse "now" as "2006""#,
    );
}

#[test]
fn typed_metadata_has_no_integers_with_a_fraction() {
    let mut metadata = json!({"generation": 1, "finalizers": [null]});
    assert_eq!(decode_typed(&mut metadata), Ok(vec![]));
    assert_eq!(metadata, json!({"generation": 1, "finalizers": [""]}));
    let message = "json: cannot unmarshal number 1.0 into Go struct field ObjectMeta.generation of type int64";
    let found = decode_typed(&mut json!({"generation": 1.0}));
    assert_eq!(found, Err(DecodeError::new("generation", message)));
}

#[test]
fn unknown_fields_are_reported_with_their_place() {
    let mut metadata = json!({
        "Name": "a",
        "ownerReferences": [{}, {"x": {"y": 1}}],
        "managedFields": [{"fieldsV1": {"x": 1}, "z": null}],
    });
    let expected = ["Name", "managedFields[0].z", "ownerReferences[1].x"];
    assert_eq!(decode(&mut metadata).unwrap(), expected);
}

#[test]
fn storage_drops_what_is_malformed() {
    let mut metadata =
        json!({"name": "a", "labels": {"b": 1}, "creationTimestamp": "now", "uid": null, "x": 1});
    assert_eq!(decode_stored(&mut metadata).unwrap(), ["x"]);
    assert_eq!(metadata, json!({"name": "a"}));
    let found = decode_stored(&mut json!([])).unwrap_err();
    assert_eq!(
        found.message,
        "invalid metadata: expected object, got []interface {}"
    );
}

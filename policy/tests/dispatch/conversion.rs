//! Policies that match equivalent resources, whose objects the host converts.

use std::sync::Mutex;

use gavel_engine::value::Value;
use gavel_policy::{EquivalentResources, GroupVersionKind, GroupVersionResource};

use super::*;

/// Things of `v1` have `spec.replicas`; things of `v2`, which have another name, have `spec.count`.
fn things() -> EquivalentResources {
    let mut equivalents = EquivalentResources::default();
    for (version, resource) in [("v1", "things"), ("v2", "items")] {
        let resource = GroupVersionResource {
            group: "example.com".into(),
            version: version.into(),
            resource: resource.into(),
        };
        let kind = GroupVersionKind::new(&format!("example.com/{version}"), "Thing");
        equivalents.register("things", resource, "", kind);
    }
    equivalents
}

fn policy_for_things(name: &str, failure_policy: &str, expression: &str) -> [Json; 2] {
    let rule = json!({"apiGroups": ["example.com"], "apiVersions": ["v1"], "operations": ["*"], "resources": ["things"]});
    let spec = json!({
        "matchConstraints": {"resourceRules": [rule]},
        "validations": [{"expression": expression}],
    });
    [
        policy(name, failure_policy, spec),
        binding(name, name, &["Deny"], json!({})),
    ]
}

fn thing(count: i64) -> Json {
    json!({"apiVersion": "example.com/v2", "kind": "Thing", "metadata": {"name": "web"}, "spec": {"count": count}})
}

/// Updates a thing of `v2` with 3 to one with 7, and returns the message of the denial.
fn updated(objects: &[Json], options: &Options<'_>) -> Option<String> {
    let arena = Arena::new();
    let request = request_with(
        json!({
            "operation": "UPDATE", "object": thing(7), "oldObject": thing(3),
            "kind": {"group": "example.com", "version": "v2", "kind": "Thing"},
            "resource": {"group": "example.com", "version": "v2", "resource": "items"},
        }),
        &arena,
    );
    let snapshot = filled(objects).snapshot();
    assert!(dispatch(&snapshot, &request, options).allowed());
    let status = dispatch(&snapshot.with_equivalents(things()), &request, options).status?;
    let (_, message) = status.message.split_once("denied request: ")?;
    Some(message.to_owned())
}

#[test]
fn the_host_converts_objects_once_to_the_version_that_policies_match() {
    let conversions = Mutex::new(Vec::new());
    let convert = |object: Value<'_>, kind: &GroupVersionKind| {
        let mut object = object.to_json().unwrap();
        let count = object["spec"]["count"].take();
        object["spec"] = json!({"replicas": count});
        object["apiVersion"] = kind.api_version().into();
        conversions.lock().unwrap().push(count);
        Ok(Some(object))
    };
    let options = Options {
        convert: Some(&convert),
        ..Options::default()
    };
    let objects = [
        policy_for_things(
            "a",
            "Fail",
            "object.apiVersion == 'example.com/v1' && request.kind.version == 'v1'",
        ),
        policy_for_things(
            "b",
            "Fail",
            "object.spec.replicas <= oldObject.spec.replicas",
        ),
    ]
    .concat();
    assert_eq!(
        updated(&objects, &options).unwrap(),
        "failed expression: object.spec.replicas <= oldObject.spec.replicas"
    );
    assert_eq!(*conversions.lock().unwrap(), [json!(7), json!(3)]);
}

#[test]
fn objects_that_cannot_be_converted_fail_the_binding() {
    let convert = |_: Value<'_>, _: &GroupVersionKind| Err("no way".to_owned());
    let options = Options {
        convert: Some(&convert),
        ..Options::default()
    };
    assert_eq!(
        updated(&policy_for_things("a", "Fail", "true"), &options).unwrap(),
        "failed to configure binding: failed to convert object version: no way"
    );
    assert_eq!(
        updated(&policy_for_things("a", "Ignore", "false"), &options),
        None
    );
}

#[test]
fn without_a_conversion_objects_differ_only_in_their_version() {
    let nothing = |_: Value<'_>, _: &GroupVersionKind| Ok(None);
    for options in [
        Options::default(),
        Options {
            convert: Some(&nothing),
            ..Options::default()
        },
    ] {
        let allows = |expression: &str| {
            updated(&policy_for_things("a", "Fail", expression), &options).is_none()
        };
        assert!(allows(
            "object.apiVersion == 'example.com/v1' && object.spec.count == 7"
        ));
        assert!(!allows("false"));
    }
}

//! Tests requests that policies do not expect. Each request must get a decision.

use std::sync::atomic::{AtomicUsize, Ordering};

use gavel_engine::error::EvalError;
use gavel_engine::value::{MapView, Value};

use super::*;

/// Sends a request and checks the text after `denied request: ` in the message. `expected` is `None` if the request must be allowed.
fn check(spec: &Json, more: &[Json], request: Json, expected: Option<&str>) {
    let mut objects = vec![
        policy("p", "Fail", spec.clone()),
        binding(
            "b",
            "p",
            &["Deny"],
            json!({"paramRef": {"name": "x", "parameterNotFoundAction": "Allow"}}),
        ),
    ];
    objects.extend_from_slice(more);
    let index = filled(&objects);
    let authorizer: Arc<dyn Authorizer> = Arc::new(Allows);
    let arena = Arena::new();
    let admission = request_with(request.clone(), &arena);
    let decision = dispatch(
        &index.snapshot(),
        &admission,
        &Options {
            authorizer: Some(&authorizer),
            ..Options::default()
        },
    );
    let message = decision.status.map(|status| status.message);
    let message = message.as_deref().map(|message| {
        let cause = message.split_once("denied request: ");
        cause.map_or(message, |(_, cause)| cause)
    });
    assert_eq!(message, expected, "{request}");
}

#[test]
fn null_has_no_fields() {
    let spec = validations(&["object.replicas < 5"]);
    let gone = "expression 'object.replicas < 5' resulted in error: no such key: replicas";
    let deleted = json!({"operation": "DELETE", "object": null, "oldObject": {"replicas": 1}});
    check(&spec, &[], deleted.clone(), Some(gone));
    check(
        &spec,
        &[],
        json!({"operation": "DELETE", "object": null, "oldObject": null}),
        Some(gone),
    );
    let spec = validations(&["object == null && oldObject.replicas == 1"]);
    check(&spec, &[], deleted, None);
}

#[test]
fn the_value_of_a_request_has_empty_fields_for_the_objects_and_the_uid() {
    let spec = validations(&[
        "has(dyn(request).oldObject) && dyn(request).object == null && dyn(request).uid == ''",
    ]);
    check(&spec, &[], json!({"uid": "u", "object": {"a": 1}}), None);
}

#[test]
fn the_kind_of_the_request_overrides_that_of_the_object() {
    let spec = validations(&["object.apiVersion == 'v1' && object.kind == 'Pod'"]);
    check(
        &spec,
        &[],
        json!({"object": {"apiVersion": "apps/v1", "kind": "Deployment"}}),
        None,
    );
    check(
        &spec,
        &[],
        json!({"object": {"apiVersion": 1, "kind": []}}),
        None,
    );
    check(&spec, &[], json!({"object": {}}), None);
}

#[test]
fn metadata_of_the_wrong_type_has_no_labels() {
    let mut spec = validations(&["false"]);
    spec["matchConstraints"] = json!({
        "resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["pods"]}],
        "objectSelector": {"matchLabels": {"team": "web"}},
    });
    let labels = |labels: Json| json!({"object": {"metadata": {"labels": labels}}});
    check(&spec, &[], json!({"object": {"metadata": "none"}}), None);
    check(&spec, &[], labels(json!(["team"])), None);
    check(&spec, &[], labels(json!({"team": "web", "size": 1})), None);
    check(
        &spec,
        &[],
        labels(json!({"team": "web"})),
        Some("failed expression: false"),
    );
}

#[test]
fn params_may_be_absent_or_of_any_shape() {
    let mut spec = validations(&["object.replicas <= params.most"]);
    spec["paramKind"] = json!({"apiVersion": "v1", "kind": "ConfigMap"});
    let param = |most: Json| {
        let metadata = json!({"name": "x", "namespace": "default"});
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "most": most})
    };
    let expression = "expression 'object.replicas <= params.most' resulted in error: ";
    let no_overload = format!("{expression}no such overload");
    check(&spec, &[], json!({}), None);
    check(
        &spec,
        &[param(json!(2))],
        json!({}),
        Some("failed expression: object.replicas <= params.most"),
    );
    check(&spec, &[param(json!("2"))], json!({}), Some(&no_overload));
    check(&spec, &[param(json!(null))], json!({}), Some(&no_overload));
    let other_kind = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "x", "namespace": "default"}});
    check(&spec, &[other_kind], json!({}), None);
}

#[test]
fn a_request_for_an_unmatched_resource_is_allowed() {
    let spec = validations(&["false"]);
    let resource = json!({"group": "example.com", "version": "v1", "resource": "things"});
    let kind = json!({"group": "example.com", "version": "v1", "kind": "Thing"});
    check(
        &spec,
        &[],
        json!({"resource": resource, "kind": kind}),
        None,
    );
}

#[test]
fn an_incomplete_request_is_an_error() {
    let refuses = |path: &str, value: Json, expected: &str| {
        let mut request = request_json();
        *request.pointer_mut(path).unwrap() = value;
        let arena = Arena::new();
        let read = AdmissionRequest::read(Value::from(&request), &arena);
        assert_eq!(read.unwrap_err().to_string(), expected);
    };
    refuses("/operation", Json::Null, "request.operation: must be set");
    refuses(
        "/operation",
        json!("PATCH"),
        "request.operation: must be CREATE, UPDATE, DELETE or CONNECT",
    );
    refuses("/kind", Json::Null, "request.kind: must be set");
    refuses("/kind/kind", json!(""), "request.kind.kind: must be set");
    refuses(
        "/resource/version",
        Json::Null,
        "request.resource.version: must be set",
    );
    refuses("/object", Json::Null, "request.object: must be set");
    refuses(
        "",
        json!({"kind": "AdmissionReview", "request": request_json()}),
        "request: must be the field `request` of an AdmissionReview, not the whole review",
    );
}

/// The labels of an object. They count how often their keys are read.
#[derive(Debug, Default)]
struct CountedLabels(AtomicUsize);

impl MapView for CountedLabels {
    fn len(&self) -> usize {
        1
    }

    fn get(&self, key: &Value<'_>) -> Result<Option<Value<'_>>, EvalError> {
        Ok((key.as_str() == Some("team")).then_some(Value::from("a")))
    }

    fn key(&self, position: usize) -> Option<Value<'_>> {
        self.0.fetch_add(1, Ordering::Relaxed);
        (position == 0).then_some(Value::from("team"))
    }
}

#[test]
fn the_labels_are_checked_once_for_all_policies() {
    let objects = (0..50).flat_map(|n| {
        let mut spec = validations(&["false"]);
        spec["matchConstraints"] = json!({
            "resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["pods"]}],
            "objectSelector": {"matchExpressions": [{"key": "team", "operator": "NotIn", "values": ["a", n.to_string()]}]},
        });
        let name = format!("p{n}");
        [policy(&name, "Fail", spec), binding(&name, &name, &["Deny"], json!({}))]
    });
    let index = filled(&Vec::from_iter(objects));
    let (arena, labels) = (Arena::new(), CountedLabels::default());
    let metadata = arena.object([("labels", Value::map_view(&labels))]);
    let request = AdmissionRequest {
        object: arena.object([("metadata", metadata)]),
        ..request(&arena)
    };
    let decision = dispatch(&index.snapshot(), &request, &Options::default());
    assert!(decision.allowed());
    assert!(labels.0.load(Ordering::Relaxed) <= 2);
}

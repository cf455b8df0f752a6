//! Tests the params of policies that are read from manifests.
#![cfg(test)]

use gavel_engine::value::Arena;
use gavel_libraries::Server;
use gavel_manifest::Format;
use gavel_policy::{AdmissionRequest, Options, dispatch};
use gavel_state::{Event, Object, ObjectKey, Origin, State, Store};
use serde_json::{Value as Json, json};

/// A store of a param in version v1 and of a policy that reads this param in another version. The definition serves v1 and v2.
fn store(conversion: Option<&str>, param_version: &str, expression: &str) -> Store {
    let version = |name: &str, field: &str, default: u8| {
        let fields = json!({field: {"type": "integer", "default": default}});
        let schema = json!({"openAPIV3Schema": {"type": "object", "properties": fields}});
        json!({"name": name, "served": name != "v3", "storage": name == "v1", "schema": schema})
    };
    let versions = [("v1", "max", 3), ("v2", "least", 1), ("v3", "max", 3)];
    let client = json!({"url": "https://convert.example.com/"});
    let objects = [
        json!({"apiVersion": "example.com/v1", "kind": "Limit", "metadata": {"name": "one", "namespace": "a"}}),
        json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "limits.example.com"},
            "spec": {
                "group": "example.com", "scope": "Namespaced",
                "names": {"plural": "limits", "singular": "limit", "kind": "Limit", "listKind": "LimitList"},
                "versions": versions.map(|(name, field, default)| version(name, field, default)),
                "conversion": conversion.map(|strategy| match strategy {
                    "Webhook" => json!({
                        "strategy": strategy, "webhook": {"conversionReviewVersions": ["v1"], "clientConfig": client},
                    }),
                    strategy => json!({"strategy": strategy}),
                }),
            },
        }),
        json!({
            "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy", "metadata": {"name": "a"},
            "spec": {
                "matchConstraints": {"resourceRules": [
                    {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["pods"]},
                ]},
                "paramKind": {"apiVersion": format!("example.com/{param_version}"), "kind": "Limit"},
                "validations": [{"expression": expression}],
            },
        }),
        json!({
            "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicyBinding", "metadata": {"name": "a"},
            "spec": {
                "policyName": "a", "validationActions": ["Deny"],
                "paramRef": {"name": "one", "namespace": "a", "parameterNotFoundAction": "Deny"},
            },
        }),
    ];
    let file = Origin::new("a.json");
    let objects = objects.map(|object| {
        let reading = gavel_manifest::read(&object.to_string(), Format::Json);
        let document = reading.documents.into_iter().next().unwrap();
        Object::of_manifest(file.clone(), document)
    });
    let mut store = Store::new(Server::default()).unwrap();
    store.handle(Event::ReplacedAll(file, objects.into()));
    assert_eq!(store.publish().rejections(), []);
    store
}

/// The message with which a request is denied; empty if it is allowed.
fn denial(state: &State) -> String {
    let request: Json = json!({
        "uid": "1", "operation": "CREATE", "name": "a", "namespace": "a",
        "kind": {"group": "", "version": "v1", "kind": "Pod"},
        "resource": {"group": "", "version": "v1", "resource": "pods"},
        "object": {"metadata": {"name": "a"}},
    });
    let arena = Arena::new();
    let request = AdmissionRequest::read((&request).into(), &arena).unwrap();
    let decision = dispatch(&state.snapshot(&request), &request, &Options::default());
    let status = decision.status.unwrap_or_default();
    status.message
}

#[test]
fn params_in_manifests_have_the_defaults_of_their_definition() {
    let state = store(None, "v1", "params.max == 3").publish();
    assert_eq!((denial(&state).as_str(), state.unseen()), ("", &[][..]));
}

#[test]
fn params_in_manifests_are_converted_to_the_version_of_the_param_kind() {
    let both = "params.max == 3 && params.least == 1 && params.apiVersion == 'example.com/v2'";
    let is_missing = |state: &State| {
        let message = "no params found for policy binding with `Deny` parameterNotFoundAction";
        denial(state).ends_with(message) && state.unseen().len() == 1
    };
    for conversion in [None, Some("None")] {
        let mut store = store(conversion, "v2", both);
        let state = store.publish();
        assert_eq!((denial(&state).as_str(), state.unseen()), ("", &[][..]));
        let [group, version, kind, namespace, name] =
            ["example.com", "v1", "Limit", "a", "one"].map(str::to_owned);
        let key = ObjectKey {
            group,
            version,
            kind,
            namespace,
            name,
        };
        store.handle(Event::Deleted(Origin::new("a.json"), key));
        assert!(is_missing(&store.publish()));
    }
    assert!(is_missing(&store(Some("Webhook"), "v2", both).publish()));
}

#[test]
fn policies_fail_if_the_version_of_their_param_kind_is_not_served() {
    for version in ["v3", "v4"] {
        assert_eq!(
            denial(&store(None, version, "true").publish()),
            format!(
                "pods \"a\" is forbidden: ValidatingAdmissionPolicy 'a' denied request: failed to configure policy: failed to find resource referenced by paramKind: 'example.com/{version}, Kind=Limit'"
            )
        );
    }
}

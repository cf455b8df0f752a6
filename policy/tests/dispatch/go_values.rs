//! Tests comparisons of objects of built-in kinds, which API servers read as Go values since 1.37. The request is read into an arena.

use super::*;

/// Whether an expression allows the update of a pod: true or false, or an error.
fn outcome(server: &str, expression: &str) -> String {
    let environments = EnvSet::new(server.parse().unwrap()).unwrap();
    let mut index = PolicyIndex::new(&environments);
    let validations = json!({"validations": [{"expression": expression}]});
    index.apply(policy("p", "Fail", validations)).unwrap();
    index
        .apply(binding("b", "p", &["Deny"], json!({})))
        .unwrap();
    let namespace =
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default"}});
    index.apply(namespace).unwrap();
    let pod = |memory: &str| {
        json!({
            "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web", "labels": {"a": "b"}},
            "spec": {
                "containers": [{"name": "c", "resources": {"limits": {"memory": memory}}, "securityContext": {}}],
                "nodeSelector": {"a": "b"},
                "securityContext": {},
            },
        })
    };
    let fields =
        json!({"operation": "UPDATE", "object": pod("1Gi"), "oldObject": pod("1073741824")});
    let arena = Arena::new();
    let request = request_with(fields, &arena);
    let decision = dispatch(&index.snapshot(), &request, &Options::default());
    let Some(status) = decision.status else {
        return "true".to_owned();
    };
    let error = status.message.split_once("resulted in error: ");
    error.map_or("false", |(_, error)| error).to_owned()
}

#[test]
fn objects_are_compared_by_their_go_types_since_1_37() {
    for (expression, json, go) in [
        ("object.spec == oldObject.spec", "false", "true"),
        (
            "object.spec.containers == oldObject.spec.containers",
            "false",
            "true",
        ),
        (
            "object.metadata.labels == object.spec.nodeSelector",
            "true",
            "true",
        ),
        ("object.spec == 'x'", "false", "no such overload"),
        (
            "object.spec.securityContext == object.spec.containers[0].securityContext",
            "true",
            "false",
        ),
        (
            "object.spec.securityContext == oldObject.spec.securityContext",
            "true",
            "true",
        ),
        (
            "optional.ofNonZeroValue(object.spec.securityContext).hasValue()",
            "false",
            "true",
        ),
        (
            "0 in object.metadata.labels",
            "false",
            "unsupported map key type: types.Int",
        ),
        (
            "object.spec.containers[0u].name == 'c'",
            "true",
            "unsupported index type: types.Uint",
        ),
    ] {
        assert_eq!(outcome("1.36", expression), json, "{expression}");
        assert_eq!(outcome("1.37", expression), go, "{expression}");
    }
}

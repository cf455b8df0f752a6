use std::sync::Arc;

use super::*;
use crate::authorizer::ResourceAttributes;

fn rbac() -> Rbac {
    let api = "rbac.authorization.k8s.io/v1";
    let manifests = serde_json::json!([
        {"apiVersion": api, "kind": "ClusterRole", "metadata": {"name": "reader", "labels": {"to": "all"}},
         "rules": [{"verbs": ["get", "list"], "apiGroups": [""], "resources": ["pods", "*/scale"]}]},
        {"apiVersion": api, "kind": "ClusterRole", "metadata": {"name": "health", "labels": {"to": "all"}},
         "rules": [{"verbs": ["get"], "nonResourceURLs": ["/healthz/*", "/version"]}]},
        {"apiVersion": api, "kind": "ClusterRole", "metadata": {"name": "all"},
         "aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"to": "all"}}]}},
        {"apiVersion": api, "kind": "ClusterRoleBinding", "metadata": {"name": "devs"},
         "roleRef": {"kind": "ClusterRole", "name": "all"}, "subjects": [{"kind": "Group", "name": "dev"}]},
        {"apiVersion": "v1", "kind": "List", "items": [
            {"apiVersion": api, "kind": "Role", "metadata": {"name": "one", "namespace": "shop"},
             "rules": [{"verbs": ["*"], "apiGroups": ["apps"], "resources": ["deployments"], "resourceNames": ["web"]}]},
            {"apiVersion": api, "kind": "RoleBinding", "metadata": {"name": "robots", "namespace": "shop"},
             "roleRef": {"kind": "Role", "name": "one"}, "subjects": [{"kind": "ServiceAccount", "name": "robot"}]},
            {"apiVersion": api, "kind": "RoleBinding", "metadata": {"name": "gone", "namespace": "shop"},
             "roleRef": {"kind": "ClusterRole", "name": "gone"}, "subjects": [{"kind": "User", "name": "eve"}]}]}
    ]);
    Rbac::from_manifests(manifests.as_array().unwrap()).unwrap()
}

fn decide(user: UserInfo, verb: &str, request: AuthorizerRequest) -> (bool, String) {
    let decision = rbac().authorize(&AuthorizerAttributes {
        user: Arc::new(user),
        verb: verb.to_owned(),
        request,
    });
    (decision.verdict == Verdict::Allow, decision.reason)
}

fn resource(text: &str, namespace: &str, name: &str) -> AuthorizerRequest {
    let (group, resource) = text.split_once(':').unwrap();
    let (resource, subresource) = resource.split_once('/').unwrap_or((resource, ""));
    AuthorizerRequest::Resource(ResourceAttributes {
        api_group: group.to_owned(),
        resource: resource.to_owned(),
        subresource: subresource.to_owned(),
        namespace: namespace.to_owned(),
        name: name.to_owned(),
        ..ResourceAttributes::default()
    })
}

#[test]
fn aggregated_roles_have_the_rules_of_the_selected_roles() {
    let check = |verb: &str, request: AuthorizerRequest, expected: bool| {
        let dev = UserInfo {
            groups: vec!["dev".to_owned()],
            ..UserInfo::default()
        };
        let reason = match expected {
            true => {
                r#"RBAC: allowed by ClusterRoleBinding "devs" of ClusterRole "all" to Group "dev""#
            }
            false => "",
        };
        assert_eq!(
            decide(dev, verb, request),
            (expected, reason.to_owned()),
            "{verb}"
        );
    };
    let path = |path: &str| AuthorizerRequest::Path(path.to_owned());
    check("get", resource(":pods", "", ""), true);
    check("get", resource(":pods/log", "", ""), false);
    check("get", resource(":things/scale", "a", "b"), true);
    check("get", resource("apps:pods", "", ""), false);
    check("delete", resource(":pods", "", ""), false);
    check("get", path("/healthz/ping"), true);
    check("get", path("/healthz"), false);
    check("get", path("/version"), true);
}

#[test]
fn service_accounts_have_what_their_namespace_binds() {
    let robot = UserInfo::service_account("shop", "robot");
    let reason = r#"RBAC: allowed by RoleBinding "robots/shop" of Role "one" to ServiceAccount "robot/shop""#;
    let web = decide(
        robot.clone(),
        "patch",
        resource("apps:deployments", "shop", "web"),
    );
    assert_eq!(web, (true, reason.to_owned()));
    assert!(
        !decide(
            robot.clone(),
            "patch",
            resource("apps:deployments", "shop", "")
        )
        .0
    );
    assert!(!decide(robot, "patch", resource("apps:deployments", "", "web")).0);
}

#[test]
fn a_role_that_is_missing_is_the_reason() {
    let eve = UserInfo {
        name: "eve".to_owned(),
        ..UserInfo::default()
    };
    let reason = r#"RBAC: clusterrole.rbac.authorization.k8s.io "gone" not found"#;
    assert_eq!(
        decide(eve, "get", resource(":pods", "shop", "")),
        (false, reason.to_owned())
    );
}

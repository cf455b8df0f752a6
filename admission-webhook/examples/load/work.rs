//! The kinds of work: requests, and the policies that decide them.

use std::fmt::Write as _;

use serde_json::{Value as Json, json};

/// A kind of work that the load test measures: manifests and one request, which is sent again and again.
pub(crate) struct Work {
    pub(crate) name: &'static str,
    pub(crate) manifests: String,
    pub(crate) request: Vec<u8>,
    /// The beginning of the expected answer.
    pub(crate) expected: &'static str,
}

impl Work {
    /// All kinds of work, the baselines first.
    pub(crate) fn all() -> Vec<Work> {
        let pods = POD_SECURITY.iter().enumerate();
        let pods = pods.map(|(n, expression)| policy(&format!("p{n}"), expression, 1));
        let work = |name, manifests, request| Work {
            name,
            manifests,
            request,
            expected: "HTTP/1.1 200",
        };
        let unparsed = |name, pod: Json| Work {
            expected: "HTTP/1.1 404",
            ..work(name, policy("a", IMAGES, 1), review("/nothing", &pod))
        };
        let decided = |name, manifests| work(name, manifests, review("/validate", &pod(2, 0)));
        vec![
            work(
                "empty handler: GET /livez",
                policy("a", IMAGES, 1),
                b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n".to_vec(),
            ),
            decided("a review is parsed, no policy", policy("a", IMAGES, 0)),
            unparsed(
                "a review is sent to an unknown path (404, not parsed)",
                pod(2, 0),
            ),
            decided("1 policy", policy("a", IMAGES, 1)),
            decided("16 pod security policies", pods.collect()),
            decided("1,000 bindings", policy("a", IMAGES, 1_000)),
            decided(
                "1,000 bindings, each with a param",
                policy("a", MOST, 1_000),
            ),
            work(
                "objects of 100 KB",
                policy("a", IMAGES, 1),
                review("/validate", &pod(20, 90_000)),
            ),
            unparsed(
                "objects of 100 KB are sent to an unknown path (404, not parsed)",
                pod(20, 90_000),
            ),
        ]
    }
}

/// A simple policy.
const IMAGES: &str = "object.spec.containers.all(c, c.image.startsWith('ghcr.io/'))";

/// A rule that reads a param.
const MOST: &str = "object.spec.containers.size() <= int(params.data.most)";

/// Rules such as those of the Pod Security Standards.
const POD_SECURITY: [&str; 16] = [
    "!object.spec.?hostNetwork.orValue(false)",
    "!object.spec.?hostPID.orValue(false)",
    "!object.spec.?hostIPC.orValue(false)",
    "object.spec.containers.all(c, !c.?securityContext.?privileged.orValue(false))",
    "object.spec.containers.all(c, !c.?securityContext.?allowPrivilegeEscalation.orValue(true))",
    "object.spec.containers.all(c, c.?securityContext.?capabilities.?drop.orValue([]).exists(d, d == 'ALL'))",
    "object.spec.containers.all(c, c.?securityContext.?capabilities.?add.orValue([]).all(a, a == 'NET_BIND_SERVICE'))",
    "object.spec.containers.all(c, c.?securityContext.?readOnlyRootFilesystem.orValue(false))",
    "object.spec.?securityContext.?runAsNonRoot.orValue(false) == true",
    "object.spec.?securityContext.?runAsUser.orValue(1) != 0",
    "object.spec.?securityContext.?seccompProfile.?type.orValue('') in ['RuntimeDefault', 'Localhost']",
    "object.spec.?securityContext.?sysctls.orValue([]).size() == 0",
    "object.spec.?volumes.orValue([]).all(v, !has(v.hostPath))",
    "object.spec.containers.all(c, c.?ports.orValue([]).all(p, !has(p.hostPort)))",
    "object.spec.containers.all(c, c.image.matches('^[a-z0-9./-]+(:[a-z0-9.]+|@sha256:[0-9a-f]{64})$'))",
    "object.spec.containers.all(c, has(c.resources.limits) && quantity(c.resources.limits.memory).isLessThan(quantity('2Gi')))",
];

/// Manifests of a policy with the given number of bindings. If the expression reads params, each binding has its own param.
fn policy(name: &str, expression: &str, bindings: usize) -> String {
    let has_params = expression.contains("params");
    let only_with_params = |line: &'static str| if has_params { line } else { "" };
    let param_kind = only_with_params("\n  paramKind: {apiVersion: v1, kind: ConfigMap}");
    let mut text = format!(
        r#"---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {{name: {name}}}
spec:{param_kind}
  matchConstraints:
    resourceRules:
    - {{apiGroups: [""], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [pods]}}
  validations:
  - expression: {expression:?}
"#
    );
    let param_ref = only_with_params(
        "\n  paramRef: {name: p#, namespace: default, parameterNotFoundAction: Deny}",
    );
    let param = only_with_params(
        r#"---
apiVersion: v1
kind: ConfigMap
metadata: {name: p#, namespace: default}
data: {most: "5"}
"#,
    );
    for n in 0..bindings {
        let [param_ref, param] = [param_ref, param].map(|text| text.replace('#', &n.to_string()));
        // Writing to a String does not fail.
        let _ = write!(
            text,
            r#"---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {{name: {name}-{n}}}
spec:
  policyName: {name}
  validationActions: [Deny]{param_ref}
{param}"#
        );
    }
    text
}

fn pod(containers: usize, padding: usize) -> Json {
    let container = |n: usize| {
        json!({
            "name": format!("c{n}"),
            "image": "ghcr.io/shop/web:1.42",
            "ports": [{"containerPort": 8080, "protocol": "TCP"}],
            "env": [{"name": "MODE", "value": "production"}],
            "resources": {"limits": {"cpu": "1", "memory": "512Mi"}, "requests": {"cpu": "100m", "memory": "128Mi"}},
            "securityContext": {
                "privileged": false, "allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true,
                "capabilities": {"drop": ["ALL"]},
            },
        })
    };
    json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "web", "namespace": "default", "annotations": {"padding": "x".repeat(padding)}},
        "spec": {
            "containers": (0..containers).map(container).collect::<Vec<_>>(),
            "securityContext": {"runAsNonRoot": true, "runAsUser": 1000, "seccompProfile": {"type": "RuntimeDefault"}},
            "volumes": [{"name": "data", "emptyDir": {}}],
        },
    })
}

fn review(path: &str, object: &Json) -> Vec<u8> {
    let resource = json!({"group": "", "version": "v1", "resource": "pods"});
    let kind = json!({"group": "", "version": "v1", "kind": "Pod"});
    let body = json!({
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": {
            "uid": "705ab4f5-6393-11e8-b7cc-42010a800002",
            "kind": kind, "resource": resource, "requestKind": kind, "requestResource": resource,
            "name": "web", "namespace": "default", "operation": "CREATE",
            "userInfo": {"username": "alice", "groups": ["system:authenticated"]},
            "object": object, "oldObject": null, "dryRun": false,
            "options": {"apiVersion": "meta.k8s.io/v1", "kind": "CreateOptions"},
        },
    })
    .to_string();
    let length = body.len();
    let head = format!(
        "POST {path}?timeout=10s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
    );
    [head.into_bytes(), body.into_bytes()].concat()
}

//! Tests `gavel audit` over manifests.
#![cfg(test)]

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

#[expect(dead_code, reason = "other tests use the rest of this module")]
mod program;

use program::{Folder, gavel, root};

#[test]
fn files_beside_policies_are_ignored() {
    for policies in ["policies/practices", "testdata/check"] {
        let object = "testdata/policies/deployment.yaml";
        let args = format!("audit --policies {policies} -- {object}");
        let (_, _, stderr) = gavel(&root(), &args, "");
        assert!(!stderr.contains("error:"), "{stderr}");
    }
    let folder = Folder::new().with("test.yaml", "kind: PolicyTest\ntests: []\n");
    let policies = root().join("testdata/policies/policy.yaml");
    let args = format!("audit --policies {} test.yaml", policies.display());
    let (status, _, stderr) = folder.gavel(&args);
    assert!(stderr.starts_with("0 objects in "), "{stderr}");
    assert_eq!(status, 0);
}

/// A policy of Deployments with this `spec.validations` and `spec.matchConditions`, and its binding.
fn policy(fields: &str) -> String {
    format!(
        "apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {{name: p}}
spec:
  matchConstraints:
    resourceRules: [{{apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments]}}]
{fields}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {{name: p}}
spec: {{policyName: p, validationActions: [Deny]}}
"
    )
}

const DEPLOYMENT: &str = "apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {a: b}}
  template: {metadata: {labels: {a: b}}, spec: {containers: [{name: a, image: b}]}}
";

#[test]
fn objects_of_manifests_are_audited_as_an_api_server_completes_them() {
    let check = |fields: &str, args: &str, expected: (i32, &str)| {
        let folder = Folder::new()
            .with("policy.yaml", &policy(fields))
            .with("deployment.yaml", DEPLOYMENT);
        let args = format!("audit deployment.yaml --policies policy.yaml {args}");
        let (status, out, stderr) = folder.gavel(&args);
        assert_eq!((status, out.as_str()), expected, "{fields}: {stderr}");
    };
    let defaults = "  validations: [{expression: object.spec.replicas == 1 && object.spec.strategy.type == 'RollingUpdate'}]";
    check(defaults, "", (0, ""));
    // The condition is from Kubernetes' documentation.
    let by_group = "  matchConditions: [{name: users, expression: '!(\"system:nodes\" in request.userInfo.groups)'}]
  validations: [{expression: 'false', message: seen}]";
    let seen = (
        1,
        "deployment.yaml:1: Deployment default/web: fail: p: seen\n",
    );
    check(by_group, "", seen);
    check(by_group, "--as alice", seen);
    check(by_group, "--as-group system:nodes", (0, ""));
    let by_name = "  validations: [{expression: request.userInfo.username == 'kubernetes-admin'}]";
    check(by_name, "", (0, ""));
}

#[test]
fn findings_about_objects_of_json_files_have_their_position() {
    let pod = |name: &str| {
        format!(
            r#"{{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {{"name": "{name}"}}}}"#
        )
    };
    let list = format!(
        r#"{{"kind": "List", "apiVersion": "v1", "items": [
  {},
  {}]}}"#,
        pod("a"),
        pod("b")
    );
    let rule = "  validations: [{expression: object.metadata.name == 'a', message: another name}]";
    let folder = Folder::new()
        .with("policy.yaml", &policy(rule))
        .with("list.json", &list);
    let args = "audit list.json --policies policy.yaml -o github";
    let (status, out, stderr) = folder.gavel(args);
    assert!(
        out.starts_with("::error file=list.json,line=3,col=3,"),
        "{out}{stderr}"
    );
    assert_eq!(status, 1);
}

#[test]
fn an_audit_with_an_error_shows_no_summary() {
    let check = |args: &str, status: i32, shown: bool, expected: &str| {
        let args = format!("audit --policies {args}");
        let (exit, _, stderr) = gavel(&root().join("testdata/policies"), &args, "");
        assert_eq!(exit, status, "{args}: {stderr}");
        assert_eq!(stderr.contains("violation"), shown, "{args}: {stderr}");
        assert!(stderr.contains(expected), "{args}: {stderr}");
    };
    check("policy.yaml -- deployment.yaml", 1, true, "1 object");
    let unbound = "error: no policy with a binding: --policies must name";
    check("deployment.yaml -- policy.yaml", 2, false, unbound);
    check("policy.yaml -- no.yaml", 2, false, "error: no.yaml");
    check("no.yaml -- deployment.yaml", 2, false, "error: no.yaml");
}

#[test]
fn an_audit_without_a_cluster_says_what_was_tried() {
    let contexts = "apiVersion: v1
kind: Config
current-context: a
contexts: [{name: a, context: {cluster: a}}, {name: b, context: {cluster: a}}]
clusters: [{name: a, cluster: {server: 'http://127.0.0.1:1'}}]
";
    let folder = Folder::new().with("config", contexts);
    let check = |kubeconfig: &str, args: &str, expected: &str| {
        let output = Command::new(env!("CARGO_BIN_EXE_gavel"))
            .arg("audit")
            .args(args.split_whitespace())
            .current_dir(folder.path())
            .env("KUBECONFIG", kubeconfig)
            .env_remove("KUBERNETES_SERVICE_HOST")
            .output()
            .unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        let expected = format!("error: the cluster cannot be reached: {expected}\n");
        assert_eq!(stderr, expected);
    };
    let missing = "the kubeconfig no.yaml cannot be read: No such file or directory (os error 2)";
    check(
        "no.yaml",
        "",
        &format!(
            "{missing}; the process is not in a pod; --kubeconfig FILE selects a cluster, and --policies PATH reads manifests instead of a cluster"
        ),
    );
    check("config", "--kubeconfig no.yaml", missing);
    let unknown = "the kubeconfig has no context \"prod\"; its contexts are: a, b";
    check("config", "--context prod", unknown);
    check("no.yaml", "--kubeconfig config --context prod", unknown);
}

/// Answers the requests to an API server that serves only its version.
fn bare_api_server() -> std::net::SocketAddr {
    use std::io::{BufRead, BufReader, Write};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            std::thread::spawn(move || {
                let lines = BufReader::new(stream.try_clone().unwrap()).lines();
                let head: Vec<String> = lines
                    .map_while(Result::ok)
                    .take_while(|line| !line.is_empty())
                    .collect();
                let is_version = head.first().is_some_and(|line| line.contains(" /version "));
                let (status, body) = match is_version {
                    true => (
                        "200 OK",
                        r#"{"major": "1", "minor": "36", "gitVersion": "v1.36.0"}"#,
                    ),
                    false => ("404 Not Found", "404 page not found"),
                };
                let length = body.len();
                let _ = write!(
                    stream,
                    "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
                );
            });
        }
    });
    address
}

/// A kubeconfig for the API server at an address.
fn kubeconfig(address: impl std::fmt::Display) -> String {
    format!(
        "apiVersion: v1
kind: Config
clusters: [{{name: a, cluster: {{server: 'http://{address}'}}}}]
users: [{{name: a, user: {{}}}}]
contexts: [{{name: a, context: {{cluster: a, user: a}}}}]
current-context: a
"
    )
}

#[test]
fn a_wait_for_the_cluster_is_reported() {
    let folder = Folder::new().with("kubeconfig", &kubeconfig("127.0.0.1:1"));
    let mut audit = Command::new(env!("CARGO_BIN_EXE_gavel"))
        .args(["audit", "--kubeconfig", "kubeconfig"])
        .current_dir(folder.path())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let read = BufReader::new(audit.stderr.take().unwrap()).read_line(&mut line);
    audit.kill().unwrap();
    audit.wait().unwrap();
    assert!(read.is_ok());
    let expected = "waiting for the cluster: the API server: failing for ";
    assert!(line.starts_with(expected), "{line}");
}

#[test]
fn policies_over_manifests_are_those_of_the_version() {
    let policies = policy("  validations: [{expression: \"isIP('::1')\"}]");
    let folder = Folder::new().with("policy.yaml", &policies).with(
        "web.yaml",
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n",
    );
    for (version, expected) in [("1.28", 2), ("1.37", 0)] {
        let args = format!("audit --policies policy.yaml --kubernetes-version {version} web.yaml");
        let (status, out, stderr) = folder.gavel(&args);
        assert_eq!(status, expected, "{out}{stderr}");
        let is_undeclared = stderr.contains("undeclared reference to 'isIP'");
        assert_eq!(is_undeclared, version == "1.28", "{stderr}");
    }
}

#[test]
fn a_cluster_without_the_kinds_of_gavel_is_reported_at_once() {
    let address = bare_api_server();
    let folder = Folder::new().with("kubeconfig", &kubeconfig(address));
    let began = std::time::Instant::now();
    let args = "audit --kubeconfig kubeconfig";
    let (status, out, stderr) = folder.gavel(args);
    assert_eq!((status, out.as_str()), (2, ""), "{stderr}");
    let expected = format!(
        "error: the cluster at http://{address}/ does not serve the kind ValidatingAdmissionPolicy of policies.gavel.example.com/v1: \
         install Gavel's kinds (deploy/components/cluster/definitions.yaml), or use --native "
    );
    assert!(stderr.contains(&expected), "{stderr}");
    // The wait for a cluster that does not answer is 60 s.
    assert!(began.elapsed().as_secs() < 30, "{:?}", began.elapsed());
}

#[test]
fn objects_that_no_api_server_can_read_are_reported() {
    let webhooks = "---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: invalid}
webhooks: [{name: a}]
";
    let folder = Folder::new()
        .with(
            "policy.yaml",
            &(policy("  validations: [{expression: 'true'}]") + webhooks),
        )
        .with(
            "text.yaml",
            &DEPLOYMENT.replace("spec:\n", "spec:\n  replicas: many\n"),
        )
        .with(
            "core.yaml",
            &(DEPLOYMENT.replace("apps/v1", "v1") + "---\n" + DEPLOYMENT),
        );
    let (code, out, err) = folder.gavel("audit text.yaml --policies policy.yaml");
    let expected = "error: text.yaml:5:13: spec.replicas: json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32\nnote: the value must not be in quotes\n";
    assert_eq!((code, out.as_str(), err.as_str()), (2, "", expected));
    let (code, _, err) = folder.gavel("audit core.yaml --policies policy.yaml");
    let expected = "warning: core.yaml:2:7: no matches for kind \"Deployment\" in version \"v1\"; the kind is served in apps/v1\n2 objects in ";
    assert!(err.starts_with(expected), "{err}");
    assert_eq!(code, 0);
}

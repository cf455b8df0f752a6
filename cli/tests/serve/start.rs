//! What `gavel serve` reports when it starts.

use crate::program::{Folder, root};
use crate::server::{Server, policy, post_review, review};

/// Checks that a server with these arguments does not start, and that standard error contains a text.
fn check_refused(folder: &Folder, arguments: &str, expected: &str) {
    let (status, _, stderr) = folder.gavel(&format!("serve {arguments}"));
    assert_eq!(status, 2, "{stderr}");
    assert!(stderr.contains(expected), "{expected}\n{stderr}");
}

#[test]
fn arguments_that_cannot_work_are_refused() {
    let folder = Folder::new();
    check_refused(
        &folder,
        "--demo --log-level loud",
        "[possible values: error, warn, info, debug, trace]",
    );
    for source in ["--policies", "--cluster", "--demo"] {
        check_refused(&folder, "", source);
    }
    // Flags of another source, or of another certificate.
    for arguments in [
        "--demo --native",
        "--policies . --authorizer rbac",
        "--cluster --recursive",
        "--demo --allow-removal",
        "--demo --plain-http --tls-secret a",
    ] {
        check_refused(&folder, arguments, "cannot be used with");
    }
    check_refused(
        &folder,
        "--demo --max-body 2 --max-memory 1 --shutdown-delay 26s",
        "--max-body (2) must be at most --max-memory (1); --shutdown-delay (26s) must be at most --grace-period (25s)",
    );
    let server = Server::start(&["--demo"]);
    check_refused(
        &folder,
        &format!("--demo --listen {}", server.address),
        "note: --listen ADDRESS:PORT sets another address",
    );
}

#[test]
fn problems_are_reported_in_the_order_of_the_text() {
    let wrong = policy("a", "'a' + 1", "", "Deny");
    let nameless = wrong.replace("  name: a\n", "  labels: {a: a}\n");
    let folder = Folder::new().with("a.yaml", &format!("{wrong}---\n{nameless}"));
    let (_, _, stderr) = folder.gavel("serve --plain-http --policies a.yaml");
    let starts = stderr
        .lines()
        .filter_map(|line| line.split_once(": spec").or(Some((line, ""))));
    let starts = starts.map(|(start, _)| start);
    let starts: Vec<&str> = starts.filter(|line| line.contains("a.yaml:")).collect();
    let expected = [
        "error: a.yaml:13:22",
        "error: a.yaml:27:3: metadata.name must be set",
        "error: a.yaml:42:3: metadata.name must be set",
    ];
    assert_eq!(starts, expected, "{stderr}");
}

#[test]
fn manifests_without_a_policy_are_reported() {
    let folder = Folder::new().with(
        "a.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n",
    );
    let server = Server::start(&["--policies", folder.text(), "--plain-http"]);
    server.wait_for_log("no policy is loaded");
    let server = Server::start(&["--demo"]);
    let messages = server.logs().into_iter().map(|log| log["message"].clone());
    assert!(
        !messages
            .into_iter()
            .any(|message| message == "no policy is loaded")
    );
}

#[test]
fn an_unreachable_cluster_is_reported_once() {
    let kubeconfig = "apiVersion: v1
kind: Config
current-context: a
contexts: [{name: a, context: {cluster: a, user: a}}]
clusters: [{name: a, cluster: {server: 'http://127.0.0.1:1'}}]
users: [{name: a, user: {}}]
";
    let folder = Folder::new().with("config", kubeconfig);
    let config = folder.file("config");
    let server = Server::start(&["--cluster", "--kubeconfig", &config, "--plain-http"]);
    server.wait_for_log(
        "watch failed, and is retried; the objects that were read last stay in force",
    );
    let errors = server.logs().into_iter();
    let errors: Vec<_> = errors.filter(|log| log["level"] == "ERROR").collect();
    assert!(errors.is_empty(), "{errors:?}");
}

#[test]
fn files_beside_policies_are_ignored() {
    for folder in ["policies/practices", "testdata/check"] {
        let folder = root().join(folder);
        let server = Server::start(&["--policies", folder.to_str().unwrap(), "--plain-http"]);
        let loaded = server.wait_for_log("manifests loaded");
        assert_ne!(loaded["policies"], 0, "{loaded}");
    }
    // A policy reads this object.
    let params = policy("a", "true", "", "Deny").replacen(
        "spec:\n",
        "spec:\n  paramKind: {apiVersion: kustomize.config.k8s.io/v1beta1, kind: Kustomization}\n",
        1,
    );
    let folder = Folder::new().with("a.yaml", &params).with(
        "kustomization.yaml",
        "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n",
    );
    check_refused(
        &folder,
        "--plain-http --policies .",
        "kustomization.yaml:1:1: metadata.name must be set",
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn policies_of_gavels_own_kinds_are_served() {
    let native = policy("a", "object.metadata.name != 'x'", "no x", "Deny");
    let own = native.replace(
        "admissionregistration.k8s.io/",
        "policies.gavel.example.com/",
    );
    let folder = Folder::new().with("a.yaml", &own);
    let server = Server::start(&["--policies", folder.text(), "--self-signed"]);
    let response = post_review(&server.client(), &server, &review("x")).await;
    assert_eq!(response["allowed"], false, "{response}");
    // Both policies would have the same name.
    folder.write("b.yaml", &native);
    check_refused(
        &folder,
        "--plain-http --policies .",
        "b.yaml:4:9: ValidatingAdmissionPolicy \"a\" is defined at ./a.yaml:4:9 already",
    );
    let wrong = own.replace(
        "kind: ValidatingAdmissionPolicy\n",
        "kind: ValidatingPolicy\n",
    );
    let folder = Folder::new().with("a.yaml", &wrong);
    check_refused(
        &folder,
        "--plain-http --policies .",
        "a.yaml:2:7: no kind \"ValidatingPolicy\" is registered for version",
    );
}

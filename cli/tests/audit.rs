//! Tests `gavel audit` over manifests.
#![cfg(test)]

use std::path::Path;
use std::process::Command;

#[expect(
    dead_code,
    reason = "only the tests of `gavel serve` use all items of this module"
)]
mod program;

use program::{Folder, gavel};

fn root() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

#[test]
fn files_beside_policies_are_ignored() {
    for policies in ["policies/practices", "testdata/check"] {
        let object = "testdata/policies/deployment.yaml";
        let (_, _, stderr) = gavel(
            &root(),
            &["audit", "--policies", policies, "--", object],
            "",
        );
        assert!(!stderr.contains("error:"), "{stderr}");
    }
}

#[test]
fn an_audit_with_an_error_shows_no_summary() {
    let check = |args: &[&str], status: i32, shown: bool, expected: &str| {
        let args = [&["audit", "--policies"], args].concat();
        let (exit, _, stderr) = gavel(&root().join("testdata/policies"), &args, "");
        assert_eq!(exit, status, "{args:?}: {stderr}");
        assert_eq!(stderr.contains("violation"), shown, "{args:?}: {stderr}");
        assert!(stderr.contains(expected), "{args:?}: {stderr}");
    };
    check(
        &["policy.yaml", "--", "deployment.yaml"],
        1,
        true,
        "1 object",
    );
    let unbound = "error: no policy with a binding: --policies must name";
    check(&["deployment.yaml", "--", "policy.yaml"], 2, false, unbound);
    check(
        &["policy.yaml", "--", "no.yaml"],
        2,
        false,
        "error: no.yaml",
    );
    check(
        &["no.yaml", "--", "deployment.yaml"],
        2,
        false,
        "error: no.yaml",
    );
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
    let check = |kubeconfig: &str, args: &[&str], expected: &str| {
        let output = Command::new(env!("CARGO_BIN_EXE_gavel"))
            .arg("audit")
            .args(args)
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
        &[],
        &format!(
            "{missing}; the process is not in a pod; --kubeconfig FILE selects a cluster, and --policies PATH reads manifests instead of a cluster"
        ),
    );
    check("config", &["--kubeconfig", "no.yaml"], missing);
    let unknown = "the kubeconfig has no context \"prod\"; its contexts are: a, b";
    check("config", &["--context", "prod"], unknown);
    check(
        "no.yaml",
        &["--kubeconfig", "config", "--context", "prod"],
        unknown,
    );
}

//! Tests `gavel audit` over manifests.
#![cfg(test)]

use std::path::Path;

#[expect(
    dead_code,
    reason = "only the tests of `gavel serve` use all items of this module"
)]
mod program;

use program::gavel;

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

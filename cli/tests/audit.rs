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

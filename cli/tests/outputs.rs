//! Outputs that cannot be written.
#![cfg(test)]

use std::process::{Command, Stdio};

#[expect(dead_code, reason = "other tests use the rest of this module")]
mod program;

use program::Folder;

/// Runs the program in the folder of the example of `gavel check`, with a closed pipe as its standard output. Returns the exit status and
/// standard error.
fn with_closed_output(args: &[&str]) -> (Option<i32>, String) {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../testdata/check");
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = Command::new(env!("CARGO_BIN_EXE_gavel"))
        .args(args)
        .current_dir(folder)
        .stdout(writer)
        .stderr(Stdio::piped())
        .output()
        .unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    (output.status.code(), err)
}

#[test]
fn a_closed_pipe_is_no_error_but_no_success_of_a_check() {
    let check = ["check", "policy.yaml", "deployments.yaml"];
    assert_eq!(with_closed_output(&check), (Some(2), String::new()));
    for format in ["json", "sarif", "junit", "github"] {
        let args = [&check[..], &["-o", format]].concat();
        assert_eq!(with_closed_output(&args), (Some(2), String::new()));
    }
    for command in ["explain", "functions", "man", "version"] {
        let expected = (Some(0), String::new());
        assert_eq!(with_closed_output(&[command]), expected, "{command}");
    }
}

#[test]
fn a_closed_pipe_is_no_error_of_a_dump() {
    let labels = "x".repeat(1 << 20);
    let dump = format!(
        r#"{{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {{"name": "a", "labels": {{"a": "{labels}"}}}}, "spec": {{"replicas": 9}}}}"#
    );
    let folder = Folder::new().with("dump.json", &dump);
    let dump = folder.file("dump.json");
    let args = ["audit", "--policies", "policy.yaml", &dump];
    assert_eq!(with_closed_output(&args), (Some(2), String::new()));
}

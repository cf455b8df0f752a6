//! Tests of the lists that `gavel functions` prints, in each output format.
#![expect(clippy::unwrap_used, reason = "a test")]

use std::process::Command;

use serde_json::Value as Json;

fn functions(args: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gavel"));
    let output = command.arg("functions").args(args).output().unwrap();
    assert!(output.status.success(), "{args:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_version_decides_what_is_listed() {
    let check = |args: &[&str], line: &str, expected: bool| {
        let text = functions(args);
        let found = text
            .lines()
            .any(|found| found.split_whitespace().collect::<Vec<_>>().join(" ") == line);
        assert_eq!(found, expected, "{args:?}: {line}\n{text}");
    };
    let contains = "sets.contains (list(T), list(T)) -> bool 1.29 by size";
    check(&[], contains, true);
    check(&["--kubernetes-version", "1.28"], contains, false);
    check(
        &["--env", "cel"],
        "sets.contains (list(T), list(T)) -> bool by size",
        true,
    );
    check(&[], "x.sortBy (_, _) 1.34", true);
}

#[test]
fn programs_get_one_line_of_json() {
    let text = functions(&["-o", "json"]);
    assert_eq!(text.lines().count(), 1);
    let json: Json = serde_json::from_str(&text).unwrap();
    let check = json["functions"].as_array().unwrap().iter();
    let check = check
        .clone()
        .find(|row| row["overload"] == "pathcheck_check");
    let check = check.unwrap();
    assert_eq!(check["cost"], 350_000);
    assert_eq!(check["since"], "1.27");
}

#[test]
fn the_document_has_a_heading_for_each_library() {
    assert!(functions(&["-o", "markdown"]).contains("\n## sets\n"));
}

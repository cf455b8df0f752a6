//! Our own cases: each request is answered as the file says. `UPDATE_GOLDEN=1` writes the answers anew.
#![expect(clippy::unwrap_used, reason = "a test")]

use std::fs;
use std::path::PathBuf;

use gavel_protocol::Session;
use serde_json::{Map, Value as Json};

#[test]
fn expressions_are_answered_as_recorded() {
    check("expressions.ndjson");
}

#[test]
fn definitions_and_custom_resources_are_answered_as_recorded() {
    check("definitions.ndjson");
}

#[test]
fn policies_are_answered_as_recorded() {
    check("policies.ndjson");
}

#[test]
fn definitions_are_answered_as_recorded() {
    check("definitions.ndjson");
}

/// What Kubernetes does instead is told in `docs/differences.md`.
#[test]
fn what_is_deliberately_different_stays_so() {
    check("differences.ndjson");
}

fn check(file: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../testdata")
        .join(file);
    let text = fs::read_to_string(&path).unwrap();
    let mut session = Session::new();
    let (mut accepted, mut differences) = (String::new(), Vec::new());
    for line in text.lines() {
        let mut case: Map<String, Json> = serde_json::from_str(line).unwrap();
        let (request, wanted) = (case.get("request").unwrap(), case.get("response").unwrap());
        let mut answer = Vec::new();
        session.answer(request.to_string().as_bytes(), &mut answer);
        let answer: Json = serde_json::from_slice(&answer).unwrap();
        if answer != *wanted {
            differences.push(format!("{request}\n  wanted {wanted}\n  found  {answer}"));
        }
        case.insert("response".to_owned(), answer);
        accepted.push_str(&format!("{}\n", Json::from(case)));
    }
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&path, accepted).unwrap();
    } else {
        assert!(differences.is_empty(), "{}", differences.join("\n"));
    }
}

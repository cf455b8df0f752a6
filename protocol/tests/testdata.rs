//! Our own cases: each request must get the answer that the file contains. `UPDATE_GOLDEN=1` replaces the answers in the files.
#![expect(clippy::unwrap_used, reason = "a test")]

use std::fs;
use std::path::PathBuf;

use gavel_apimachinery::server::{DIFFERENCES, Difference, Row};
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

/// `docs/differences.md` describes how Kubernetes answers these requests.
#[test]
fn deliberate_differences_stay() {
    check("differences.ndjson");
}

#[test]
fn each_version_answers_as_recorded() {
    check("versions.ndjson");
}

/// Each difference has two cases with the same request and different answers: one of the last version before the difference, and one of the
/// first version with it. Batch answers do not show how a running API server validates declaratively.
#[test]
fn each_difference_between_versions_has_a_case() {
    let text = fs::read_to_string(path("versions.ndjson")).unwrap();
    let cases: Vec<Json> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let mut pairs = cases.chunks(2);
    let shown = |row: &&Row| row.difference != Difference::BindingsAreValidatedDeclaratively;
    for row in DIFFERENCES.iter().filter(shown) {
        let name = format!("{:?}", row.difference);
        let Some([before, after]) = pairs.next() else {
            panic!("{name} has no case");
        };
        for (case, version) in [(before, row.since.previous()), (after, row.since)] {
            assert_eq!(case["difference"], *name);
            assert_eq!(case["request"]["server"], *version.to_string());
        }
        let request_of = |case: &Json| {
            let mut request = case["request"].clone();
            request.as_object_mut().unwrap().remove("server");
            request
        };
        assert_eq!(request_of(before), request_of(after), "{name}");
        // `compatibilityVersion` is always different, so it is not compared.
        let answered = |case: &Json| {
            let mut response = case["response"].clone();
            response
                .as_object_mut()
                .unwrap()
                .remove("compatibilityVersion");
            response
        };
        assert_ne!(answered(before), answered(after), "{name}");
    }
    assert_eq!(pairs.next(), None, "a case of no difference");
}

fn path(file: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../testdata")
        .join(file)
}

fn check(file: &str) {
    let path = path(file);
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

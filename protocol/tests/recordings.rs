//! Compares our answers with recorded answers of Kubernetes, field by field. If the recordings are absent, the tests are skipped, unless
//! `GAVEL_SHARED` names the folder that must contain them.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::arithmetic_side_effects,
    reason = "a test"
)]

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use serde_json::{Map, Value as Json};

use gavel_protocol::Session;

/// The recordings in which every field must agree.
const FILES: &[&str] = &[
    "language.ndjson.gz",
    "conformance.ndjson.gz",
    "traps-language.ndjson.gz",
    "libraries.ndjson.gz",
    "authorizer.ndjson.gz",
    "policies.ndjson.gz",
    "real-policies.ndjson.gz",
    "mutating.ndjson.gz",
    "versions.ndjson.gz",
    "schema.ndjson.gz",
    "crd-rules.ndjson.gz",
    "custom-resources.ndjson.gz",
    "traps-crd.ndjson.gz",
    "real-crds.ndjson.gz",
    "real-resources.ndjson.gz",
    "objects.ndjson.gz",
    "metadata.ndjson.gz",
    "typecheck.ndjson.gz",
    "real-typecheck.ndjson.gz",
];

/// The recordings that also exist for older and newer versions.
const FILES_OF_VERSIONS: &[&str] = &[
    "language.ndjson.gz",
    "traps-language.ndjson.gz",
    "libraries.ndjson.gz",
    "authorizer.ndjson.gz",
    "policies.ndjson.gz",
    "crd-rules.ndjson.gz",
    "custom-resources.ndjson.gz",
    "traps-crd.ndjson.gz",
    "real-crds.ndjson.gz",
    "objects.ndjson.gz",
    "metadata.ndjson.gz",
    "typecheck.ndjson.gz",
];

/// Requests that Gavel answers differently from Kubernetes: the file, the request's id, and the reason. A file without a folder applies to
/// all versions.
const DIFFERENT: &[(&str, &str, &str)] = &[(
    "traps-language.ndjson.gz",
    "lab9-123",
    "two lists share memory in Go, so that one overwrites the other",
)];

/// The keys of an answer that have a comparison of their own, or are not compared.
const KNOWN: [&str; 7] = ["id", "ok", "error", "value", "type", "cost", "estimate"];

/// The folder of the recordings; `None` if it does not exist and `GAVEL_SHARED` is not set.
fn folder() -> Option<PathBuf> {
    let expected = std::env::var_os("GAVEL_SHARED").map(PathBuf::from);
    let is_expected = expected.is_some();
    let shared =
        expected.unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared"));
    let folder = shared.join("golden");
    (is_expected || folder.is_dir()).then_some(folder)
}

/// The lines of a recording.
fn lines(file: &Path) -> impl Iterator<Item = String> {
    let opened = File::open(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    BufReader::new(GzDecoder::new(opened))
        .lines()
        .map(Result::unwrap)
}

fn verdict(answer: &Json) -> &str {
    match answer["ok"].as_bool() {
        Some(true) => "ok",
        _ => answer["error"]["phase"].as_str().unwrap_or("rejected"),
    }
}

/// The fields in which two answers differ.
fn differences(wanted: &Json, found: &Json) -> Vec<&'static str> {
    let mut different = Vec::new();
    let mut compare = |field: &'static str, same: bool| {
        if !same {
            different.push(field);
        }
    };
    compare("verdict", verdict(wanted) == verdict(found));
    if wanted["ok"] == true {
        compare("value", wanted["value"] == found["value"]);
    }
    for field in ["type", "cost", "estimate"] {
        compare(
            field,
            wanted
                .get(field)
                .is_none_or(|value| Some(value) == found.get(field)),
        );
    }
    let [wanted_text, found_text] =
        [wanted, found].map(|answer| answer["error"]["message"].as_str().unwrap_or_default());
    compare("message", wanted_text == found_text);
    let rest = |answer: &Json| -> Map<String, Json> {
        let entries = answer.as_object().unwrap().iter();
        entries
            .filter(|(key, _)| !KNOWN.contains(&key.as_str()))
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect()
    };
    let found_rest = rest(found);
    compare(
        "answer",
        rest(wanted)
            .iter()
            .all(|(key, value)| found_rest.get(key) == Some(value)),
    );
    different
}

/// Splits `{"request": …, "response": …}` into request and response without parsing them: a few answers are nested too deeply for the
/// parser.
fn halves(line: &str) -> (&str, &str) {
    let line = line
        .strip_prefix("{\"request\": ")
        .unwrap()
        .strip_suffix('}')
        .unwrap();
    line.rsplit_once(", \"response\": ").unwrap()
}

#[test]
fn recorded_answers_are_given() {
    check(FILES.iter().map(PathBuf::from));
}

#[test]
fn recorded_answers_of_older_versions_are_given() {
    check(files_of("1.34").chain(files_of("1.35")));
}

#[test]
fn recorded_answers_of_newer_versions_are_given() {
    check(files_of("1.37"));
    check([PathBuf::from("1.37/mutating.ndjson.gz")]);
}

fn files_of(version: &str) -> impl Iterator<Item = PathBuf> {
    let folder = Path::new(version);
    FILES_OF_VERSIONS.iter().map(move |file| folder.join(file))
}

fn check(files: impl IntoIterator<Item = PathBuf>) {
    let Some(folder) = folder() else {
        println!("no recordings: skipped");
        return;
    };
    let mut session = Session::new();
    let mut answer = Vec::new();
    let mut different = Vec::new();
    let (mut compared, mut passed_over) = (0_u32, 0_u32);
    for file in files {
        for line in lines(&folder.join(&file)) {
            let (request, wanted) = halves(&line);
            let id = |id: &str| request.contains(&format!("\"id\": \"{id}\""));
            if DIFFERENT
                .iter()
                .any(|(known, request, _)| file.ends_with(known) && id(request))
            {
                passed_over += 1;
                continue;
            }
            answer.clear();
            session.answer(request.as_bytes(), &mut answer);
            // A few recorded answers are nested too deeply for the parser.
            let Ok(wanted) = serde_json::from_str::<Json>(wanted) else {
                passed_over += 1;
                continue;
            };
            compared += 1;
            let found: Json = serde_json::from_slice(&answer).unwrap_or_default();
            let fields = differences(&wanted, &found);
            if !fields.is_empty() {
                different.push(format!(
                    "{}: {fields:?}\n  {request}\n  wanted {wanted}\n  found  {found}",
                    file.display()
                ));
            }
        }
    }
    println!("{compared} compared, {passed_over} passed over");
    let shown = different.iter().take(20).cloned().collect::<Vec<_>>();
    assert!(
        different.is_empty(),
        "{} answers differ:\n{}",
        different.len(),
        shown.join("\n")
    );
}

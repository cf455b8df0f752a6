//! Every recorded expression parses, or fails as it was recorded.
#![allow(missing_docs, reason = "a test")]

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use gavel_engine::source::Source;
use gavel_engine::syntax::{Macros, OPTIONALS, ParserOptions, SORT_BY, STANDARD, TWO_VARIABLE, parse};
use serde_json::Value;

fn recordings(name: &str) -> Option<Vec<Value>> {
    let path: PathBuf = [env!("CARGO_MANIFEST_DIR"), "..", "..", "shared", "golden", name].iter().collect();
    if !Path::new(&path).exists() {
        println!("skipped: there is no {}", path.display());
        return None;
    }
    let lines = BufReader::new(GzDecoder::new(File::open(path).unwrap())).lines();
    Some(lines.map(|line| recording(&line.unwrap())).collect())
}

fn recording(line: &str) -> Value {
    let mut deserializer = serde_json::Deserializer::from_str(line);
    deserializer.disable_recursion_limit();
    deserializer.into_iter().next().unwrap().unwrap()
}

fn check(name: &str) {
    let Some(recordings) = recordings(name) else { return };
    let macros = Macros::new(&[STANDARD, OPTIONALS, TWO_VARIABLE, SORT_BY]);
    let options = ParserOptions::default();
    let (mut count, mut wrong) = (0, Vec::new());
    for recording in &recordings {
        let Some(expr) = recording["request"]["expr"].as_str() else { continue };
        count += 1;
        let error = &recording["response"]["error"];
        let expected = if error["phase"] == "parse" { error["message"].as_str() } else { None };
        let actual = parse(Source::new(expr), &options, &macros).err().map(|issues| issues.to_string());
        if actual.as_deref() != expected {
            wrong.push(format!("{expr}\n  expected: {expected:?}\n  actual:   {actual:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {count} differ:\n{}", wrong.len(), wrong.join("\n"));
    assert!(count > 0, "{name} holds no expressions");
}

#[test]
fn language() {
    check("language.ndjson.gz");
}

#[test]
fn traps() {
    check("traps-language.ndjson.gz");
}

#[test]
fn libraries() {
    check("libraries.ndjson.gz");
}

#[test]
fn conformance() {
    check("conformance.ndjson.gz");
}

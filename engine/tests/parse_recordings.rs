//! Tests that every recorded expression can be parsed, or fails with the recorded message.
//!
//! The recordings are not part of the repository. If they are absent, the tests report this and pass.
#![cfg(test)]

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;

use flate2::read::GzDecoder;
use gavel_engine::ast::{Ast, unparse};
use gavel_engine::issues::Issues;
use gavel_engine::source::Source;
use gavel_engine::syntax::{
    Macros, OPTIONALS, ParserOptions, SORT_BY, STANDARD, TWO_VARIABLE, parse,
};
use serde_json::Value;

/// The recorded requests that contain an expression, with their answers.
fn recordings(name: &str) -> Vec<Value> {
    let path: PathBuf = [
        env!("CARGO_MANIFEST_DIR"),
        "..",
        "..",
        "shared",
        "golden",
        name,
    ]
    .iter()
    .collect();
    if !path.exists() {
        println!("skipped: there is no {}", path.display());
        return Vec::new();
    }
    let lines = BufReader::new(GzDecoder::new(File::open(path).unwrap())).lines();
    let recordings: Vec<Value> = lines.map(|line| recording(&line.unwrap())).collect();
    let with_expr = recordings
        .into_iter()
        .filter(|recording| recording["request"]["expr"].is_string());
    let with_expr: Vec<Value> = with_expr.collect();
    assert!(!with_expr.is_empty(), "{name} holds no expressions");
    with_expr
}

fn recording(line: &str) -> Value {
    let mut deserializer = serde_json::Deserializer::from_str(line);
    // Some values are nested deeply.
    deserializer.disable_recursion_limit();
    deserializer.into_iter().next().unwrap().unwrap()
}

fn parse_with(tables: &Macros, expr: &str) -> Result<Ast, Issues> {
    parse(Source::new(expr), &ParserOptions::default(), tables)
}

fn check(name: &str) {
    let macros = Macros::new(&[STANDARD, OPTIONALS, TWO_VARIABLE, SORT_BY]);
    let mut wrong = Vec::new();
    for recording in recordings(name) {
        let expr = recording["request"]["expr"].as_str().unwrap();
        let error = &recording["response"]["error"];
        let expected = if error["phase"] == "parse" {
            error["message"].as_str()
        } else {
            None
        };
        let actual = parse_with(&macros, expr)
            .err()
            .map(|issues| issues.to_string());
        if actual.as_deref() != expected {
            wrong.push(format!(
                "{expr}\n  expected: {expected:?}\n  actual:   {actual:?}"
            ));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} differ:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
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

/// Prints a tree without its ids.
fn shape(ast: &Ast) -> String {
    let text = format!("{:?}", ast.root());
    let mut parts = text.split("ExprId(");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |shape, part| {
        shape + part.trim_start_matches(|c: char| c.is_ascii_digit())
    })
}

fn check_unparsed(name: &str) {
    let no_macros = Macros::default();
    for recording in recordings(name) {
        let expr = recording["request"]["expr"].as_str().unwrap();
        let Ok(ast) = parse_with(&no_macros, expr) else {
            continue;
        };
        let text = unparse(ast.root()).unwrap_or_else(|| panic!("no text for {expr}"));
        let again =
            parse_with(&no_macros, &text).unwrap_or_else(|issues| panic!("{expr}\n{issues}"));
        assert_eq!(shape(&again), shape(&ast), "{expr}\n{text}");
    }
}

#[test]
fn unparsed_expressions_parse_to_the_same_tree() {
    check_unparsed("language.ndjson.gz");
    check_unparsed("traps-language.ndjson.gz");
    check_unparsed("libraries.ndjson.gz");
    check_unparsed("conformance.ndjson.gz");
}

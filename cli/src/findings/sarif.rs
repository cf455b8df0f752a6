//! Findings as a log of the Static Analysis Results Interchange Format, version 2.1.0.

use std::collections::BTreeSet;
use std::io::{self, Write};

use gavel_lint::rules::{self, RULES};
use gavel_manifest::{Problem, Range, Severity};
use serde_json::{Value as Json, json};

use super::{Findings, message_of, path_of};

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

pub(super) fn write(findings: &Findings, out: &mut impl Write) -> io::Result<()> {
    let found: BTreeSet<&str> = findings
        .problems
        .iter()
        .map(|problem| problem.rule)
        .collect();
    let described = RULES.iter().filter(|rule| found.contains(rule.id));
    let mut described: Vec<Json> = described.map(|rule| describe(rule)).collect();
    // Rules that come from elsewhere have no page.
    let others = found.iter().filter(|id| rules::find(id).is_none());
    described.extend(others.map(|id| json!({"id": id})));
    let results: Vec<Json> = findings.problems.iter().map(result).collect();
    let log = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "gavel",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": described,
            }},
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    });
    serde_json::to_writer_pretty(&mut *out, &log)?;
    writeln!(out)
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    }
}

fn describe(rule: &rules::Rule) -> Json {
    json!({
        "id": rule.id,
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": rule.why},
        "help": {"text": rule.why, "markdown": rule.page()},
        "defaultConfiguration": {"level": level(rule.severity), "enabled": rule.is_default},
    })
}

fn result(problem: &Problem) -> Json {
    let mut message = message_of(problem);
    if !problem.help().is_empty() {
        message = format!("{message}\n{}", problem.help());
    }
    let artifact = json!({"uri": uri(&path_of(problem))});
    let mut physical = json!({"artifactLocation": artifact});
    if let (Some(range), Json::Object(physical)) = (problem.range, &mut physical) {
        physical.insert("region".to_owned(), region(range));
    }
    let mut result = json!({
        "ruleId": problem.rule,
        "level": level(problem.severity),
        "message": {"text": message},
        "locations": [{"physicalLocation": physical}],
    });
    if let (Some(suggestion), Json::Object(result)) = (problem.suggestion(), &mut result) {
        let replacement = json!({
            "deletedRegion": region(suggestion.range),
            "insertedContent": {"text": suggestion.replacement},
        });
        let change = json!({"artifactLocation": artifact, "replacements": [replacement]});
        result.insert("fixes".to_owned(), json!([{"artifactChanges": [change]}]));
    }
    result
}

fn region(range: Range) -> Json {
    let (start, end) = (range.start, range.end);
    json!({
        "startLine": start.line, "startColumn": start.column,
        "endLine": end.line, "endColumn": end.column,
    })
}

/// A path as a relative reference: what a URI may not hold is escaped.
fn uri(path: &str) -> String {
    let mut uri = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                uri.push(char::from(byte));
            }
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

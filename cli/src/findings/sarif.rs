//! Findings as a log of the Static Analysis Results Interchange Format, version 2.1.0.

use std::collections::BTreeSet;
use std::io::{self, Write};

use gavel_lint::rules;
use gavel_manifest::{Range, Severity};
use serde_json::{Value as Json, json};

use super::{Finding, Report};

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

pub(super) fn write(report: &Report, out: &mut impl Write) -> io::Result<()> {
    // Viewers show results, but not notifications. So an error at a place in a file is also a result.
    let located = report.unusable.iter().filter(|each| each.range.is_some());
    let found: Vec<&Finding> = report.findings.iter().chain(located).collect();
    let rules: BTreeSet<&str> = found.iter().map(|each| each.rule.as_str()).collect();
    let described: Vec<Json> = rules.into_iter().map(describe).collect();
    let results: Vec<Json> = found.into_iter().map(result).collect();
    let notifications: Vec<Json> = report.unusable.iter().map(notification).collect();
    let log = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "gavel",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": described,
            }},
            "invocations": [{
                "executionSuccessful": notifications.is_empty(),
                "toolExecutionNotifications": notifications,
            }],
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

/// The description of a rule. For a rule of `gavel lint`, the description has a title, help and a default severity. For any other rule,
/// such as a policy, the description is only the name.
fn describe(id: &str) -> Json {
    let Some(rule) = rules::find(id) else {
        return json!({"id": id});
    };
    json!({
        "id": rule.id,
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": rule.why},
        "help": {"text": rule.why, "markdown": rule.page()},
        "defaultConfiguration": {"level": level(rule.severity), "enabled": rule.is_default},
    })
}

/// The notification about an input that could not be used.
fn notification(finding: &Finding) -> Json {
    json!({
        "descriptor": {"id": finding.rule},
        "level": level(finding.severity),
        "message": {"text": finding.text()},
        "locations": locations(finding),
    })
}

/// The locations of a finding: the file and the region in the file, if they are known.
fn locations(finding: &Finding) -> Json {
    let mut physical = json!({"artifactLocation": {"uri": uri(&finding.file)}});
    if let (Some(range), Json::Object(physical)) = (finding.range, &mut physical) {
        physical.insert("region".to_owned(), region(range));
    }
    match finding.file.as_str() {
        "" => json!([]),
        _ => json!([{"physicalLocation": physical}]),
    }
}

fn result(finding: &Finding) -> Json {
    let mut result = json!({
        "ruleId": finding.rule,
        "level": level(finding.severity),
        "message": {"text": finding.text()},
        "locations": locations(finding),
    });
    if let (Some(suggestion), Json::Object(result)) = (&finding.suggestion, &mut result) {
        let replacement = json!({
            "deletedRegion": region(suggestion.range),
            "insertedContent": {"text": suggestion.replacement},
        });
        let artifact = json!({"uri": uri(&finding.file)});
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

/// A path as a relative URI reference, with escapes for characters that a URI cannot contain.
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

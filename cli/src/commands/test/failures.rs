//! Failed and skipped tests as findings, each with its file and position.

use gavel_check::suite::Skipped;
use gavel_engine::value::Json;
use gavel_manifest::{Document, Severity};

use super::Outcome;
use crate::findings::{Case, Failure, Finding, Report, path_of};

/// The rule name of failed tests, for formats in which each finding names a rule.
const FAILED: &str = "failed-test";
/// The rule name of skipped tests.
const SKIPPED: &str = "skipped-test";

/// Adds a case for a test to the report and, if the test failed, a finding.
pub(super) fn add(report: &mut Report, outcome: &Outcome<'_>) {
    let file = path_of(Some(outcome.file));
    let details = outcome.differences.iter().map(|difference| {
        let [expected, actual] = [&difference.expected, &difference.actual].map(shown);
        match difference.expected {
            Json::Null => format!("{}: {actual}", difference.what),
            _ => format!("{}: expected {expected}, got {actual}", difference.what),
        }
    });
    let details: Vec<String> = outcome.error.iter().cloned().chain(details).collect();
    let message = details.join("\n");
    let first = message.lines().next().unwrap_or_default().to_owned();
    report.cases.push(Case {
        file: file.clone(),
        name: outcome.test.name.clone(),
        failure: (!outcome.passes()).then(|| Failure {
            rule: FAILED.to_owned(),
            message: first,
            details: message.clone(),
        }),
        skipped: None,
        output: String::new(),
    });
    if !outcome.passes() {
        report.findings.push(Finding {
            rule: FAILED.to_owned(),
            severity: Severity::Error,
            file,
            range: Some(outcome.place.into()),
            message: format!("{}: {message}", outcome.test.name),
            help: String::new(),
            suggestion: None,
        });
    }
}

/// Adds a case and a note for a skipped test to the report.
pub(super) fn add_skipped(report: &mut Report, document: &Document, test: &Skipped) {
    let file = path_of(document.file());
    report.cases.push(Case {
        file: file.clone(),
        name: test.name.clone(),
        failure: None,
        skipped: Some(test.reason.clone()),
        output: String::new(),
    });
    report.findings.push(Finding {
        rule: SKIPPED.to_owned(),
        severity: Severity::Note,
        file,
        range: Some(document.place_of(&test.field).into()),
        message: format!("{}: skipped: {}", test.name, test.reason),
        help: String::new(),
        suggestion: None,
    });
}

/// A value on one line. Strings are written without quotes.
fn shown(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        other => other.to_string(),
    }
}

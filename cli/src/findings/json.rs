//! Findings, and inputs that cannot be used, as JSON: one object per line.

use std::io::{self, Write};

use gavel_apimachinery::json;
use gavel_manifest::{Place, Problem};
use serde_json::json;

use super::{Findings, path_of};

pub(super) fn write(
    findings: &Findings,
    unusable: &[Problem],
    out: &mut impl Write,
) -> io::Result<()> {
    for problem in findings.problems.iter().chain(unusable) {
        let place = |place: Place| json!({"line": place.line, "column": place.column});
        let suggestion = problem.suggestion().map(|suggestion| {
            json!({
                "start": place(suggestion.range.start),
                "end": place(suggestion.range.end),
                "replacement": suggestion.replacement,
            })
        });
        let line = json!({
            "rule": problem.rule,
            "severity": problem.severity.name(),
            "file": path_of(problem.file.as_deref()),
            "line": problem.range.map(|range| range.start.line),
            "column": problem.range.map(|range| range.start.column),
            "endLine": problem.range.map(|range| range.end.line),
            "endColumn": problem.range.map(|range| range.end.column),
            "field": *problem.field,
            "message": problem.message,
            "kinds": &*problem.kinds,
            "help": problem.help(),
            "suggestion": suggestion,
        });
        writeln!(out, "{}", json::to_string(&line))?;
    }
    Ok(())
}

/// Writes a line for each input that cannot be used, as [`error_line`] formats it.
pub(crate) fn write_errors(unusable: &[Problem], out: &mut impl Write) -> io::Result<()> {
    let mut lines = unusable.iter().map(error_line);
    lines.try_for_each(|line| writeln!(out, "{line}"))
}

/// The JSON line for an input that cannot be used, or for an invalid policy or definition. Commands whose other lines are not findings
/// print it.
pub(crate) fn error_line(problem: &Problem) -> String {
    let start = problem.range.map(|range| range.start);
    json::to_string(&json!({
        "error": problem.text(),
        "file": problem.file.as_deref().map(|file| path_of(Some(file))),
        "line": start.map(|start| start.line),
        "column": start.map(|start| start.column),
    }))
}

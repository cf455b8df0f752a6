//! Findings as workflow commands of GitHub Actions: `::error file=…,line=…,col=…,title=…::message`.

use std::io::{self, Write};

use gavel_manifest::Severity;

use super::Report;

pub(super) fn write(report: &Report, out: &mut impl Write) -> io::Result<()> {
    for finding in report.findings.iter().chain(&report.unusable) {
        let command = match finding.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "notice",
        };
        write!(out, "::{command} ")?;
        if !finding.file.is_empty() {
            write!(out, "file={},", property(&finding.file))?;
        }
        if let Some(range) = finding.range {
            let (start, end) = (range.start, range.end);
            write!(out, "line={},col={},", start.line, start.column)?;
            write!(out, "endLine={},", end.line)?;
            if end.line == start.line {
                write!(out, "endColumn={},", end.column)?;
            }
        }
        let (title, message) = (property(&finding.rule), data(&finding.text()));
        writeln!(out, "title={title}::{message}")?;
    }
    Ok(())
}

/// Escapes the text of a workflow command.
fn data(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

/// Escapes a property of a workflow command.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

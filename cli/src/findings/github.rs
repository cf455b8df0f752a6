//! Findings as workflow commands of GitHub Actions: `::error file=…,line=…,col=…,title=…::message`.

use std::io::{self, Write};

use gavel_manifest::Severity;

use super::{Findings, message_of, path_of};

pub(super) fn write(findings: &Findings, out: &mut impl Write) -> io::Result<()> {
    for problem in &findings.problems {
        let command = match problem.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "notice",
        };
        write!(out, "::{command} file={}", property(&path_of(problem)))?;
        if let Some(range) = problem.range {
            let (start, end) = (range.start, range.end);
            write!(out, ",line={},col={}", start.line, start.column)?;
            write!(out, ",endLine={}", end.line)?;
            if end.line == start.line {
                write!(out, ",endColumn={}", end.column)?;
            }
        }
        let mut message = message_of(problem);
        if !problem.help().is_empty() {
            message = format!("{message}\n{}", problem.help());
        }
        let (title, message) = (property(problem.rule), data(&message));
        writeln!(out, ",title={title}::{message}")?;
    }
    Ok(())
}

/// What a command says.
fn data(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

/// A property of a command.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

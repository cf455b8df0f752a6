//! Prints the findings of `gavel check` as text, one per line.

use std::io::{self, Write};
use std::path::Path;

use clap::builder::styling::{AnsiColor, Style};
use gavel_check::Action;
use gavel_manifest::Document;

use super::Found;
use crate::findings::object_name;
use crate::report::visible;

const DENIED: Style = AnsiColor::Red.on_default().bold();
const TOLD: Style = AnsiColor::Yellow.on_default().bold();

/// Writes one line per finding. Returns whether there is no finding.
pub(super) fn write(out: &mut impl Write, document: &Document, found: &Found) -> io::Result<bool> {
    let line = document.place().line.to_string();
    let checked = &found.checked;
    let denied = checked.problems.iter().map(|each| (each, DENIED, "denied"));
    let warned = checked.warnings.iter().map(|each| (each, TOLD, "warned"));
    for (problem, style, action) in denied.chain(warned) {
        let start = problem.range.map(|range| range.start);
        let place = start.unwrap_or_else(|| document.place()).to_string();
        let text = problem.text().trim_end().replace('\n', "\n    ");
        write!(
            out,
            "{}: {style}{action}{style:#}: {}",
            at(document, &place),
            visible(&text)
        )?;
        match problem.help() {
            "" => writeln!(out)?,
            help => writeln!(out, "; {}", visible(help))?,
        }
    }
    for finding in &found.ruling.findings {
        let style = match finding.action {
            Action::Deny => DENIED,
            Action::Warn | Action::Audit => TOLD,
        };
        let action = finding.action.done();
        let message = visible(&finding.message);
        let policy = visible(&finding.policy);
        write!(
            out,
            "{}: {style}{action}{style:#}: {message} (policy {policy}",
            at(document, &line)
        )?;
        for (what, name) in [("binding", &finding.binding), ("param", &finding.param)] {
            if let Some(name) = name {
                write!(out, ", {what} {}", visible(name))?;
            }
        }
        writeln!(out, ")")?;
    }
    if let Some(status) = found.unexplained() {
        let message = visible(&status.message);
        writeln!(
            out,
            "{}: {DENIED}denied{DENIED:#}: {message}",
            at(document, &line)
        )?;
    }
    Ok(found.checked.problems.is_empty()
        && found.checked.warnings.is_empty()
        && found.ruling.findings.is_empty()
        && found.unexplained().is_none())
}

/// Writes the line of an object without findings.
pub(super) fn write_admitted(out: &mut impl Write, document: &Document) -> io::Result<()> {
    let line = document.place().line.to_string();
    writeln!(out, "{}: admitted", at(document, &line))
}

/// The beginning of a line: the file, the position in the file, and the object, such as `pod.yaml:1: Pod/web`.
fn at(document: &Document, place: &str) -> String {
    let file = document.file().unwrap_or(Path::new("-")).display();
    let name = object_name(document.value());
    visible(&format!("{file}:{place}: {name}")).into_owned()
}

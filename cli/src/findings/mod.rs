//! The findings of a run, in formats for people and programs.

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use clap::ValueEnum;
use gavel_manifest::{Problem, Severity, Source};

mod github;
mod json;
mod junit;
mod report;
mod sarif;
mod text;

pub(crate) use json::{error_line, write_errors};
pub(crate) use report::{Case, Failure, Finding, Report, object_name, path_of};

/// The output formats of the commands that report findings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people
    #[default]
    Text,
    /// JSON, one object per line
    Json,
    /// SARIF 2.1.0, which code scanning services read
    Sarif,
    /// JUnit XML, which CI servers read
    Junit,
    /// Workflow commands, which GitHub shows as annotations
    Github,
}

/// The findings of `gavel lint`.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    pub(crate) problems: Vec<Problem>,
    /// The texts of the files, from which excerpts are printed.
    texts: HashMap<Arc<Path>, Source>,
}

impl Findings {
    /// Stores the text of a file.
    pub(crate) fn add_text(&mut self, file: &Arc<Path>, text: Source) {
        self.texts.insert(Arc::clone(file), text);
    }

    /// The text of a file; `None` if it was not stored.
    pub(crate) fn text(&self, file: &Path) -> Option<&Source> {
        self.texts.get(file)
    }

    /// The text of the file that has the problem. `None` if the problem has no file, or if the text was not stored.
    pub(crate) fn text_of(&self, problem: &Problem) -> Option<&Source> {
        self.text(problem.file.as_ref()?)
    }

    /// The number of findings of a severity.
    pub(crate) fn count(&self, severity: Severity) -> usize {
        let of_severity = |problem: &&Problem| problem.severity == severity;
        self.problems.iter().filter(of_severity).count()
    }

    /// Prints the findings to standard output. `unusable` are the inputs that could not be used. They are printed in all formats but text,
    /// because the errors on standard error already report them to people.
    pub(crate) fn print(&self, format: Format, unusable: &[Problem]) -> io::Result<()> {
        let mut out = anstream::stdout().lock();
        match format {
            Format::Text => text::write(self, &mut out)?,
            Format::Json => json::write(self, unusable, &mut out)?,
            Format::Sarif | Format::Junit | Format::Github => {
                self.report().finish(format, unusable, &mut out)?;
            }
        }
        out.flush()
    }

    /// Converts the findings to a report, with a test case for each finding.
    fn report(&self) -> Report {
        let mut report = Report::new("gavel lint");
        for problem in &self.problems {
            report.add(Finding::of(problem));
        }
        report
    }
}

impl Report {
    /// Writes the report as SARIF, JUnit XML or workflow commands, at the end of a run. `unusable` are the inputs that could not be used.
    /// The commands themselves print their results as text and JSON, so for JSON, writes only the inputs that could not be used. For text,
    /// writes nothing: standard error has the errors.
    pub(crate) fn finish(
        mut self,
        format: Format,
        unusable: &[Problem],
        out: &mut impl Write,
    ) -> io::Result<()> {
        self.unusable = unusable.iter().map(Finding::of).collect();
        match format {
            Format::Text => Ok(()),
            Format::Json => write_errors(unusable, out),
            Format::Sarif => sarif::write(&self, out),
            Format::Junit => junit::write(&self, out),
            Format::Github => github::write(&self, out),
        }
    }
}

/// The message of a problem, followed by the kinds of objects that have the problem.
fn message_of(problem: &Problem) -> String {
    let text = problem.text();
    match &*problem.kinds {
        [] => text,
        kinds => format!("{text} ({})", kinds.join(", ")),
    }
}

//! What a run found, in the formats that people and programs read.

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use clap::ValueEnum;
use gavel_manifest::{Problem, Severity};

mod github;
mod json;
mod junit;
mod sarif;
mod text;

/// How findings are printed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people: each finding with its place in the file
    #[default]
    Text,
    /// JSON, an object a line
    Json,
    /// SARIF 2.1.0, which code scanning services read
    Sarif,
    /// JUnit XML, which CI servers read
    Junit,
    /// Workflow commands, which GitHub shows as annotations
    Github,
}

/// What a run found.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    pub(crate) problems: Vec<Problem>,
    /// The texts of the files, for excerpts.
    texts: HashMap<Arc<Path>, Arc<str>>,
}

impl Findings {
    /// Remembers the text of a file.
    pub(crate) fn add_text(&mut self, file: &Arc<Path>, text: &Arc<str>) {
        self.texts.insert(Arc::clone(file), Arc::clone(text));
    }

    /// The text of a file.
    pub(crate) fn text(&self, file: &Path) -> Option<&str> {
        self.texts.get(file).map(|text| &**text)
    }

    /// The text of a problem's file.
    pub(crate) fn text_of(&self, problem: &Problem) -> Option<&str> {
        self.texts.get(problem.file.as_ref()?).map(|text| &**text)
    }

    /// How many findings are of a severity.
    pub(crate) fn count(&self, severity: Severity) -> usize {
        let of_severity = |problem: &&Problem| problem.severity == severity;
        self.problems.iter().filter(of_severity).count()
    }

    /// Prints the findings to standard output.
    pub(crate) fn print(&self, format: Format) -> io::Result<()> {
        let mut out = anstream::stdout().lock();
        match format {
            Format::Text => text::write(self, &mut out)?,
            Format::Json => json::write(self, &mut out)?,
            Format::Sarif => sarif::write(self, &mut out)?,
            Format::Junit => junit::write(self, &mut out)?,
            Format::Github => github::write(self, &mut out)?,
        }
        out.flush()
    }
}

/// The path of a problem's file as formats for programs write it; standard input has the name `stdin`.
fn path_of(problem: &Problem) -> String {
    let path = problem.file.as_deref().unwrap_or(Path::new("-"));
    let path = path.display().to_string().replace('\\', "/");
    match path.as_str() {
        "-" => "stdin".to_owned(),
        path => path.strip_prefix("./").unwrap_or(path).to_owned(),
    }
}

/// The message with the kinds that it is about.
fn message_of(problem: &Problem) -> String {
    let text = problem.text();
    match &*problem.kinds {
        [] => text,
        kinds => format!("{text} ({})", kinds.join(", ")),
    }
}

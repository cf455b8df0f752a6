//! Problems found while compiling, rendered as cel-go renders them (`common/error.go`, `common/errors.go`).

use std::fmt;

use crate::source::{Location, Source};

/// The maximum number of issues that are stored. Further issues are only counted.
const MAX_ISSUES: usize = 100;
/// The length limit of quoted lines, in bytes.
const MAX_SNIPPET_BYTES: usize = 16384;

/// The step of compilation that found an issue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Parsing the text.
    Parse,
    /// Checking types, references and literals.
    Check,
}

/// One problem of an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Issue {
    /// The position of the problem in the expression.
    pub location: Location,
    /// The message, with Kubernetes' wording.
    pub message: String,
}

/// The problems of an expression, in the order in which they were found. At most 100 are stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Issues {
    source: Source,
    phase: Phase,
    issues: Vec<Issue>,
    truncated: usize,
}

impl Issues {
    /// An empty list for the expression `source`.
    pub fn new(source: &Source, phase: Phase) -> Self {
        Issues {
            source: source.clone(),
            phase,
            issues: Vec::new(),
            truncated: 0,
        }
    }

    /// Adds a problem, or counts it if the list is full.
    pub fn report(&mut self, location: Location, message: impl Into<String>) {
        if self.issues.len() < MAX_ISSUES {
            self.issues.push(Issue {
                location,
                message: message.into(),
            });
        } else {
            self.truncated = self.truncated.saturating_add(1);
        }
    }

    /// Whether no problem was reported.
    pub fn is_empty(&self) -> bool {
        self.issues.is_empty()
    }

    /// The number of problems that are stored.
    pub fn len(&self) -> usize {
        self.issues.len()
    }

    /// The step of compilation that found the problems.
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// The expression that the problems are in.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// The problems, sorted by position. They are printed in this order.
    pub fn sorted(&self) -> Vec<&Issue> {
        let mut sorted: Vec<&Issue> = self.issues.iter().collect();
        sorted.sort_by_key(|issue| issue.location);
        sorted
    }

    /// The line and column of the problem that comes first in the text. Both count from 1. `None` if there is no problem, or if this
    /// problem concerns the whole expression.
    pub fn position(&self) -> Option<(u32, u32)> {
        self.issues
            .iter()
            .map(|issue| issue.location)
            .min()?
            .position()
    }
}

impl fmt::Display for Issues {
    /// The text that Kubernetes shows: `ERROR: <input>:1:3: …` with the source line and a caret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, issue) in self.sorted().into_iter().enumerate() {
            if n > 0 {
                f.write_str("\n")?;
            }
            write_issue(f, &self.source, issue)?;
        }
        if self.truncated > 0 {
            write!(f, "\n{} more errors were truncated", self.truncated)?;
        }
        Ok(())
    }
}

impl std::error::Error for Issues {}

fn write_issue(f: &mut fmt::Formatter<'_>, source: &Source, issue: &Issue) -> fmt::Result {
    let Location { line, column } = issue.location;
    // Like upstream, prints column 0 for an empty source.
    let shown = if source.text().is_empty() {
        0
    } else {
        column.saturating_add(1)
    };
    write!(f, "ERROR: <input>:{line}:{shown}: {}", issue.message)?;
    let Some(text) = source.line(line) else {
        return Ok(());
    };
    if source.text().is_empty() || text.len() > MAX_SNIPPET_BYTES {
        return Ok(());
    }
    let text = text.replace('\t', " ");
    write!(f, "\n | {text}\n | ")?;
    let column = usize::try_from(column).unwrap_or(0);
    let mut chars = text.chars();
    for c in chars.by_ref().take(column) {
        f.write_str(if c.len_utf8() > 1 { "\u{ff0e}" } else { "." })?;
    }
    f.write_str(match chars.next() {
        Some(c) if c.len_utf8() > 1 => "\u{ff3e}",
        _ => "^",
    })
}

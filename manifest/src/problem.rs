//! Problems of files and objects, with their places. All crates report problems in this form, from the readers of files to the output.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use crate::place::{Place, Range};

/// A problem of a file or an object. It is shown as `file:line:column: field: message (kinds)`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Problem {
    /// The name of the violated rule: a constant of [`rule`], a reason of Kubernetes such as `FieldValueInvalid`, or a rule of the host.
    pub rule: &'static str,
    /// The severity.
    pub severity: Severity,
    /// The file, if there is one.
    pub file: Option<Arc<Path>>,
    /// The place in the file, if known.
    pub range: Option<Range>,
    /// The path of the field, as validation errors print it; empty for the object or the file as a whole.
    pub field: Box<str>,
    /// The message.
    pub message: String,
    /// The kinds of objects that have the problem (`apps/v1 Deployment`); empty if the problem does not depend on the kind.
    pub kinds: Box<[String]>,
    /// Advice, if there is any.
    pub advice: Option<Box<Advice>>,
}

/// How to solve a problem: a help text and, if there is only one correct fix, a replacement.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Advice {
    /// Advice in words; can be empty.
    pub help: String,
    /// The replacement, if there is only one correct fix.
    pub suggestion: Option<Suggestion>,
}

/// A replacement for a part of a file.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Suggestion {
    /// The range that is replaced.
    pub range: Range,
    /// The new text.
    pub replacement: String,
}

/// The severity of a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The object works, but could be better.
    Note,
    /// The object works, but probably not as its author meant it.
    Warning,
    /// The object cannot be used.
    Error,
}

impl Severity {
    /// The severity as outputs name it: `note`, `warning`, `error`.
    pub const fn name(self) -> &'static str {
        match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

/// The names of problems that the reader of manifests finds.
pub mod rule {
    /// A file or folder that cannot be read.
    pub const UNREADABLE: &str = "unreadable";
    /// The text is neither YAML nor JSON, or Kubernetes cannot convert its YAML to JSON.
    pub const SYNTAX: &str = "syntax";
    /// A duplicate key.
    pub const DUPLICATE_KEY: &str = "duplicate-key";
    /// A field that the type does not have.
    pub const UNKNOWN_FIELD: &str = "unknown-field";
    /// A problem of an object as a whole.
    pub const OBJECT: &str = "object";
}

impl Problem {
    /// A problem of severity `Error`, with only a rule and a message.
    pub fn new(rule: &'static str, message: impl Into<String>) -> Self {
        Problem {
            rule,
            severity: Severity::Error,
            file: None,
            range: None,
            field: Box::default(),
            message: message.into(),
            kinds: Box::default(),
            advice: None,
        }
    }

    /// A file or folder that cannot be read or written.
    pub fn unreadable(path: &Path, message: impl fmt::Display) -> Self {
        let message = message.to_string();
        // Omits the error number, which does not help people.
        let message = message.split(" (os error ").next().unwrap_or_default();
        Problem::new(rule::UNREADABLE, message).in_file(&Arc::from(path))
    }

    /// Sets the place.
    #[must_use]
    pub fn at(self, range: impl Into<Range>) -> Self {
        Problem {
            range: Some(range.into()),
            ..self
        }
    }

    /// Sets the file.
    #[must_use]
    pub fn in_file(self, file: &Arc<Path>) -> Self {
        Problem {
            file: Some(Arc::clone(file)),
            ..self
        }
    }

    /// Sets the field.
    #[must_use]
    pub fn of_field(self, field: impl Into<Box<str>>) -> Self {
        Problem {
            field: field.into(),
            ..self
        }
    }

    /// Sets the severity.
    #[must_use]
    pub fn with_severity(self, severity: Severity) -> Self {
        Problem { severity, ..self }
    }

    /// Turns the problem into a warning.
    #[must_use]
    pub fn as_warning(self) -> Self {
        self.with_severity(Severity::Warning)
    }

    /// Sets the kinds of objects that have the problem.
    #[must_use]
    pub fn for_kinds(self, kinds: impl Into<Box<[String]>>) -> Self {
        Problem {
            kinds: kinds.into(),
            ..self
        }
    }

    /// Sets the advice in words.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.advice.get_or_insert_default().help = help.into();
        self
    }

    /// Sets the replacement that fixes the problem.
    #[must_use]
    pub fn with_suggestion(mut self, suggestion: Suggestion) -> Self {
        self.advice.get_or_insert_default().suggestion = Some(suggestion);
        self
    }

    /// The advice in words; empty if there is none.
    pub fn help(&self) -> &str {
        self.advice.as_deref().map_or("", |advice| &advice.help)
    }

    /// The problem with its place and, after a semicolon, the advice in words. For reports that have no line for advice.
    pub fn full_text(&self) -> String {
        match self.help() {
            "" => self.to_string(),
            help => format!("{self}; {help}"),
        }
    }

    /// The replacement that fixes the problem, if it is known.
    pub fn suggestion(&self) -> Option<&Suggestion> {
        self.advice.as_deref()?.suggestion.as_ref()
    }

    /// The field and the message, without a place. If the message names the field itself, the field is not repeated.
    pub fn text(&self) -> String {
        let names_field = matches!(self.rule, rule::UNKNOWN_FIELD | rule::DUPLICATE_KEY);
        match &*self.field {
            "" => self.message.clone(),
            _ if names_field => self.message.clone(),
            field => format!("{field}: {}", self.message),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{}:", file.display())?;
        }
        if let Some(range) = self.range {
            write!(f, "{}:", range.start)?;
        }
        if self.file.is_some() || self.range.is_some() {
            f.write_str(" ")?;
        }
        f.write_str(&self.text().trim_end().replace('\n', "\n    "))?;
        match &*self.kinds {
            [] => Ok(()),
            kinds => write!(f, " ({})", kinds.join(", ")),
        }
    }
}

impl std::error::Error for Problem {}

/// The problem of a duplicate key; `place` is where the key is repeated, `first` is where it was set.
pub(crate) fn duplicate_key(key: &str, place: Place, first: Place) -> Problem {
    let message = format!("the key `{key}` is already set at {first}");
    let problem = Problem::new(rule::DUPLICATE_KEY, message).at(place);
    match (key, place.column, first.column) {
        ("kind", 1, 1) => problem.with_help("two documents must be separated by a line `---`"),
        _ => problem,
    }
}

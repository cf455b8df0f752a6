//! What is wrong, with what, and where: one shape from the reader of a file to the line that tells of it.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use crate::place::{Place, Range};

/// One thing that is wrong with a file or an object. It is shown as `file:line:column: field: message (kinds)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// What found it: a name of [`rule`], a reason of Kubernetes such as `FieldValueInvalid`, or a rule of the host.
    pub rule: &'static str,
    /// How much it matters.
    pub severity: Severity,
    /// The file, where there is one.
    pub file: Option<Arc<Path>>,
    /// Where in the file, if that is known.
    pub range: Option<Range>,
    /// The path of the field, as validation errors print it; empty where it is the object or the file as a whole.
    pub field: Box<str>,
    /// What is wrong.
    pub message: String,
    /// The kinds of objects for which it is so (`apps/v1 Deployment`); none where it does not depend on them.
    pub kinds: Box<[String]>,
    /// What helps, if something is known to.
    pub advice: Option<Box<Advice>>,
}

/// What helps against a problem.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Advice {
    /// What to do, in words; may be empty.
    pub help: String,
    /// What to write instead, where there is one right answer.
    pub suggestion: Option<Suggestion>,
}

/// What to write instead of a part of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suggestion {
    /// The part that is replaced.
    pub range: Range,
    /// What takes its place.
    pub replacement: String,
}

/// How much a problem matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// It could be better, and works as it is.
    Note,
    /// It works, and probably not as it is meant.
    Warning,
    /// What it is about cannot be used as it is.
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

/// The names of what every reader of manifests finds.
pub mod rule {
    /// A file or folder that cannot be read.
    pub const UNREADABLE: &str = "unreadable";
    /// What is no YAML or JSON, or cannot be JSON for Kubernetes.
    pub const SYNTAX: &str = "syntax";
    /// A key that comes twice.
    pub const DUPLICATE_KEY: &str = "duplicate-key";
    /// A field that the type does not have.
    pub const UNKNOWN_FIELD: &str = "unknown-field";
    /// An object as a whole.
    pub const OBJECT: &str = "object";
}

impl Problem {
    /// An error of which no more is known yet.
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

    /// A file or folder that cannot be read.
    pub fn unreadable(path: &Path, message: impl fmt::Display) -> Self {
        let message = message.to_string();
        // The number of the error says nothing to people.
        let message = message.split(" (os error ").next().unwrap_or_default();
        Problem::new(rule::UNREADABLE, message).in_file(&Arc::from(path))
    }

    /// The same at a place.
    #[must_use]
    pub fn at(self, range: impl Into<Range>) -> Self {
        Problem {
            range: Some(range.into()),
            ..self
        }
    }

    /// The same in a file.
    #[must_use]
    pub fn in_file(self, file: &Arc<Path>) -> Self {
        Problem {
            file: Some(Arc::clone(file)),
            ..self
        }
    }

    /// The same about a field.
    #[must_use]
    pub fn of_field(self, field: impl Into<Box<str>>) -> Self {
        Problem {
            field: field.into(),
            ..self
        }
    }

    /// The same problem, of this severity.
    #[must_use]
    pub fn with_severity(self, severity: Severity) -> Self {
        Problem { severity, ..self }
    }

    /// The same problem as a warning.
    #[must_use]
    pub fn as_warning(self) -> Self {
        self.with_severity(Severity::Warning)
    }

    /// The same problem, for these kinds of objects.
    #[must_use]
    pub fn for_kinds(self, kinds: impl Into<Box<[String]>>) -> Self {
        Problem {
            kinds: kinds.into(),
            ..self
        }
    }

    /// The same problem, with words that help.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.advice.get_or_insert_default().help = help.into();
        self
    }

    /// The same problem, with what to write instead.
    #[must_use]
    pub fn with_suggestion(mut self, suggestion: Suggestion) -> Self {
        self.advice.get_or_insert_default().suggestion = Some(suggestion);
        self
    }

    /// The words that help; empty where there are none.
    pub fn help(&self) -> &str {
        self.advice.as_deref().map_or("", |advice| &advice.help)
    }

    /// What to write instead, where that is known.
    pub fn suggestion(&self) -> Option<&Suggestion> {
        self.advice.as_deref()?.suggestion.as_ref()
    }

    /// What is wrong with which field, without a place. Messages that name the field themselves are told alone.
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

/// A key that comes twice, first at another place.
pub(crate) fn duplicate_key(key: &str, place: Place, first: Place) -> Problem {
    let message = format!("the key `{key}` is already set at {first}");
    Problem::new(rule::DUPLICATE_KEY, message).at(place)
}

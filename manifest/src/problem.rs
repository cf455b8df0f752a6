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
    pub kinds: Vec<String>,
}

/// How much a problem matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// It is told, and nothing comes of it.
    Warning,
    /// What it is about cannot be used as it is.
    Error,
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
            kinds: Vec::new(),
        }
    }

    /// A file or folder that cannot be read.
    pub fn unreadable(path: &Path, message: impl fmt::Display) -> Self {
        Problem::new(rule::UNREADABLE, message.to_string()).in_file(&Arc::from(path))
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

    /// The same, only told.
    #[must_use]
    pub fn as_warning(self) -> Self {
        Problem {
            severity: Severity::Warning,
            ..self
        }
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
        match self.kinds.as_slice() {
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

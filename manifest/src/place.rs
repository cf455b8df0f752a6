//! Places in a file, and what is wrong there.

use std::fmt;

/// A place in a file: line and column, both from 1; columns are code points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The line, from 1.
    pub line: u32,
    /// The column in code points, from 1.
    pub column: u32,
}

impl Place {
    /// The beginning of a file.
    pub const START: Place = Place { line: 1, column: 1 };

    /// The place from a line and a column that count from 1.
    pub(crate) fn new(line: usize, column: usize) -> Self {
        let bounded = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Place {
            line: bounded(line),
            column: bounded(column),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// What is wrong with a text, and where. It is shown as `line:column: message`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {message}")]
pub struct Problem {
    place: Place,
    message: String,
}

impl Problem {
    pub(crate) fn new(place: Place, message: impl Into<String>) -> Self {
        Problem {
            place,
            message: message.into(),
        }
    }

    pub(crate) fn duplicate(key: &str, place: Place, first: Place) -> Self {
        let message = format!("the key `{key}` is already set at {first}");
        Problem::new(place, message)
    }

    /// Where.
    pub fn place(&self) -> Place {
        self.place
    }

    /// What, in one line.
    pub fn message(&self) -> &str {
        &self.message
    }
}

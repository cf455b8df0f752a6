//! Places in a file.

use std::fmt;

/// A place in a file: line and column, both from 1; columns are code points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The line, from 1.
    pub line: u32,
    /// The column in code points, from 1.
    pub column: u32,
}

/// A range of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Range {
    /// The beginning.
    pub start: Place,
    /// The end, exclusive; equal to the beginning if the end is unknown.
    pub end: Place,
}

impl Place {
    /// The beginning of a file.
    pub(crate) const START: Place = Place { line: 1, column: 1 };

    /// The place from a line and a column that count from 1.
    pub(crate) fn new(line: usize, column: usize) -> Self {
        let bounded = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Place {
            line: bounded(line),
            column: bounded(column),
        }
    }
}

impl From<Place> for Range {
    fn from(place: Place) -> Self {
        Range {
            start: place,
            end: place,
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

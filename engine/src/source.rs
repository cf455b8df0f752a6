//! The text of an expression, positions in the text, and the ids of nodes.
//!
//! Like cel-go's, offsets count code points. A column is thus a number of characters, not of bytes.

use std::sync::Arc;

use gavel_golang::utf8;
use memchr::memchr_iter;

/// A position in a [`Source`], in code points from its start.
pub type Offset = u32;

/// The id of a node, map entry or field initializer in its tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ExprId(pub u32);

impl ExprId {
    /// The id as an index into a table that has a row for each id.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The line and column of a position in an expression.
///
/// Lines count from 1. Columns count code points from 0; messages print them plus one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Location {
    /// The line, counted from 1; -1 for a problem without a position.
    pub line: i32,
    /// The column, counted from 0; -1 for a problem without a position.
    pub column: i32,
}

impl Location {
    /// The location of problems that concern the whole expression.
    pub const NONE: Location = Location {
        line: -1,
        column: -1,
    };

    /// The line and column, both counted from 1; `None` for problems that concern the whole expression.
    pub fn position(self) -> Option<(u32, u32)> {
        let line = u32::try_from(self.line).ok()?;
        let column = u32::try_from(self.column.saturating_add(1)).ok()?;
        (line > 0 && column > 0).then_some((line, column))
    }
}

/// The text of one expression with the positions of its lines. Cloning it is cheap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    text: Arc<str>,
    /// The start of each line after the first, in code points and in bytes.
    lines: Vec<(u32, u32)>,
    code_points: u32,
}

impl Source {
    /// Creates a source from the text of an expression. Only LF ends a line.
    pub fn new(text: impl Into<Arc<str>>) -> Self {
        let text = text.into();
        let mut lines = Vec::new();
        let mut code_points: u32 = 0;
        let mut start = 0_usize;
        let mut count = |part: Option<&str>| {
            let counted = u32::try_from(part.map_or(0, utf8::rune_count)).unwrap_or(u32::MAX);
            code_points = code_points.saturating_add(counted);
            code_points
        };
        for end in memchr_iter(b'\n', text.as_bytes()) {
            let next = end.saturating_add(1);
            let begin = u32::try_from(next).unwrap_or(u32::MAX);
            lines.push((count(text.get(start..next)), begin));
            start = next;
        }
        count(text.get(start..));
        Source {
            text,
            lines,
            code_points,
        }
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The number of code points of the text.
    pub fn code_points(&self) -> u32 {
        self.code_points
    }

    /// The line and column of an offset.
    pub fn location(&self, offset: Offset) -> Location {
        let line = self.lines.partition_point(|(start, _)| *start <= offset);
        let start = line
            .checked_sub(1)
            .and_then(|before| self.lines.get(before));
        let start = start.map_or(0, |start| start.0);
        Location {
            line: i32::try_from(line.saturating_add(1)).unwrap_or(i32::MAX),
            column: i32::try_from(offset.saturating_sub(start)).unwrap_or(i32::MAX),
        }
    }

    /// The text of a line without its LF; `None` if there is no such line. Lines count from 1.
    pub fn line(&self, line: i32) -> Option<&str> {
        let index = usize::try_from(line).ok()?.checked_sub(1)?;
        let start = match index.checked_sub(1) {
            None => 0,
            Some(before) => usize::try_from(self.lines.get(before)?.1).ok()?,
        };
        let rest = self.text.get(start..)?;
        rest.split('\n').next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_code_points_and_lines_end_at_lf() {
        let source = Source::new("ä + 1\r\n&& 'ö€'\n\n x");
        assert_eq!(source.code_points(), 18);
        let place = |offset| {
            let location = source.location(offset);
            (location.line, location.column)
        };
        assert_eq!(
            [0, 2, 6, 7, 14, 15, 16, 18].map(place),
            [
                (1, 0),
                (1, 2),
                (1, 6),
                (2, 0),
                (2, 7),
                (3, 0),
                (4, 0),
                (4, 2)
            ]
        );
        assert_eq!(source.line(1), Some("ä + 1\r"));
        assert_eq!(source.line(2), Some("&& 'ö€'"));
        assert_eq!(source.line(4), Some(" x"));
        assert_eq!(source.line(5), None);
    }
}

//! The text of an expression, places in it, and the identities of the nodes that stand at them.
//!
//! Offsets count code points, as cel-go's do, so that a column is a number of characters and not of bytes.

use std::sync::Arc;

use smallvec::{SmallVec, smallvec};

/// A place in a [`Source`]: a number of code points from its start.
pub type Offset = u32;

/// The identity of a node (or of a map entry or field initialiser) in its tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ExprId(pub u32);

impl ExprId {
    /// The row of this id in a side table.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A line and column as messages print them.
///
/// Lines count from 1. Columns count code points from 0; messages print them plus one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Location {
    /// The line, from 1; -1 where a problem has no place.
    pub line: i32,
    /// The column, from 0; -1 where a problem has no place.
    pub column: i32,
}

impl Location {
    /// The location of problems that concern the whole expression.
    pub const NONE: Location = Location {
        line: -1,
        column: -1,
    };

    /// Line and column, both from 1; none of problems that concern the whole expression.
    pub fn position(self) -> Option<(u32, u32)> {
        let line = u32::try_from(self.line).ok()?;
        let column = u32::try_from(self.column.saturating_add(1)).ok()?;
        (line > 0 && column > 0).then_some((line, column))
    }
}

/// The text of one expression with its line table. Cloning is cheap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    text: Arc<str>,
    /// For each line, where it starts: (code points, bytes).
    lines: SmallVec<[(u32, u32); 2]>,
    code_points: u32,
}

impl Source {
    /// Takes the text of an expression. Lines end at LF alone.
    pub fn new(text: impl Into<Arc<str>>) -> Self {
        let text = text.into();
        let mut lines = smallvec![(0, 0)];
        let mut code_points: u32 = 0;
        for (byte, c) in text.char_indices() {
            code_points = code_points.saturating_add(1);
            if c == '\n' {
                let next = u32::try_from(byte).unwrap_or(u32::MAX).saturating_add(1);
                lines.push((code_points, next));
            }
        }
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
        let start = self.lines.get(line.saturating_sub(1)).map_or(0, |l| l.0);
        Location {
            line: i32::try_from(line).unwrap_or(i32::MAX),
            column: i32::try_from(offset.saturating_sub(start)).unwrap_or(i32::MAX),
        }
    }

    /// The text of a line (from 1) without its LF, where there is such a line.
    pub fn line(&self, line: i32) -> Option<&str> {
        let index = usize::try_from(line).ok()?.checked_sub(1)?;
        let start = usize::try_from(self.lines.get(index)?.1).ok()?;
        let rest = self.text.get(start..)?;
        rest.split('\n').next()
    }
}

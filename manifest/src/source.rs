//! The text of a file, with an index of its lines.

use std::ops::Range;
use std::sync::Arc;

use crate::place::Place;

/// The text of a file. Lines are found without reading the lines above them.
#[derive(Debug, Clone)]
pub struct Source(Arc<Indexed>);

#[derive(Debug)]
struct Indexed {
    text: Box<str>,
    /// The bytes at which the lines begin.
    starts: Vec<usize>,
    /// Whether each column is one byte.
    is_ascii: bool,
}

impl Source {
    /// Copies a text and finds its lines.
    pub fn new(text: &str) -> Self {
        let breaks = text.match_indices('\n');
        let after = breaks.map(|(at, _)| at.saturating_add(1));
        Source(Arc::new(Indexed {
            text: text.into(),
            starts: std::iter::once(0).chain(after).collect(),
            is_ascii: text.is_ascii(),
        }))
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.0.text
    }

    /// The text from the beginning of a line to the end of the file. Lines count from 1.
    pub fn from_line(&self, line: u32) -> Option<&str> {
        self.text().get(self.start(line)?..)
    }

    /// A line without its line break. Lines count from 1.
    pub fn line(&self, line: u32) -> Option<&str> {
        self.from_line(line)?.lines().next()
    }

    /// The byte at a place. A place to the right of the end of the file, or on the line below it, is the end of the file.
    pub fn byte_of(&self, place: Place) -> Option<usize> {
        let lines = self.0.starts.len();
        if usize::try_from(place.line).ok()? == lines.saturating_add(1) {
            return Some(self.text().len());
        }
        let start = self.start(place.line)?;
        let column = usize::try_from(place.column).ok()?.checked_sub(1)?;
        let rest = self.text().get(start..)?;
        let within = match self.0.is_ascii {
            true => Some(column).filter(|column| *column <= rest.len()),
            false => rest.char_indices().nth(column).map(|(byte, _)| byte),
        };
        start.checked_add(within.unwrap_or(rest.len()))
    }

    /// The text between two bytes.
    pub(crate) fn get(&self, bytes: Range<usize>) -> Option<&str> {
        self.text().get(bytes)
    }

    fn start(&self, line: u32) -> Option<usize> {
        let above = usize::try_from(line).ok()?.checked_sub(1)?;
        self.0.starts.get(above).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_places_are_found_in_the_text() {
        let found = |text: &str, line, column| {
            let source = Source::new(text);
            let byte = source.byte_of(Place { line, column });
            (source.line(line).map(str::to_owned), byte)
        };
        let line = |text: &str| Some(text.to_owned());
        assert_eq!(found("ab\r\ncd", 1, 2), (line("ab"), Some(1)));
        assert_eq!(found("ab\ncd", 2, 2), (line("cd"), Some(4)));
        assert_eq!(found("ab\ncd", 2, 9), (line("cd"), Some(5)));
        assert_eq!(found("äb\néd", 2, 2), (line("éd"), Some(6)));
        assert_eq!(found("äb\n", 2, 9), (None, Some(4)));
        assert_eq!(found("ab", 2, 1), (None, Some(2)));
        assert_eq!(found("ab", 3, 1), (None, None));
        assert_eq!(found("ab", 0, 1), (None, None));
    }
}

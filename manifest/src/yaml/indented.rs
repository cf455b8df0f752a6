//! Lines within quotes and brackets that are indented less than YAML requires. `go.yaml.in/yaml/v2` reads them; the parser refuses them.

use granit_parser::{Marker, Span};

/// The maximum number of bytes that are parsed anew for the strings of one text.
pub(super) const MAX_PARSED: usize = 64 << 20;

/// What contains a line that is indented less than YAML requires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Within {
    Quotes,
    Brackets,
}

/// A text in which lines within quotes and brackets are indented further. The indentation of such a line is not part of the string.
#[derive(Debug, Default)]
pub(super) struct Indented {
    /// The indented lines as the parser counts them, and the byte of the original text at which each begins. Sorted.
    lines: Vec<(usize, usize)>,
    /// The number of spaces in front of each of these lines.
    width: usize,
    text: String,
}

impl Indented {
    /// The text to parse instead of `original`.
    pub(super) fn text<'t>(&'t self, original: &'t str) -> &'t str {
        match self.lines.is_empty() {
            true => original,
            false => &self.text,
        }
    }

    /// The number of the last line that is indented further; 0 if there is none.
    pub(super) fn last_line(&self) -> usize {
        self.lines.last().map_or(0, |(line, _)| *line)
    }

    /// Indents a line, and the lines below that are certainly within the same quotes. `place` is the first character of the line
    /// after its indentation, in the text that was parsed. `budget` is the number of bytes that may be parsed. Returns false if this does not
    /// help.
    pub(super) fn indent(
        &mut self,
        original: &str,
        place: &Marker,
        within: Within,
        budget: &mut usize,
    ) -> bool {
        let Some(byte) = self.original(place).byte_offset() else {
            return false;
        };
        let above = original.get(..byte).unwrap_or_default();
        let mut begin = above.trim_end_matches([' ', '\t']).len();
        let mut line = place.line();
        let is_indented = self.lines.binary_search(&(line, begin)).is_ok();
        let rest = original.get(begin..).unwrap_or_default();
        if is_indented || rest.is_empty() {
            return false;
        }
        self.width = self.width.max(widest(above).saturating_add(1));
        for text in rest.split_inclusive('\n') {
            self.lines.push((line, begin));
            // After another quote or a line break of another kind, the lines below may be outside of the quotes.
            let is_last = within == Within::Brackets
                || text.contains(['"', '\''])
                || text.trim_end_matches("\r\n").contains('\r');
            begin = begin.saturating_add(text.len());
            line = line.saturating_add(1);
            let below = original.get(begin..).unwrap_or_default();
            if is_last || is_end_of_document(below) {
                break;
            }
        }
        self.lines.sort_unstable();
        self.lines.dedup();
        let added = self.lines.len().saturating_mul(self.width);
        match budget.checked_sub(original.len().saturating_add(added)) {
            Some(left) => *budget = left,
            None => return false,
        }
        self.text.clear();
        let mut end = 0;
        for (_, begin) in &self.lines {
            self.text
                .push_str(original.get(end..*begin).unwrap_or_default());
            self.text.extend(std::iter::repeat_n(' ', self.width));
            end = *begin;
        }
        self.text.push_str(original.get(end..).unwrap_or_default());
        true
    }

    /// The place in the original text.
    pub(super) fn original(&self, place: &Marker) -> Marker {
        let above = self.lines.partition_point(|(line, _)| *line < place.line());
        let here = self
            .lines
            .get(above)
            .is_some_and(|(line, _)| *line == place.line());
        let added = above.saturating_add(here.into()).saturating_mul(self.width);
        let column = match here {
            true => place.col().saturating_sub(self.width),
            false => place.col(),
        };
        Marker::new(place.index().saturating_sub(added), place.line(), column)
            .with_byte_offset(place.byte_offset().map(|byte| byte.saturating_sub(added)))
    }

    /// The range in the original text.
    pub(super) fn original_span(&self, span: &Span) -> Span {
        Span::new(self.original(&span.start), self.original(&span.end))
    }
}

/// Whether a line is `...`, which ends a document.
fn is_end_of_document(line: &str) -> bool {
    let rest = line.strip_prefix("...");
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t', '\r', '\n']))
}

/// The greatest column at which a list or map of a text can begin.
fn widest(text: &str) -> usize {
    let indentation = |line: &str| {
        let rest = line.trim_start_matches([' ', '-', '?']);
        line.len().saturating_sub(rest.len())
    };
    text.lines().map(indentation).max().unwrap_or_default()
}

//! Finds where a character of a parsed scalar is in the file. In the file, the scalar may have folded lines, escapes and quotes, which
//! parsing removes.

use crate::place::{Place, Range};
use crate::problem::Suggestion;
use crate::source::Source;

/// The notation of a scalar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// YAML without quotes, over several lines.
    Plain,
    /// YAML in single quotes.
    Single,
    /// YAML in double quotes.
    Double,
    /// A YAML block with folded lines. `column` is the column of its lines, from 1. `breaks` is the number of line breaks at the beginning
    /// of the parsed text; in the file, the parser places the scalar after these line breaks.
    Folded { column: u32, breaks: u32 },
    /// A JSON string.
    Json,
}

/// Converts a line and column of a parsed scalar (both from 1) to a place in the file. `source` is the scalar in the file, with its quotes;
/// `start` is the place of the scalar. `None` if the parsed text has no such line and column.
pub(crate) fn place_of(
    source: &str,
    start: Place,
    style: Style,
    line: u32,
    column: u32,
) -> Option<Place> {
    let mut walk = WrittenWalk {
        rest: source,
        place: start,
        wanted: (line, column),
        written: (1, 1),
    };
    match style {
        Style::Folded { column, breaks } => {
            walk.written.0 = breaks.saturating_add(1);
            walk.folded(column)
        }
        Style::Plain => walk.flow(None, false),
        Style::Single => walk.quoted('\'', true),
        Style::Double => walk.quoted('"', true),
        Style::Json => walk.quoted('"', false),
    }
}

/// A walk over a scalar as it is written in the file. It tracks the line and column in the scalar's value, after escapes and folding.
struct WrittenWalk<'s> {
    rest: &'s str,
    /// The position of `rest` in the file.
    place: Place,
    wanted: (u32, u32),
    /// The line and column of the next character in the parsed text.
    written: (u32, u32),
}

impl WrittenWalk<'_> {
    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn step(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let c = chars.next()?;
        self.rest = chars.as_str();
        match c {
            '\n' => {
                self.place.line = self.place.line.saturating_add(1);
                self.place.column = 1;
            }
            _ => self.place.column = self.place.column.saturating_add(1),
        }
        Some(c)
    }

    /// Records that a character of the parsed text begins at `from`. Returns `from` if the character has the wanted line and column.
    fn write(&mut self, c: char, from: Place) -> Option<Place> {
        let found = (self.written == self.wanted).then_some(from);
        self.written = match c {
            '\n' => (self.written.0.saturating_add(1), 1),
            _ => (self.written.0, self.written.1.saturating_add(1)),
        };
        found
    }

    /// The current place in the file, if the wanted line and column are the end of the parsed text.
    fn end(&self) -> Option<Place> {
        (self.written == self.wanted).then_some(self.place)
    }

    fn quoted(&mut self, quote: char, folds: bool) -> Option<Place> {
        self.step();
        self.flow(Some(quote), !folds)
    }

    /// Walks over a plain or quoted scalar. Its line breaks are folded unless `verbatim` is true.
    fn flow(&mut self, quote: Option<char>, verbatim: bool) -> Option<Place> {
        while let Some(c) = self.peek() {
            let from = self.place;
            if Some(c) == quote {
                if quote == Some('\'') && self.rest.starts_with("''") {
                    self.step();
                    self.step();
                    if let Some(found) = self.write('\'', from) {
                        return Some(found);
                    }
                    continue;
                }
                break;
            }
            if c == '\\' && quote == Some('"') {
                if let Some(found) = self.escape(from) {
                    return Some(found);
                }
                continue;
            }
            if !verbatim && self.at_break() {
                if let Some(found) = self.fold(from) {
                    return Some(found);
                }
                continue;
            }
            self.step();
            if let Some(found) = self.write(c, from) {
                return Some(found);
            }
        }
        self.end()
    }

    /// Whether only blanks follow before the end of the line.
    fn at_break(&self) -> bool {
        let rest = self.rest.trim_start_matches([' ', '\t', '\r']);
        rest.starts_with('\n')
    }

    /// Reads line breaks with the blanks around them. A single break stands for a space, and `n` breaks for `n - 1` line breaks.
    fn fold(&mut self, from: Place) -> Option<Place> {
        let mut breaks = 0_u32;
        while let Some(c @ (' ' | '\t' | '\r' | '\n')) = self.peek() {
            breaks = breaks.saturating_add(u32::from(c == '\n'));
            self.step();
        }
        match breaks {
            1 => self.write(' ', from),
            breaks => (1..breaks).find_map(|_| self.write('\n', from)),
        }
    }

    fn escape(&mut self, from: Place) -> Option<Place> {
        self.step();
        let digits = match self.step()? {
            'x' => 2,
            'u' => 4,
            'U' => 8,
            'n' => return self.write('\n', from),
            '\r' | '\n' => {
                while let Some(' ' | '\t' | '\n') = self.peek() {
                    self.step();
                }
                return None;
            }
            _ => return self.write(' ', from),
        };
        let code = self.rest.get(..digits).unwrap_or_default();
        let code = u32::from_str_radix(code, 16).unwrap_or_default();
        (0..digits).for_each(|_| _ = self.step());
        match code {
            // The second half of a surrogate pair forms one character with the first.
            0xDC00..=0xDFFF => None,
            0x0A => self.write('\n', from),
            _ => self.write(' ', from),
        }
    }

    /// The number of characters of the line break that comes next, if one does.
    fn line_break(&self) -> Option<usize> {
        let mut breaks = ["\n", "\r\n"].into_iter();
        breaks
            .find(|text| self.rest.starts_with(*text))
            .map(str::len)
    }

    /// Walks over a folded block. Lines that are indented further keep their line breaks.
    fn folded(&mut self, column: u32) -> Option<Place> {
        let mut breaks = 0_u32;
        let mut before_is_indented = None;
        while self.peek().is_some() {
            let line = self.rest.split('\n').next().unwrap_or_default();
            let indentation = usize::try_from(column.saturating_sub(self.place.column));
            let blank = line.chars().take_while(|c| *c == ' ').count();
            let skipped = blank.min(indentation.unwrap_or(0));
            (0..skipped).for_each(|_| _ = self.step());
            if let Some(length) = self.line_break() {
                breaks = breaks.saturating_add(1);
                (0..length).for_each(|_| _ = self.step());
                continue;
            }
            let is_indented = matches!(self.peek(), Some(' ' | '\t'));
            let from = self.place;
            let found = match before_is_indented {
                None => (0..breaks).find_map(|_| self.write('\n', from)),
                Some(before) if before || is_indented => {
                    (0..breaks).find_map(|_| self.write('\n', from))
                }
                Some(_) if breaks == 1 => self.write(' ', from),
                Some(_) => (1..breaks).find_map(|_| self.write('\n', from)),
            };
            if found.is_some() {
                return found;
            }
            while let (Some(c), None) = (self.peek(), self.line_break()) {
                let from = self.place;
                self.step();
                if let Some(found) = self.write(c, from) {
                    return Some(found);
                }
            }
            breaks = 0;
            before_is_indented = Some(is_indented);
        }
        self.end()
    }
}

/// The lines of an item of a block list, from the beginning of the first to the beginning of the line after the last; `None` if the item
/// seems to have an anchor. The value of the item begins at the place `value`.
pub(crate) fn lines_of_item(source: &Source, value: Place) -> Option<Range> {
    let column = usize::try_from(value.column).ok()?.checked_sub(1)?;
    let mut lines = source.from_line(value.line)?.lines();
    let before: String = lines.next()?.chars().take(column).collect();
    let dash = before.find('-')?;
    let is_alone = |text: Option<&str>| text.is_some_and(|text| text.trim().is_empty());
    let after = before.get(dash.saturating_add(1)..);
    if !is_alone(before.get(..dash)) || !is_alone(after) {
        return None;
    }
    let mut last = value.line;
    for (line, n) in lines.zip(value.line.saturating_add(1)..) {
        let text = line.trim_start_matches(' ');
        if text.trim().is_empty() {
            continue;
        }
        if line.len().saturating_sub(text.len()) <= dash {
            break;
        }
        last = n;
    }
    let beginning = |line| Place { line, column: 1 };
    let (start, end) = (beginning(value.line), beginning(last.saturating_add(1)));
    let text = source.get(source.byte_of(start)?..source.byte_of(end)?)?;
    // An alias below may name an anchor of the item.
    let mut words = text.split_whitespace();
    let has_anchor = words.any(|word| word.starts_with('&') && !word.starts_with("&&"));
    (!has_anchor).then_some(Range { start, end })
}

/// Removes a field whose value is a block list of one item; `item` are the lines of the item. Comments above the item are kept. `None` if
/// something else is written on the line of the key, such as an anchor.
pub(crate) fn without_field(source: &Source, key: Range, item: Range) -> Option<Suggestion> {
    let start = Place {
        column: 1,
        ..key.start
    };
    let [first, after_key, end] = [start, key.end, item.start].map(|place| source.byte_of(place));
    let before = source.get(first?..source.byte_of(key.start)?)?;
    let above_item = source.get(after_key?..end?)?;
    let (colon, rest) = above_item.split_once(':')?;
    let mut lines = rest.split_inclusive('\n');
    let beside = lines.next()?.trim_start();
    let is_plain = before.trim().is_empty() && colon.trim().is_empty();
    if !is_plain || !(beside.is_empty() || beside.starts_with('#')) {
        return None;
    }
    let mut replacement = String::new();
    if !beside.is_empty() {
        replacement = format!("{before}{beside}");
    }
    replacement.extend(lines.filter(|line| line.trim_start().starts_with('#')));
    Some(Suggestion {
        range: Range {
            start,
            end: item.end,
        },
        replacement,
    })
}

//! Finds brackets and quotes that are never closed; parsers report them at a later place.

use crate::place::Place;
use crate::problem::{Problem, rule};

/// A token, by its role for finding unclosed brackets and quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lexeme {
    /// A single character, such as a bracket.
    Character,
    /// A string, a comment or other text in which brackets have no meaning, with its length in bytes.
    Opaque(usize),
    /// A string that is never closed.
    Unclosed,
}

/// The unclosed brackets and quotes of a text, as byte offsets, the innermost last. `lexeme` returns the token that begins at a byte offset
/// of the text.
pub fn unclosed(text: &str, lexeme: impl Fn(&str, usize) -> Lexeme) -> Vec<usize> {
    let mut open: Vec<(usize, char)> = Vec::new();
    let mut skipped = 0;
    for (at, c) in text.char_indices() {
        if at < skipped {
            continue;
        }
        match lexeme(text, at) {
            Lexeme::Unclosed => return vec![at],
            Lexeme::Opaque(length) => {
                skipped = at.saturating_add(length);
                continue;
            }
            Lexeme::Character => {}
        }
        match c {
            '(' => open.push((at, ')')),
            '[' => open.push((at, ']')),
            '{' => open.push((at, '}')),
            ')' | ']' | '}' => match open.pop() {
                Some((_, closing)) if closing == c => {}
                // The innermost open bracket does not match this bracket.
                Some((at, _)) => return vec![at],
                None => return Vec::new(),
            },
            _ => {}
        }
    }
    open.into_iter().map(|(at, _)| at).collect()
}

/// The line and column of a byte of a text.
pub fn place_of(text: &str, byte: usize) -> Place {
    let above = text.get(..byte).unwrap_or(text);
    let line = above.matches('\n').count().saturating_add(1);
    let last = above.rsplit('\n').next().unwrap_or_default();
    Place::new(line, last.chars().count().saturating_add(1))
}

/// Moves a syntax error of JSON to the unclosed bracket or quote that caused it, if there is one.
pub(crate) fn in_json(problem: Problem, text: &str) -> Problem {
    let lexeme = |text: &str, at: usize| quoted(text, at, &['"'], |c| c == '\n');
    let byte = unclosed(text, lexeme).last().copied();
    let part = Part {
        text,
        ..Part::default()
    };
    part.opened(problem, byte)
}

/// A part of a file.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Part<'t> {
    pub(crate) text: &'t str,
    /// The number of lines in front of this part.
    pub(crate) lines_above: usize,
    /// The number of bytes in front of this part.
    pub(crate) bytes_above: usize,
}

impl Part<'_> {
    /// Moves a syntax error of YAML to the unclosed bracket that caused it, if there is one. `bracket` is the innermost open bracket at the
    /// error.
    pub(crate) fn in_flow(self, problem: Problem, bracket: Option<Place>) -> Problem {
        let from = bracket.and_then(|place| self.byte_of(place));
        let rest = from.and_then(|from| self.text.get(from..));
        let is_flow = |rest: &&str| rest.starts_with(['[', '{']);
        let unclosed = rest.filter(is_flow).map(|rest| unclosed(rest, yaml));
        let byte = unclosed.and_then(|unclosed| unclosed.first()?.checked_add(from?));
        self.opened(problem, byte)
    }

    /// Moves a syntax error of YAML to the unclosed quote that caused it, if there is one. This is the first quote after `end`, the byte
    /// up to which the text could be read, unless it is closed on its own line.
    pub(crate) fn in_quotes(self, problem: Problem, end: usize) -> Problem {
        let rest = self.text.get(end..).unwrap_or_default();
        let quotes = rest.char_indices().filter(|(_, c)| matches!(c, '"' | '\''));
        let mut quotes = quotes.map(|(at, _)| at.saturating_add(end));
        let first = quotes.find(|at| begins(self.text, *at));
        let is_closed = |at| quoted(self.text, at, &['"', '\''], |c| c == '\n') != Lexeme::Unclosed;
        self.opened(problem, first.filter(|at| !is_closed(*at)))
    }

    /// Moves the problem to the unclosed quote or bracket at `byte`; `None` leaves the problem unchanged.
    fn opened(self, problem: Problem, byte: Option<usize>) -> Problem {
        let opener = byte.and_then(|byte| self.text.get(byte..)?.chars().next());
        let Some((byte, opener)) = byte.zip(opener) else {
            return problem;
        };
        let place = place_of(self.text, byte);
        let lines_above = u32::try_from(self.lines_above).unwrap_or(u32::MAX);
        let place = Place {
            line: place.line.saturating_add(lines_above),
            ..place
        };
        let noticed = match problem.range {
            Some(range) if range.start == place => String::new(),
            Some(range) => format!(" ({} at {})", problem.message, range.start),
            None => format!(" ({})", problem.message),
        };
        let message = format!("this {opener} is not closed{noticed}");
        Problem::new(rule::SYNTAX, message).at(place)
    }

    fn byte_of(self, place: Place) -> Option<usize> {
        let line = usize::try_from(place.line).ok()?;
        let above = line.checked_sub(1)?.checked_sub(self.lines_above)?;
        let column = usize::try_from(place.column).ok()?.checked_sub(1)?;
        let lines = self.text.split_inclusive('\n');
        let start: usize = lines.take(above).map(str::len).sum();
        let (within, _) = self.text.get(start..)?.char_indices().nth(column)?;
        start.checked_add(within)
    }
}

/// Whether YAML with this text above is within brackets.
pub(crate) fn is_in_brackets(above: &str) -> bool {
    !unclosed(above, yaml).is_empty()
}

fn yaml(text: &str, at: usize) -> Lexeme {
    let rest = text.get(at..).unwrap_or_default();
    match rest.chars().next() {
        Some('"' | '\'') if begins(text, at) => quoted(text, at, &['"', '\''], |_| false),
        Some('#') if begins(text, at) => Lexeme::Opaque(rest.find('\n').unwrap_or(rest.len())),
        _ => Lexeme::Character,
    }
}

/// Whether a scalar may begin at a byte of a YAML text.
fn begins(text: &str, at: usize) -> bool {
    let before = text.get(..at).and_then(|before| before.chars().next_back());
    before.is_none_or(|c| c.is_whitespace() || matches!(c, '[' | '{' | ',' | ':'))
}

/// The token of the quoted string that begins at byte `at`. If a character for which `ends` is true comes before the closing quote, the
/// string is unclosed.
fn quoted(text: &str, at: usize, quotes: &[char], ends: fn(char) -> bool) -> Lexeme {
    let mut rest = text.get(at..).unwrap_or_default().char_indices().peekable();
    let Some((_, quote)) = rest.next().filter(|(_, c)| quotes.contains(c)) else {
        return Lexeme::Character;
    };
    let mut is_escaped = false;
    while let Some((length, c)) = rest.next() {
        match c {
            _ if ends(c) => return Lexeme::Unclosed,
            _ if is_escaped => is_escaped = false,
            '\\' if quote == '"' => is_escaped = true,
            // In single quotes, YAML escapes a quote by doubling it.
            '\'' if quote == '\'' && rest.next_if(|(_, next)| *next == '\'').is_some() => {}
            _ if c == quote => return Lexeme::Opaque(length.saturating_add(1)),
            _ => {}
        }
    }
    Lexeme::Unclosed
}

#[cfg(test)]
mod tests {
    use crate::{Format, read};

    #[test]
    fn unclosed_brackets_are_reported_where_they_open() {
        let check = |text: &str, format: Format, expected: &str| {
            let problem = read(text, format).problems.remove(0);
            assert_eq!(problem.to_string(), expected, "{text}");
        };
        let yaml = |text: &str, expected: &str| check(text, Format::Yaml, expected);
        yaml(
            "a: 1\nb: [1, 2\nc: 3\n",
            "2:4: this [ is not closed (illegal placement of ':' indicator at 3:2)",
        );
        yaml(
            "a: {b: it's\nc: [3]\n",
            "1:4: this { is not closed (while parsing a flow mapping, did not find expected ',' or '}' at 2:2)",
        );
        yaml(
            "é: it's\na: \"x\nb: \"y\"\n",
            "2:4: this \" is not closed (invalid trailing content after double-quoted scalar at 3:5)",
        );
        yaml("a: 'x\n---\nb: 1\n", "1:4: this ' is not closed");
        yaml(
            "a:\n  \"x\" y\n",
            "2:7: invalid trailing content after double-quoted scalar",
        );
        yaml(
            "a: ['it''s [x', 1\nb: 2\n",
            "1:4: this [ is not closed (illegal placement of ':' indicator at 2:2)",
        );
        // The bracket is closed; the error has another cause.
        yaml(
            "a: [1, \"\\q\", 2]\n",
            "1:8: while parsing a quoted scalar, found unknown escape character",
        );
        // Brackets are searched only in the document that has the error.
        yaml("a: 1\n---\nb: [\n---\nc: ]\n", "3:4: this [ is not closed");
        let json = |text: &str, expected: &str| check(text, Format::Json, expected);
        json(
            "{\"a\": [1, 2, \"b]\": 3}",
            "1:7: this [ is not closed (expected `,` or `]` at 1:18)",
        );
        json(
            "{\"a\": \"x\n}",
            "1:7: this \" is not closed (control character (\\u0000-\\u001F) found while parsing a string at 2:1)",
        );
        json("{\"a\": 01}", "1:8: invalid number");
    }
}

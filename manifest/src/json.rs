//! Reads JSON and the place of each value. `serde_json` reads the values. A second pass over the text, which is now known to be valid,
//! finds the places.

use std::collections::BTreeMap;

use gavel_apimachinery::json;

use crate::layout::{Node, TextLines};
use crate::place::{Place, Range};
use crate::problem::{Problem, duplicate_key, rule};
use crate::source::Source;
use crate::written::Style;
use crate::{Document, Reading, unclosed};

/// Reads the values of a text, one after the other.
pub(crate) fn read(text: &str) -> Reading {
    let values = match json::read_stream(text.as_bytes()) {
        Ok(values) => values,
        Err(error) => {
            return Reading {
                problems: vec![problem(text, &error)],
                ..Reading::default()
            };
        }
    };
    let mut walk = Walk::new(text);
    let documents: Vec<Document> = values
        .into_iter()
        .map(|value| {
            let layout = walk.value();
            Document {
                // kubectl writes no decimal point when it sends what it has read.
                value: json::with_whole_numbers(value),
                layout,
                duplicates: std::mem::take(&mut walk.duplicates),
                file: None,
                source: None,
            }
        })
        .collect();
    let source = walk.has_escapes.then(|| Source::new(text));
    let documents = documents.into_iter().map(|document| Document {
        source: source.clone(),
        ..document
    });
    Reading {
        documents: documents
            .filter(|document| !document.value.is_null())
            .collect(),
        problems: Vec::new(),
    }
}

/// The problem of a JSON text that cannot be read, by the error of the reader. The column counts bytes; [`read`](crate::read), which knows
/// the text, counts characters.
pub fn json_problem(error: &serde_json::Error) -> Problem {
    let (line, column) = (error.line(), error.column());
    let message = error.to_string();
    // serde_json's message ends with the place, which Gavel prints before the message.
    let place = format!(" at line {line} column {column}");
    let message = message.strip_suffix(&place).unwrap_or(&message);
    Problem::new(rule::SYNTAX, message).at(Place::new(line.max(1), column.max(1)))
}

fn problem(text: &str, error: &serde_json::Error) -> Problem {
    let (line, column) = (error.line(), error.column());
    let before = text.lines().nth(line.saturating_sub(1)).unwrap_or_default();
    let column = before.char_indices().filter(|(at, _)| *at < column).count();
    let problem = json_problem(error).at(Place::new(line, column.max(1)));
    unclosed::in_json(problem, text)
}

/// A walk over a text that is JSON.
struct Walk<'t> {
    rest: &'t str,
    place: Place,
    duplicates: Vec<Problem>,
    length: usize,
    has_escapes: bool,
}

impl<'t> Walk<'t> {
    fn new(text: &'t str) -> Self {
        Walk {
            length: text.len(),
            has_escapes: false,
            rest: text,
            place: Place::START,
            duplicates: Vec::new(),
        }
    }

    /// The places of the next value. Recurses into nested values; the reader has limited their depth.
    fn value(&mut self) -> Node {
        let mut next = self.next_token();
        let place = self.place;
        match next {
            Some('{') => {
                self.step();
                let (mut nodes, mut keys) = (BTreeMap::new(), BTreeMap::new());
                next = self.next_token();
                while next == Some('"') {
                    let at = self.place;
                    let name: String = serde_json::from_str(self.text()).unwrap_or_default();
                    let key = self.since(at);
                    match keys.get(&name) {
                        Some(first) => {
                            self.duplicates.push(duplicate_key(&name, at, *first));
                        }
                        None => {
                            keys.insert(name.clone(), at);
                        }
                    }
                    self.skip(':');
                    nodes.insert(name, self.value().below(key));
                    self.skip(',');
                    next = self.next_token();
                }
                self.skip('}');
                Node::map(self.since(place), nodes)
            }
            Some('[') => {
                self.step();
                let mut nodes = Vec::new();
                while !matches!(self.next_token(), None | Some(']')) {
                    nodes.push(self.value());
                    self.skip(',');
                }
                self.skip(']');
                Node::list(self.since(place), nodes)
            }
            Some('"') => {
                let start = self.at();
                let has_escapes = self.text().contains('\\');
                self.has_escapes |= has_escapes;
                let lines = match has_escapes {
                    true => TextLines::Written {
                        start,
                        end: self.at(),
                        style: Style::Json,
                    },
                    false => TextLines::One { offset: 1 },
                };
                Node::text(self.since(place), lines)
            }
            _ => {
                while self
                    .rest
                    .starts_with(|c: char| c.is_ascii_alphanumeric() || "+-.".contains(c))
                {
                    self.step();
                }
                Node::leaf(self.since(place))
            }
        }
    }

    /// The byte position in the text.
    fn at(&self) -> usize {
        self.length.saturating_sub(self.rest.len())
    }

    /// The range from a place to the current position.
    fn since(&self, start: Place) -> Range {
        Range {
            start,
            end: self.place,
        }
    }

    /// The first character of the next token.
    fn next_token(&mut self) -> Option<char> {
        while self.rest.starts_with([' ', '\t', '\n', '\r']) {
            self.step();
        }
        self.rest.chars().next()
    }

    fn skip(&mut self, token: char) {
        if self.next_token() == Some(token) {
            self.step();
        }
    }

    /// Reads a string with its quotes.
    fn text(&mut self) -> &'t str {
        let before = self.rest;
        self.step();
        while let Some(c) = self.step() {
            match c {
                '\\' => {
                    self.step();
                }
                '"' => break,
                _ => {}
            }
        }
        let length = before.len().saturating_sub(self.rest.len());
        before.get(..length).unwrap_or_default()
    }

    fn step(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let c = chars.next()?;
        self.rest = chars.as_str();
        self.place = match c {
            '\n' => Place {
                line: self.place.line.saturating_add(1),
                column: 1,
            },
            _ => Place {
                line: self.place.line,
                column: self.place.column.saturating_add(1),
            },
        };
        Some(c)
    }
}

//! Reads YAML as JSON values with places, as `go.yaml.in/yaml/v2` decodes YAML into untyped values.

use granit_parser::{ErrorKind, Event, Marker, Parser, ScanError};

use crate::Reading;
use crate::place::{Place, Range};
use crate::problem::{Problem, rule};
use crate::source::Source;
use crate::unclosed::Part;

mod builder;
mod indented;
mod scalar;

use builder::Builder;
use indented::Indented;

/// Reads the documents of a text, except empty ones. If a document cannot be read, reading continues at the next `---`.
pub(crate) fn read(text: &str) -> Reading {
    let mut reading = Reading::default();
    let mut budget = indented::MAX_PARSED;
    let mut next = Some(Section {
        text,
        lines_above: 0,
        bytes_above: 0,
    });
    while let Some(section) = next
        && let Err(stopped) = read_section(section, &Indented::default(), &mut reading)
    {
        let line = stopped.line().saturating_sub(section.lines_above);
        let Some(place) = stopped.less_indented else {
            reading.problems.push(stopped.problem);
            next = section.after(line);
            continue;
        };
        reading.problems.truncate(stopped.problems_above);
        let document = section.document_at(place.line());
        next = match read_document(document, &mut budget, &mut reading) {
            Ok(()) => section.behind(document),
            Err(problem) => {
                reading.problems.push(problem);
                section.after(line)
            }
        };
    }
    let source = Source::new(text);
    for document in &mut reading.documents {
        document.source = Some(source.clone());
    }
    reading
}

/// One or several documents of a text.
#[derive(Clone, Copy)]
struct Section<'t> {
    text: &'t str,
    lines_above: usize,
    bytes_above: usize,
}

impl<'t> Section<'t> {
    /// The document in which line number `line` is, from 1.
    fn document_at(self, line: usize) -> Section<'t> {
        let (mut lines, mut begin, mut end) = (0, 0, 0_usize);
        for (n, text) in self.text.split_inclusive('\n').enumerate() {
            let (is_begin, is_end) = (is_marker(text, "---"), is_marker(text, "..."));
            if (is_begin || is_end) && n >= line {
                break;
            }
            if is_begin {
                (lines, begin) = (n, end);
            }
            end = end.saturating_add(text.len());
            if is_end {
                (lines, begin) = (n.saturating_add(1), end);
            }
        }
        Section {
            text: self.text.get(begin..end).unwrap_or_default(),
            ..self.from(begin, lines)
        }
    }

    /// The documents behind a document of this section.
    fn behind(self, document: Section<'t>) -> Option<Section<'t>> {
        let above = document.bytes_above.saturating_sub(self.bytes_above);
        let lines = document.lines_above.saturating_sub(self.lines_above);
        let lines = lines.saturating_add(document.text.split_inclusive('\n').count());
        let rest = self.from(above.saturating_add(document.text.len()), lines);
        Some(rest).filter(|rest| !rest.text.is_empty())
    }

    /// The section without its first bytes, which have this number of lines.
    fn from(self, byte: usize, lines: usize) -> Section<'t> {
        Section {
            text: self.text.get(byte..).unwrap_or_default(),
            lines_above: self.lines_above.saturating_add(lines),
            bytes_above: self.bytes_above.saturating_add(byte),
        }
    }

    /// The documents from the first `---` after line number `line`.
    fn after(self, line: usize) -> Option<Section<'t>> {
        let mut byte = 0_usize;
        for (n, text) in self.text.split_inclusive('\n').enumerate() {
            if n >= line && is_marker(text, "---") {
                return Some(self.from(byte, n));
            }
            byte = byte.saturating_add(text.len());
        }
        None
    }
}

/// Why a document cannot be read.
struct Stopped {
    problem: Problem,
    /// The place of a line within quotes that is indented less than YAML requires, if that is the reason.
    less_indented: Option<Marker>,
    /// The number of problems of the documents above.
    problems_above: usize,
}

impl Stopped {
    /// The line of the problem in the whole text.
    fn line(&self) -> usize {
        let line = self.problem.range.map_or(0, |range| range.start.line);
        usize::try_from(line).unwrap_or(usize::MAX)
    }
}

/// Reads one document, whose lines within quotes may be indented less than YAML requires, and appends it to `reading`. `budget` is the number
/// of bytes that may be parsed.
fn read_document(
    document: Section<'_>,
    budget: &mut usize,
    reading: &mut Reading,
) -> Result<(), Problem> {
    let mut indented = Indented::default();
    let mut first: Option<Problem> = None;
    let documents_above = reading.documents.len();
    loop {
        let Err(stopped) = read_section(document, &indented, reading) else {
            return Ok(());
        };
        // If the document cannot be read past the line on which its quotes seem to end, these quotes probably are not closed.
        let is_past = stopped.line() > document.lines_above.saturating_add(indented.last_line());
        let reported = first.take().filter(|_| !is_past);
        let reported = reported.unwrap_or(stopped.problem);
        let place = stopped.less_indented;
        if !place.is_some_and(|place| indented.indent(document.text, &place, budget)) {
            return Err(reported);
        }
        first = Some(reported);
        reading.documents.truncate(documents_above);
        reading.problems.truncate(stopped.problems_above);
    }
}

/// Appends the documents of a section, in which some lines are indented further, to `reading`. Stops at the first document that cannot be
/// read.
fn read_section(
    section: Section<'_>,
    indented: &Indented,
    reading: &mut Reading,
) -> Result<(), Box<Stopped>> {
    let Section {
        text,
        lines_above,
        bytes_above,
    } = section;
    let mut builder = Builder::new(text, lines_above, bytes_above);
    let mut end = 0;
    let mut problems_above = reading.problems.len();
    for event in Parser::new_from_str(indented.text(text)) {
        let (event, span) = event.map_err(|error| {
            let problem = scan_problem(&error, &indented.original(error.marker()), lines_above);
            // Only the document at fault is searched, so that each document is searched once.
            let after = section.after(error.marker().line());
            let document = text.strip_suffix(after.map_or("", |after| after.text));
            let document = Part {
                text: document.unwrap_or(text),
                lines_above,
            };
            let problem = match error.kind() {
                ErrorKind::UnclosedQuotedScalar
                | ErrorKind::DocumentIndicatorInQuotedScalar
                | ErrorKind::InvalidQuotedScalarIndent => document.in_quotes(problem, end),
                _ => document.in_flow(problem, builder.innermost()),
            };
            let byte = error.marker().byte_offset().unwrap_or_default();
            let line = indented.text(text).get(byte..).unwrap_or_default();
            let ends_document =
                error.marker().col() == 0 && (is_marker(line, "---") || is_marker(line, "..."));
            let is_less_indented =
                error.kind() == &ErrorKind::InvalidQuotedScalarIndent && !ends_document;
            Box::new(Stopped {
                problem,
                less_indented: is_less_indented.then(|| *error.marker()),
                problems_above,
            })
        })?;
        let span = indented.original_span(&span);
        let read = span.end.byte_offset().unwrap_or_default();
        end = end.max(read);
        let is_end = matches!(event, Event::DocumentEnd);
        let document = builder.event(event, span).map_err(|problem| {
            Box::new(Stopped {
                problem,
                less_indented: None,
                problems_above,
            })
        })?;
        reading.problems.append(&mut builder.problems);
        reading.documents.extend(document);
        if is_end {
            problems_above = reading.problems.len();
        }
    }
    Ok(())
}

/// Whether a line begins with a marker of documents: `---` or `...`, without more of a word behind it.
fn is_marker(line: &str, marker: &str) -> bool {
    let rest = line.strip_prefix(marker);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t', '\r', '\n']))
}

fn scan_problem(error: &ScanError, marker: &Marker, lines_above: usize) -> Problem {
    let line = marker.line().saturating_add(lines_above);
    let place = Place::new(line, marker.col().saturating_add(1));
    syntax(place, error.info())
}

fn syntax(range: impl Into<Range>, message: impl Into<String>) -> Problem {
    Problem::new(rule::SYNTAX, message).at(range)
}

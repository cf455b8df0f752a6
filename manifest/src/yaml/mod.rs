//! Reads YAML as JSON values with places, as `go.yaml.in/yaml/v2` decodes YAML into untyped values.

use granit_parser::{ErrorKind, Marker, Parser, ScanError};

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
    let (mut rest, mut lines_above) = (text, 0);
    while let Err(problem) = read_documents(text, rest, lines_above, &mut reading) {
        let line = problem.range.map_or(0, |range| range.start.line);
        reading.problems.push(problem);
        let line = usize::try_from(line).unwrap_or(usize::MAX);
        let Some((next, lines)) = next_document(rest, line.saturating_sub(lines_above)) else {
            break;
        };
        rest = next;
        lines_above = lines_above.saturating_add(lines);
    }
    let source = Source::new(text);
    for document in &mut reading.documents {
        document.source = Some(source.clone());
    }
    reading
}

/// Appends the documents in `text` to `reading`. Stops at the first document that cannot be read, and returns its problem.
fn read_documents(
    whole: &str,
    text: &str,
    lines_above: usize,
    reading: &mut Reading,
) -> Result<(), Problem> {
    let mut indented = Indented::default();
    let mut first: Option<Problem> = None;
    loop {
        let read = (reading.documents.len(), reading.problems.len());
        let Err(stopped) = read_indented(whole, text, lines_above, &indented, reading) else {
            return Ok(());
        };
        let (problem, error) = *stopped;
        // If a text cannot be read past the line on which its quotes seem to end, these quotes probably are not closed.
        let line = problem.range.map(|range| range.start.line);
        let last = indented.last_line().saturating_add(lines_above);
        let is_past = line.and_then(|line| usize::try_from(line).ok()) > Some(last);
        let reported = first.take().filter(|_| !is_past).unwrap_or(problem);
        let error = error.filter(|error| error.kind() == &ErrorKind::InvalidQuotedScalarIndent);
        let is_indented = error.is_some_and(|error| indented.indent(text, error.marker()));
        if !is_indented {
            return Err(reported);
        }
        first = Some(reported);
        reading.documents.truncate(read.0);
        reading.problems.truncate(read.1);
    }
}

/// Like [`read_documents`], with some lines indented further. Of an error of the parser, also returns the parser's own error.
fn read_indented(
    whole: &str,
    text: &str,
    lines_above: usize,
    indented: &Indented,
    reading: &mut Reading,
) -> Result<(), Box<(Problem, Option<ScanError>)>> {
    let bytes_above = whole.len().saturating_sub(text.len());
    let mut builder = Builder::new(text, lines_above, bytes_above);
    let mut end = 0;
    for event in Parser::new_from_str(indented.text(text)) {
        let (event, span) = event.map_err(|error| {
            let problem = scan_problem(&error, &indented.original(error.marker()), lines_above);
            // Only the document at fault is searched, so that each document is searched once.
            let after = next_document(text, error.marker().line()).map_or("", |(after, _)| after);
            let document = text.strip_suffix(after).unwrap_or(text);
            let document = Part {
                text: document,
                lines_above,
            };
            let problem = match error.kind() {
                ErrorKind::UnclosedQuotedScalar
                | ErrorKind::DocumentIndicatorInQuotedScalar
                | ErrorKind::InvalidQuotedScalarIndent => document.in_quotes(problem, end),
                _ => document.in_flow(problem, builder.innermost()),
            };
            Box::new((problem, Some(error)))
        })?;
        let span = indented.original_span(&span);
        let read = span.end.byte_offset().unwrap_or_default();
        end = end.max(read);
        let document = builder
            .event(event, span)
            .map_err(|problem| Box::new((problem, None)))?;
        reading.problems.append(&mut builder.problems);
        reading.documents.extend(document);
    }
    Ok(())
}

/// Finds the first `---` after line number `line`. Returns the text from there on, and the number of lines before it.
fn next_document(text: &str, line: usize) -> Option<(&str, usize)> {
    let mut rest = text;
    let mut above = 0_usize;
    while !rest.is_empty() {
        if above >= line && rest.starts_with("---") {
            return Some((rest, above));
        }
        let end = rest.find('\n')?.saturating_add(1);
        rest = rest.get(end..)?;
        above = above.saturating_add(1);
    }
    None
}

fn scan_problem(error: &ScanError, marker: &Marker, lines_above: usize) -> Problem {
    let line = marker.line().saturating_add(lines_above);
    let place = Place::new(line, marker.col().saturating_add(1));
    syntax(place, error.info())
}

fn syntax(range: impl Into<Range>, message: impl Into<String>) -> Problem {
    Problem::new(rule::SYNTAX, message).at(range)
}

//! Reads YAML as JSON values with places, as `go.yaml.in/yaml/v2` decodes YAML into untyped values.

use std::borrow::Cow;

use granit_parser::{ErrorKind, Event, Marker, Parser, Span};

use crate::Reading;
use crate::place::{Place, Range};
use crate::problem::{Problem, rule};
use crate::source::Source;
use crate::unclosed::{Part, is_in_brackets};

mod builder;
mod dialect;
mod scalar;
mod text;

use builder::Builder;

/// Reads the documents of a text, except empty ones. If a document cannot be read, reading continues at the next `---`.
pub(crate) fn read(text: &str) -> Reading {
    let mut reading = Reading::default();
    let mut budget = MAX_PARSED;
    for part in divide(text, &mut reading.problems) {
        reading.problems.extend(misplaced_mark(part));
        reading.problems.extend(misplaced_end(part));
        read_document(part, &mut budget, &mut reading);
    }
    reading
        .problems
        .sort_by_key(|problem| problem.range.map(|range| range.start));
    let source = Source::new(text);
    for document in &mut reading.documents {
        document.source = Some(source.clone());
    }
    reading
}

/// The parts of a text that kubectl reads as documents: those between the lines that begin with `---`. Such a line may hold only a comment
/// besides; else kubectl reads neither the document above nor the one below.
fn divide<'t>(text: &'t str, problems: &mut Vec<Problem>) -> Vec<Part<'t>> {
    let mut parts = Vec::new();
    let mut part = Part::default();
    let mut is_skipped = false;
    let mut end: usize = 0;
    for (n, line) in text.split_inclusive('\n').enumerate() {
        let below = end.saturating_add(line.len());
        if let Some(beside) = line.strip_prefix("---") {
            let is_empty = part.bytes_above == end;
            part.text = text.get(part.bytes_above..end).unwrap_or_default();
            let content = beside.trim();
            let is_separator = content.is_empty() || content.starts_with('#');
            if is_separator && !is_skipped {
                parts.push(part);
            }
            if !is_separator {
                let blank = beside.chars().take_while(|c| c.is_whitespace()).count();
                let place = Place::new(n.saturating_add(1), blank.saturating_add(4));
                let problem = syntax(place, format!("invalid Yaml document separator: {content}"));
                let help = "only a comment may follow `---`; other text must be indented or on the next line";
                problems.push(problem.with_help(help));
            }
            is_skipped = !is_separator;
            // If nothing is above the separator, kubectl reads it with the document.
            (part.lines_above, part.bytes_above) = match is_empty {
                true => (n, end),
                false => (n.saturating_add(1), below),
            };
        }
        end = below;
    }
    part.text = text.get(part.bytes_above..).unwrap_or_default();
    if !is_skipped {
        parts.push(part);
    }
    parts
}

/// The problem of a byte order mark at the beginning of a line below the first one. kubectl reads it as a part of the key or text that
/// follows. It is there if a file is put below a comment, as `helm template` does.
fn misplaced_mark(part: Part<'_>) -> Option<Problem> {
    let end = part.text.find("\n\u{feff}")?;
    let above = part.text.get(..end)?.matches('\n').count();
    let line = above.saturating_add(part.lines_above).saturating_add(2);
    let message =
        "a byte order mark must be at the beginning of the file: kubectl takes it for text";
    Some(syntax(Place::new(line, 1), message))
}

/// The problem of a line `...` above all content of a document.
fn misplaced_end(part: Part<'_>) -> Option<Problem> {
    let mut lines = part.text.lines().enumerate();
    let (above, line) = lines.find(|(_, line)| !is_comment(line))?;
    let behind = line.strip_prefix("...")?;
    let is_end = behind.is_empty() || behind.starts_with([' ', '\t']);
    let line = above.saturating_add(part.lines_above).saturating_add(1);
    let message = "a document must not begin with `...`: kubectl cannot read it";
    is_end.then(|| syntax(Place::new(line, 1), message))
}

/// Whether a line is blank or a comment.
fn is_comment(line: &str) -> bool {
    let content = line.trim_start();
    content.is_empty() || content.starts_with('#')
}

/// The message for text behind the end of a document.
const ENDED: &str = "the document has ended, and kubectl ignores what follows: it must be indented like the text above, or be separated by `---`";

/// The maximum number of bytes of a text that are parsed anew.
const MAX_PARSED: usize = 16 << 20;

/// Why a document cannot be read.
struct Stopped {
    problem: Problem,
    /// The end of the indentation with a tab, in brackets, that is the reason. go-yaml reads it.
    tab: Option<usize>,
}

impl From<Problem> for Stopped {
    fn from(problem: Problem) -> Self {
        Stopped { problem, tab: None }
    }
}

/// Reads the document of a part. `budget` is the number of bytes that may be parsed anew.
fn read_document(part: Part<'_>, budget: &mut usize, reading: &mut Reading) {
    let mut text = Cow::Borrowed(part.text);
    loop {
        let mut builder = Builder::new(part);
        let stopped = match parse(part, &text, &mut builder) {
            Ok(behind) => {
                let (document, problems) = builder.finish();
                reading.documents.extend(document);
                reading.problems.extend(problems);
                let problem = behind.map(|place| syntax(place, ENDED));
                reading.problems.extend(problem);
                return;
            }
            Err(stopped) => stopped,
        };
        let left = budget.checked_sub(text.len());
        match (stopped.tab, left) {
            (Some(end), Some(left)) if indent_with_spaces(&mut text, end) => *budget = left,
            _ => {
                let (_, problems) = builder.finish();
                reading.problems.extend(problems);
                reading.problems.push(stopped.problem);
                return;
            }
        }
    }
}

/// Replaces the tabs of the indentation that ends at a byte by spaces. Returns false if it has no tab.
fn indent_with_spaces(text: &mut Cow<'_, str>, end: usize) -> bool {
    let above = text.get(..end).unwrap_or_default();
    let begin = above.trim_end_matches([' ', '\t']).len();
    let has_tab = above.get(begin..).is_some_and(|blank| blank.contains('\t'));
    if has_tab {
        let spaces = " ".repeat(end.saturating_sub(begin));
        text.to_mut().replace_range(begin..end, &spaces);
    }
    has_tab
}

/// Parses the document of a part. `text` is the text of the part with other indentation. Returns the place of the text behind the document,
/// which kubectl ignores, if there is one.
fn parse(
    part: Part<'_>,
    text: &str,
    builder: &mut Builder<'_>,
) -> Result<Option<Place>, Box<Stopped>> {
    let options = granit_parser::options! { bom_inside_document_as_content: true };
    let mut end = 0;
    let mut has_ended = false;
    for event in Parser::new_from_str_with_options(text, options) {
        let below = match &event {
            Ok((Event::StreamEnd, _)) => None,
            Ok((_, span)) => Some(span.start),
            Err(error) => Some(*error.marker()),
        };
        if has_ended && let Some(place) = below {
            let behind = place.byte_offset().and_then(|byte| text.get(byte..));
            let is_text = !behind.unwrap_or_default().lines().all(is_comment);
            return Ok(is_text.then(|| place_in(part, &place)));
        }
        let (event, span) = event.map_err(|error| {
            let marker = error.marker();
            let problem = syntax(place_in(part, marker), error.info());
            let problem = match error.kind() {
                ErrorKind::UnclosedQuotedScalar
                | ErrorKind::DocumentIndicatorInQuotedScalar
                | ErrorKind::InvalidTrailingSingleQuotedScalar
                | ErrorKind::InvalidTrailingDoubleQuotedScalar => part.in_quotes(problem, end),
                _ => part.in_flow(problem, builder.innermost()),
            };
            let byte = marker.byte_offset().unwrap_or_default();
            let above = text.get(..byte).unwrap_or_default();
            let is_tab = *error.kind() == ErrorKind::TabInBlockIndentation;
            let tab = (is_tab && is_in_brackets(above)).then_some(byte);
            Box::new(Stopped { problem, tab })
        })?;
        end = end.max(span.end.byte_offset().unwrap_or_default());
        has_ended |= event == Event::DocumentEnd;
        builder
            .event(event, span)
            .map_err(|problem| Box::new(problem.into()))?;
    }
    Ok(None)
}

/// The range in the file of a value in a part.
fn range_in(part: Part<'_>, span: &Span) -> Range {
    Range {
        start: place_in(part, &span.start),
        end: place_in(part, &span.end),
    }
}

/// The place in the file of a marker in a part.
fn place_in(part: Part<'_>, marker: &Marker) -> Place {
    let line = marker.line().saturating_add(part.lines_above);
    Place::new(line, marker.col().saturating_add(1))
}

fn syntax(range: impl Into<Range>, message: impl Into<String>) -> Problem {
    let problem = Problem::new(rule::SYNTAX, message).at(range);
    match help(&problem.message) {
        Some(help) => problem.with_help(help),
        None => problem,
    }
}

/// Help for an error of the YAML parser, by a part of its message.
fn help(message: &str) -> Option<&'static str> {
    #[rustfmt::skip] // One row per line.
    const ROWS: [(&str, &str); 10] = [
        ("invalid trailing content after", "quote the whole value, or write it into the next line, after `|-`"),
        ("mapping values are not allowed", "a value with `: ` must be quoted, and a key must be indented like the other keys of its object"),
        ("did not find expected key", "a key must be indented like the other keys of its object, and a text that begins with [ or { must be quoted"),
        ("did not find expected '-'", "an item must be indented like the other items of its list"),
        ("simple key expected ':'", "a text over several lines must be indented further than its key"),
        ("scanning a block scalar", "a text after | or > begins in the next line; an expression that begins with > must be quoted"),
        ("mapping keys are not allowed", "a text that begins with ? must be quoted"),
        ("unexpected character: `", "a text that begins with this character must be quoted"),
        ("found unknown anchor", "a text that begins with * must be quoted"),
        ("unknown escape character", "in double quotes, a backslash is written `\\\\`; single quotes need no escapes"),
    ];
    let row = ROWS.iter().find(|(part, _)| message.contains(part));
    row.map(|(_, help)| *help)
}

#[cfg(test)]
mod tests;

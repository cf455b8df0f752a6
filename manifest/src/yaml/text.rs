//! The places of a string: where it and its lines are written.

use granit_parser::{ScalarStyle, Span};

use super::range_in;
use crate::layout::{Node, TextLines};
use crate::place::{Place, Range};
use crate::unclosed::Part;
use crate::written::Style;

/// The place of a string and, if known, the places of its lines.
pub(super) fn node(part: Part<'_>, text: &str, style: ScalarStyle, span: &Span) -> Node {
    let range = range_in(part, span);
    let place = range.start;
    let one_line = span.start.line() == span.end.line();
    match style {
        ScalarStyle::Literal => {
            // The span begins at the first character that is not a line break.
            let lines_above = leading_breaks(text);
            let first = Place {
                line: place.line.saturating_sub(lines_above),
                column: place.column,
            };
            Node::text(range, TextLines::Block { first })
        }
        ScalarStyle::Plain if one_line => Node::text(range, TextLines::One { offset: 0 }),
        ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted if one_line => {
            // If the string has escapes, its columns differ from those in the file.
            let source = span.slice(part.text).unwrap_or_default();
            let verbatim = source.chars().count() == text.chars().count().saturating_add(2);
            match verbatim {
                true => Node::text(range, TextLines::One { offset: 1 }),
                false => written(part, text, range, style, span),
            }
        }
        _ => written(part, text, range, style, span),
    }
}

/// The node of a string whose characters' places are computed only when they are needed.
fn written(part: Part<'_>, text: &str, range: Range, style: ScalarStyle, span: &Span) -> Node {
    let offsets = span.start.byte_offset().zip(span.end.byte_offset());
    let Some((start, end)) = offsets else {
        return Node::leaf(range);
    };
    let style = match style {
        ScalarStyle::SingleQuoted => Style::Single,
        ScalarStyle::DoubleQuoted => Style::Double,
        ScalarStyle::Folded => Style::Folded {
            column: range.start.column,
            breaks: leading_breaks(text),
        },
        _ => Style::Plain,
    };
    let lines = TextLines::Written {
        start: start.saturating_add(part.bytes_above),
        end: end.saturating_add(part.bytes_above),
        style,
    };
    Node::text(range, lines)
}

fn leading_breaks(text: &str) -> u32 {
    let breaks = text.chars().take_while(|c| *c == '\n').count();
    u32::try_from(breaks).unwrap_or(u32::MAX)
}

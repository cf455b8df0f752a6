//! The places of a document's values, in a tree with the same structure as the document.

use std::collections::BTreeMap;

use crate::place::{Place, Range};
use crate::source::Source;
use crate::written::{Style, place_of};

/// The position of a value, and the positions of the values within it.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    range: Range,
    /// The key in front of the value, if the value is a field of a map.
    key: Option<Range>,
    parts: Parts,
}

#[derive(Debug, Clone)]
enum Parts {
    None,
    Text(TextLines),
    List(Vec<Node>),
    Map(BTreeMap<String, Node>),
}

/// The places of the lines of a string.
#[derive(Debug, Clone, Copy)]
pub(crate) enum TextLines {
    /// A single line of text, which begins `offset` columns after the place of the value (1 if the text is quoted).
    One { offset: u32 },
    /// Lines below each other, as in a literal block; the first line begins at `first`.
    Block { first: Place },
    /// Any other notation: the scalar is at these byte offsets of the file.
    Written {
        start: usize,
        end: usize,
        style: Style,
    },
}

impl Node {
    fn new(range: Range, parts: Parts) -> Self {
        Node {
            range,
            key: None,
            parts,
        }
    }

    pub(crate) fn leaf(range: Range) -> Self {
        Node::new(range, Parts::None)
    }

    pub(crate) fn text(range: Range, lines: TextLines) -> Self {
        Node::new(range, Parts::Text(lines))
    }

    pub(crate) fn list(range: Range, items: Vec<Node>) -> Self {
        Node::new(range, Parts::List(items))
    }

    pub(crate) fn map(range: Range, fields: BTreeMap<String, Node>) -> Self {
        Node::new(range, Parts::Map(fields))
    }

    /// The same value as a field of a map, with the range of its key.
    pub(crate) fn below(self, key: Range) -> Self {
        let key = Some(key);
        Node { key, ..self }
    }

    pub(crate) fn place(&self) -> Place {
        self.range.start
    }

    pub(crate) fn range(&self) -> Range {
        self.range
    }

    /// The range of the key in front of the value; the range of the value if it has no key.
    pub(crate) fn key(&self) -> Range {
        self.key.unwrap_or(self.range)
    }

    /// Adds the ranges of the strings in this value, and of the keys. The recursion is as deep as the value.
    pub(crate) fn add_texts(&self, texts: &mut Vec<Range>) {
        texts.extend(self.key);
        match &self.parts {
            Parts::None => {}
            Parts::Text(_) => texts.push(self.range),
            Parts::List(items) => items.iter().for_each(|item| item.add_texts(texts)),
            Parts::Map(fields) => fields.values().for_each(|field| field.add_texts(texts)),
        }
    }

    /// The fields of a map; empty for other values.
    pub(crate) fn into_fields(self) -> BTreeMap<String, Node> {
        match self.parts {
            Parts::Map(fields) => fields,
            _ => BTreeMap::new(),
        }
    }

    /// Whether the value is a list with one item.
    pub(crate) fn has_one_item(&self) -> bool {
        matches!(&self.parts, Parts::List(items) if items.len() == 1)
    }

    /// The items of a list; empty for other values.
    pub(crate) fn into_items(self) -> Vec<Node> {
        match self.parts {
            Parts::List(items) => items,
            _ => Vec::new(),
        }
    }

    /// The node at a field path, or the deepest existing node on this path.
    pub(crate) fn find(&self, path: &str) -> &Node {
        let mut node = self;
        let mut rest = path;
        while !rest.is_empty() {
            let (name, after) = step(rest);
            let next = match &node.parts {
                Parts::Map(fields) => fields
                    .get(name)
                    .map(|next| (next, after))
                    .or_else(|| odd_field(fields, rest)),
                Parts::List(items) => name
                    .parse()
                    .ok()
                    .and_then(|n: usize| Some((items.get(n)?, after))),
                Parts::None | Parts::Text(_) => None,
            };
            let Some(next) = next else { return node };
            (node, rest) = next;
        }
        node
    }

    /// Converts a line and column in this string (both from 1) to a place in the file; `None` if the place is not known. `source` is the
    /// text of the file.
    pub(crate) fn within(&self, source: Option<&Source>, line: u32, column: u32) -> Option<Place> {
        let (lines_below, columns_right) = (line.saturating_sub(1), column.saturating_sub(1));
        Some(match self.parts {
            Parts::Text(TextLines::One { offset }) if lines_below == 0 => Place {
                line: self.place().line,
                column: self
                    .place()
                    .column
                    .saturating_add(offset)
                    .saturating_add(columns_right),
            },
            Parts::Text(TextLines::Block { first }) => Place {
                line: first.line.saturating_add(lines_below),
                column: first.column.saturating_add(columns_right),
            },
            Parts::Text(TextLines::Written { start, end, style }) => {
                let scalar = source?.get(start..end)?;
                return place_of(scalar, self.place(), style, line, column);
            }
            _ => return None,
        })
    }
}

/// The longest field name with which a path begins, and the rest of the path. This search is needed for names that contain dots or
/// brackets.
fn odd_field<'n, 'p>(
    fields: &'n BTreeMap<String, Node>,
    path: &'p str,
) -> Option<(&'n Node, &'p str)> {
    let path = path.strip_prefix('.').unwrap_or(path);
    let named = fields.iter().filter(|(name, _)| !name.is_empty());
    let named = named.filter_map(|(name, node)| Some((node, path.strip_prefix(name.as_str())?)));
    named
        .filter(|(_, after)| after.is_empty() || after.starts_with(['.', '[']))
        .min_by_key(|(_, after)| after.len())
}

/// The first step of a field path, and the rest of the path.
fn step(path: &str) -> (&str, &str) {
    let path = path.strip_prefix('.').unwrap_or(path);
    match path.strip_prefix('[').and_then(|path| path.split_once(']')) {
        Some(bracketed) => bracketed,
        None => match path.find(['.', '[']) {
            Some(end) => path.split_at_checked(end).unwrap_or((path, "")),
            None => (path, ""),
        },
    }
}

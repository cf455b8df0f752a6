//! Builds values and their places from the events of the YAML parser.

use std::collections::{BTreeMap, HashMap};

use granit_parser::{Event, ScalarStyle, Span, Tag};
use serde_json::{Map, Value as Json};

use super::scalar::{self, Scalar};
use super::syntax;
use crate::Document;
use crate::layout::{Node, TextLines};
use crate::place::{Place, Range};
use crate::problem::{Problem, duplicate_key};
use crate::written::Style;

/// The nesting limit of YAML values, equal to that of JSON.
const MAX_DEPTH: usize = 127;

/// The maximum number of values to which the aliases in a text may expand. Without it, a few lines could exhaust the memory.
const MAX_ALIASED: usize = 100_000;

/// A value that has been read completely.
#[derive(Debug, Clone)]
struct Built {
    value: Json,
    node: Node,
    /// The nesting depth of the value: 0 for a scalar.
    height: usize,
    /// The number of values in this value, including itself.
    size: usize,
}

/// A list or map that is being read.
struct Open {
    place: Place,
    anchor: usize,
    height: usize,
    size: usize,
    content: Content,
}

enum Content {
    List {
        items: Vec<Json>,
        nodes: Vec<Node>,
    },
    Map {
        fields: Map<String, Json>,
        nodes: BTreeMap<String, Node>,
        /// The keys of this map, except merged keys. Of duplicates, the first.
        keys: BTreeMap<String, Range>,
        /// The key whose value is read next.
        key: Option<Key>,
    },
}

enum Key {
    Name(String, Range),
    Merge,
}

/// Builds values from events, with an explicit stack, because a text may be nested deeper than a thread's stack allows.
pub(super) struct Builder<'t> {
    text: &'t str,
    /// The number of lines of the file above the text.
    lines_above: usize,
    /// The number of bytes of the file before the text.
    bytes_above: usize,
    open: Vec<Open>,
    root: Option<Built>,
    anchors: HashMap<usize, Built>,
    aliased: usize,
    duplicates: Vec<Problem>,
    /// The problems of values. A document with such a problem is not returned.
    pub(super) problems: Vec<Problem>,
    is_faulty: bool,
}

impl<'t> Builder<'t> {
    pub(super) fn new(text: &'t str, lines_above: usize, bytes_above: usize) -> Self {
        Builder {
            text,
            lines_above,
            bytes_above,
            open: Vec::new(),
            root: None,
            anchors: HashMap::new(),
            aliased: 0,
            duplicates: Vec::new(),
            problems: Vec::new(),
            is_faulty: false,
        }
    }

    pub(super) fn event(
        &mut self,
        event: Event<'_>,
        span: Span,
    ) -> Result<Option<Document>, Problem> {
        let range = self.range_of(&span);
        let place = range.start;
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                self.scalar(&text, style, anchor, tag.as_deref(), &span)?;
            }
            Event::SequenceStart(_, anchor, _) => {
                let (items, nodes) = (Vec::new(), Vec::new());
                self.start(place, anchor, Content::List { items, nodes })?;
            }
            Event::MappingStart(_, anchor, _) => {
                let content = Content::Map {
                    fields: Map::new(),
                    nodes: BTreeMap::new(),
                    keys: BTreeMap::new(),
                    key: None,
                };
                self.start(place, anchor, content)?;
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(range),
            Event::Alias(anchor) => self.alias(anchor, place)?,
            Event::DocumentEnd => return Ok(self.document()),
            _ => {}
        }
        Ok(None)
    }

    fn document(&mut self) -> Option<Document> {
        self.anchors.clear();
        let duplicates = std::mem::take(&mut self.duplicates);
        let is_faulty = std::mem::take(&mut self.is_faulty);
        let Built { value, node, .. } = self.root.take()?;
        (!value.is_null() && !is_faulty).then_some(Document {
            value,
            layout: node,
            duplicates,
            file: None,
            source: None,
        })
    }

    fn scalar(
        &mut self,
        text: &str,
        style: ScalarStyle,
        anchor: usize,
        tag: Option<&Tag>,
        span: &Span,
    ) -> Result<(), Problem> {
        let range = self.range_of(span);
        let plain = style == ScalarStyle::Plain;
        let core_tag = tag.filter(|tag| tag.handle() == "tag:yaml.org,2002:");
        let is_merge = text == "<<"
            && match tag {
                None => plain,
                Some(_) => core_tag.is_some_and(|tag| tag.suffix() == "merge"),
            };
        if is_merge && let Some(key) = self.awaited_key() {
            *key = Some(Key::Merge);
            return Ok(());
        }
        let resolved = match (tag, core_tag) {
            (None, _) if plain => scalar::resolve(text),
            (_, Some(tag)) => {
                let resolved = scalar::resolve_tagged(tag.suffix(), text);
                resolved.unwrap_or_else(|| {
                    let suffix = tag.suffix();
                    self.fault(range, format!("cannot decode `{text}` as a !!{suffix}"));
                    Scalar::Text(text.to_owned())
                })
            }
            _ => Scalar::Text(text.to_owned()),
        };
        if self.awaited_key().is_some() {
            if anchor > 0
                && let Some(value) = resolved.clone().into_json()
            {
                self.anchors.insert(anchor, leaf(value, Node::leaf(range)));
            }
            let name = resolved.into_key().unwrap_or_else(|| {
                self.fault(range, format!("`{text}` cannot be a key"));
                text.to_owned()
            });
            self.name(name, range);
            return Ok(());
        }
        let node = match &resolved {
            Scalar::Text(text) => self.text_node(text, style, span),
            _ => Node::leaf(range),
        };
        let value = resolved.into_json().unwrap_or_else(|| {
            self.fault(range, format!("the number `{text}` is not finite"));
            Json::Null
        });
        self.value(leaf(value, node), anchor);
        Ok(())
    }

    /// The position of a string and, if known, the positions of its lines.
    fn text_node(&self, text: &str, style: ScalarStyle, span: &Span) -> Node {
        let range = self.range_of(span);
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
                let source = span.slice(self.text).unwrap_or_default();
                let verbatim = source.chars().count() == text.chars().count().saturating_add(2);
                match verbatim {
                    true => Node::text(range, TextLines::One { offset: 1 }),
                    false => self.written(text, range, style, span),
                }
            }
            _ => self.written(text, range, style, span),
        }
    }

    /// The node of a string. The places of its characters are computed only when they are needed.
    fn written(&self, text: &str, range: Range, style: ScalarStyle, span: &Span) -> Node {
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
            start: start.saturating_add(self.bytes_above),
            end: end.saturating_add(self.bytes_above),
            style,
        };
        Node::text(range, lines)
    }

    fn start(&mut self, place: Place, anchor: usize, content: Content) -> Result<(), Problem> {
        if self.awaited_key().is_some() {
            return Err(syntax(place, "a list or map cannot be a key"));
        }
        if self.open.len() >= MAX_DEPTH {
            return Err(too_deep(place));
        }
        self.open.push(Open {
            place,
            anchor,
            height: 0,
            size: 1,
            content,
        });
        Ok(())
    }

    /// The beginning of the innermost list or map that is being read.
    pub(super) fn innermost(&self) -> Option<Place> {
        self.open.last().map(|open| open.place)
    }

    /// The range of a value in the file.
    fn range_of(&self, span: &Span) -> Range {
        let place = |line: usize, column: usize| {
            Place::new(
                line.saturating_add(self.lines_above),
                column.saturating_add(1),
            )
        };
        Range {
            start: place(span.start.line(), span.start.col()),
            end: place(span.end.line(), span.end.col()),
        }
    }

    /// Records a problem of a value and continues.
    fn fault(&mut self, range: Range, message: String) {
        self.is_faulty = true;
        self.problems.push(syntax(range, message));
    }

    fn end(&mut self, last: Range) {
        let Some(open) = self.open.pop() else {
            return;
        };
        // Lists and maps in brackets have an end token. Block lists and maps end with their last value.
        let range = |inner: Option<Place>| Range {
            start: open.place,
            end: match last.start == last.end {
                true => inner.unwrap_or(open.place),
                false => last.end,
            },
        };
        let (value, node) = match open.content {
            Content::List { items, nodes } => {
                let inner = nodes.last().map(|node| node.range().end);
                (Json::Array(items), Node::list(range(inner), nodes))
            }
            Content::Map { fields, nodes, .. } => {
                let inner = nodes.values().map(|node| node.range().end).max();
                (Json::Object(fields), Node::map(range(inner), nodes))
            }
        };
        let built = Built {
            value,
            node,
            height: open.height.saturating_add(1),
            size: open.size,
        };
        self.value(built, open.anchor);
    }

    fn alias(&mut self, anchor: usize, place: Place) -> Result<(), Problem> {
        let Some(built) = self.anchors.get(&anchor) else {
            return Err(syntax(place, "the anchor contains itself"));
        };
        self.aliased = self.aliased.saturating_add(built.size);
        if self.aliased > MAX_ALIASED {
            return Err(syntax(place, "the aliases expand to too many values"));
        }
        if self.open.len().saturating_add(built.height) > MAX_DEPTH {
            return Err(too_deep(place));
        }
        let built = built.clone();
        if self.awaited_key().is_some() {
            let name = match built.value {
                Json::String(name) => name,
                Json::Number(number) => number.to_string(),
                Json::Bool(value) => value.to_string(),
                _ => return Err(syntax(place, "this value cannot be a key")),
            };
            self.name(name, place.into());
            return Ok(());
        }
        self.value(built, 0);
        Ok(())
    }

    /// The slot for the next key of the innermost map; `None` if no key is expected.
    fn awaited_key(&mut self) -> Option<&mut Option<Key>> {
        match &mut self.open.last_mut()?.content {
            Content::Map { key, .. } if key.is_none() => Some(key),
            _ => None,
        }
    }

    fn name(&mut self, name: String, at: Range) {
        if let Some(Open {
            content: Content::Map { keys, key, .. },
            ..
        }) = self.open.last_mut()
        {
            match keys.get(&name) {
                Some(first) => {
                    let duplicate = duplicate_key(&name, at.start, first.start);
                    self.duplicates.push(duplicate);
                }
                None => {
                    keys.insert(name.clone(), at);
                }
            }
            *key = Some(Key::Name(name, at));
        }
    }

    /// Adds a complete value to its parent.
    fn value(&mut self, built: Built, anchor: usize) {
        if anchor > 0 {
            self.anchors.insert(anchor, built.clone());
        }
        let Some(open) = self.open.last_mut() else {
            self.root = Some(built);
            return;
        };
        open.height = open.height.max(built.height);
        open.size = open.size.saturating_add(built.size);
        match &mut open.content {
            Content::List { items, nodes } => {
                items.push(built.value);
                nodes.push(built.node);
            }
            Content::Map {
                fields, nodes, key, ..
            } => match key.take() {
                Some(Key::Name(name, at)) => {
                    fields.insert(name.clone(), built.value);
                    nodes.insert(name, built.node.below(at));
                }
                Some(Key::Merge) => {
                    let range = built.node.range();
                    if !merge(fields, nodes, built) {
                        self.fault(range, "`<<` needs a map or a list of maps".to_owned());
                    }
                }
                None => {}
            },
        }
    }
}

/// Merges (`<<`) the entries of one or several maps into the current map. An entry of an earlier map takes precedence over one of a later
/// map. If keys are equal, a merged entry replaces an entry written before `<<`, and an entry written after `<<` replaces the merged entry.
/// Returns false if the value is neither a map nor a list of maps.
fn merge(fields: &mut Map<String, Json>, nodes: &mut BTreeMap<String, Node>, built: Built) -> bool {
    match built.value {
        Json::Object(merged) => {
            fields.extend(merged);
            nodes.extend(built.node.into_fields());
        }
        Json::Array(maps) if maps.iter().all(Json::is_object) => {
            let places = built.node.into_items();
            for (map, node) in maps.into_iter().zip(places).rev() {
                if let Json::Object(merged) = map {
                    fields.extend(merged);
                }
                nodes.extend(node.into_fields());
            }
        }
        _ => return false,
    }
    true
}

fn leading_breaks(text: &str) -> u32 {
    let breaks = text.chars().take_while(|c| *c == '\n').count();
    u32::try_from(breaks).unwrap_or(u32::MAX)
}

fn leaf(value: Json, node: Node) -> Built {
    Built {
        value,
        node,
        height: 0,
        size: 1,
    }
}

fn too_deep(place: Place) -> Problem {
    syntax(place, format!("nested deeper than {MAX_DEPTH}"))
}

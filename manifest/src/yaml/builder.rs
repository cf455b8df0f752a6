//! Builds values and their places from the events of the YAML parser.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use granit_parser::{Event, ScalarStyle, Span, StructureStyle, Tag};
use serde_json::{Map, Value as Json};

use super::dialect;
use super::scalar::{self, Scalar};
use super::{range_in, syntax, text};
use crate::Document;
use crate::layout::Node;
use crate::place::{Place, Range};
use crate::problem::{Problem, duplicate_key};
use crate::unclosed::Part;

/// The nesting limit of YAML values, equal to that of JSON.
const MAX_DEPTH: usize = 127;

/// The maximum number of values to which the aliases in a text may expand. Without it, a few lines could exhaust the memory. A long string
/// counts as several values.
const MAX_ALIASED: usize = 100_000;

/// The number of bytes of a string that count as one more value.
const VALUE_BYTES: usize = 256;

/// The prefix of the tags of YAML itself, such as `!!int`.
const CORE: &str = "tag:yaml.org,2002:";

/// A value that has been read completely.
#[derive(Debug, Clone)]
struct Built {
    value: Json,
    node: Node,
    /// The nesting depth of the value: 0 for a scalar.
    height: usize,
    /// The number of values in this value, including itself, as [`MAX_ALIASED`] counts them.
    size: usize,
}

/// A list or map that is being read.
struct Open {
    place: Place,
    style: StructureStyle,
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
        /// Whether this is a text in a list in brackets, as in `[001:db8::]`. The parser takes its last colon for the end of a key.
        is_text: bool,
    },
}

enum Key {
    Name(String, Range),
    Merge,
}

/// Builds values from events, with an explicit stack, because a text may be nested deeper than a thread's stack allows.
pub(super) struct Builder<'t> {
    part: Part<'t>,
    /// The number of bytes of the part in front of the next token.
    read: usize,
    /// If the last token is a text without quotes, the column from which on blank lines below it may have tabs.
    tabs_from: Option<u32>,
    open: Vec<Open>,
    root: Option<Built>,
    anchors: HashMap<usize, Built>,
    aliased: usize,
    duplicates: Vec<Problem>,
    /// The problems of values.
    problems: Vec<Problem>,
}

impl<'t> Builder<'t> {
    /// A builder of the values of a document.
    pub(super) fn new(part: Part<'t>) -> Self {
        Builder {
            part,
            read: 0,
            tabs_from: None,
            open: Vec::new(),
            root: None,
            anchors: HashMap::new(),
            aliased: 0,
            duplicates: Vec::new(),
            problems: Vec::new(),
        }
    }

    pub(super) fn event(&mut self, event: Event<'_>, span: Span) -> Result<(), Problem> {
        let range = range_in(self.part, &span);
        let place = range.start;
        if !matches!(event, Event::SequenceEnd | Event::MappingEnd) {
            self.check_indentation(&span)?;
        }
        // Block lists and maps have no tokens of their own.
        if span.start != span.end && !matches!(event, Event::DocumentStart(..)) {
            let is_plain = matches!(event, Event::Scalar(_, ScalarStyle::Plain, ..));
            let is_map = |open: &&Open| matches!(open.content, Content::Map { .. });
            let map = self.open.iter().rev().find(is_map);
            self.tabs_from = is_plain.then_some(map.map_or(1, |map| map.place.column));
            let end = span.end.byte_offset().unwrap_or_default();
            let above = self.part.text.get(..end).unwrap_or_default();
            // A text in block style can end with the spaces of the next line.
            self.read = self.read.max(above.trim_end_matches(' ').len());
        }
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                self.scalar(&text, style, anchor, tag.as_deref(), &span)?;
            }
            Event::SequenceStart(style, anchor, _) => {
                let (items, nodes) = (Vec::new(), Vec::new());
                self.start(place, style, anchor, Content::List { items, nodes })?;
            }
            Event::MappingStart(style, anchor, _) => {
                let content = Content::Map {
                    fields: Map::new(),
                    nodes: BTreeMap::new(),
                    keys: BTreeMap::new(),
                    key: None,
                    is_text: false,
                };
                self.start(place, style, anchor, content)?;
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(range),
            Event::Alias(anchor) => self.alias(anchor, place)?,
            _ => {}
        }
        Ok(())
    }

    /// The document, unless it is null or has a problem, and the problems of its values.
    pub(super) fn finish(self) -> (Option<Document>, Vec<Problem>) {
        let root = self
            .root
            .filter(|root| !root.value.is_null() && self.problems.is_empty());
        let document = root.map(|Built { value, node, .. }| Document {
            value,
            layout: node,
            duplicates: self.duplicates,
            file: None,
            source: None,
        });
        (document, self.problems)
    }

    fn scalar(
        &mut self,
        text: &str,
        style: ScalarStyle,
        anchor: usize,
        tag: Option<&Tag>,
        span: &Span,
    ) -> Result<(), Problem> {
        let range = range_in(self.part, span);
        let plain = style == ScalarStyle::Plain;
        let text = match plain {
            true => self.plain(text, span),
            false => text.into(),
        };
        let start = span.start.byte_offset().unwrap_or_default();
        let above = self.part.text.get(..start).unwrap_or_default();
        let source = span.slice(self.part.text).unwrap_or_default();
        if matches!(style, ScalarStyle::Literal | ScalarStyle::Folded)
            && dialect::has_tab_in_indentation(&text, source, above, span.start.col())
        {
            self.fault(range, dialect::TAB.to_owned());
        }
        if style == ScalarStyle::DoubleQuoted
            && let Some(escape) = dialect::json_escape(source)
        {
            let message = format!(
                "`{escape}` must not be used: it is an escape of JSON, and kubectl cannot read it in YAML"
            );
            self.fault(range, message);
        }
        let end = span.end.byte_offset().unwrap_or_default();
        let behind = self.part.text.get(end..).unwrap_or_default();
        if self.is_in_brackets()
            && self.awaited_key().is_some()
            && dialect::is_key_of_several_lines(above, source, behind)
        {
            let message = "a key within brackets and its colon must be on one line: kubectl cannot read them otherwise";
            self.fault(range, message.to_owned());
        }
        let text = &*text;
        let core_tag = tag.and_then(|tag| match tag.handle() {
            CORE => Some(tag.suffix()),
            _ => tag.suffix().strip_prefix(CORE),
        });
        let is_merge = text == "<<"
            && match tag {
                None => plain,
                Some(_) => core_tag == Some("merge"),
            };
        if is_merge && let Some(key) = self.awaited_key() {
            *key = Some(Key::Merge);
            return Ok(());
        }
        let resolved = match (tag, core_tag) {
            (None, _) if plain => scalar::resolve(text),
            (_, Some(tag)) => {
                let resolved = scalar::resolve_tagged(tag, text);
                resolved.unwrap_or_else(|| {
                    self.fault(range, format!("cannot decode `{text}` as a !!{tag}"));
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
            Scalar::Text(text) => text::node(self.part, text, style, span),
            _ => Node::leaf(range),
        };
        let value = resolved.into_json().unwrap_or_else(|| {
            self.fault(range, format!("the number `{text}` is not finite"));
            Json::Null
        });
        self.value(leaf(value, node), anchor);
        Ok(())
    }

    /// A text without quotes, as `go.yaml.in/yaml/v2` reads it.
    fn plain<'a>(&mut self, text: &'a str, span: &Span) -> Cow<'a, str> {
        let range = range_in(self.part, span);
        let is_in_brackets = self.is_in_brackets();
        if let Some(message) = dialect::misread(text, is_in_brackets) {
            self.fault(range, message);
        }
        let end = span.end.byte_offset().unwrap_or_default();
        let behind = self.part.text.get(end..).unwrap_or_default();
        if !is_in_brackets || !dialect::ends_with_colon(behind) || self.awaited_key().is_none() {
            return text.into();
        }
        if let Some(open) = self.open.last_mut()
            && let Content::Map { is_text, .. } = &mut open.content
        {
            *is_text = open.place == range.start;
        }
        format!("{text}:").into()
    }

    /// Checks that no line between the last token and the next one, which has this span, is indented with a tab.
    fn check_indentation(&mut self, next: &Span) -> Result<(), Problem> {
        let start = next.start.byte_offset().unwrap_or_default();
        let above = self.part.text.get(..start).unwrap_or_default();
        let gap = above.get(self.read..).unwrap_or_default();
        let begins_line = matches!(above.as_bytes().get(..self.read), Some([] | [.., b'\n']));
        if !self.is_in_brackets()
            && let Some((below, column)) =
                dialect::tab_in_indentation(gap, begins_line, self.tabs_from)
        {
            let line = next.start.line().saturating_sub(below);
            let line = line.saturating_add(self.part.lines_above);
            let place = Place::new(line, column.saturating_add(1));
            return Err(syntax(place, dialect::TAB));
        }
        // The lines above are not searched again for the next token, if this one is empty.
        let lines = gap.rfind('\n').map_or(0, |end| end.saturating_add(1));
        self.read = self.read.saturating_add(lines);
        Ok(())
    }

    fn start(
        &mut self,
        place: Place,
        style: StructureStyle,
        anchor: usize,
        content: Content,
    ) -> Result<(), Problem> {
        if self.awaited_key().is_some() {
            return Err(syntax(place, "a list or map cannot be a key"));
        }
        if self.open.len() >= MAX_DEPTH {
            return Err(too_deep(place));
        }
        self.open.push(Open {
            place,
            style,
            anchor,
            height: 0,
            size: 1,
            content,
        });
        Ok(())
    }

    /// Whether the innermost list or map that is being read is written in brackets.
    pub(super) fn is_in_brackets(&self) -> bool {
        let innermost = self.open.last();
        innermost.is_some_and(|open| open.style == StructureStyle::Flow)
    }

    /// The beginning of the innermost list or map that is being read.
    pub(super) fn innermost(&self) -> Option<Place> {
        self.open.last().map(|open| open.place)
    }

    /// Records a problem of a value and continues.
    fn fault(&mut self, range: Range, message: String) {
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
            Content::Map {
                mut fields,
                is_text: true,
                ..
            } => {
                let text = std::mem::take(&mut fields).into_iter().next();
                let text = text.map_or(Json::Null, |(text, _)| Json::String(text));
                (text, Node::leaf(open.place.into()))
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

fn leaf(value: Json, node: Node) -> Built {
    let bytes = value.as_str().map_or(0, str::len);
    Built {
        value,
        node,
        height: 0,
        size: bytes.div_ceil(VALUE_BYTES).saturating_add(1),
    }
}

fn too_deep(place: Place) -> Problem {
    syntax(place, format!("nested deeper than {MAX_DEPTH}"))
}

//! YAML texts as JSON values with places, as `go.yaml.in/yaml/v2` decodes them into untyped values.

use std::collections::{BTreeMap, HashMap};

use granit_parser::{Event, Parser, ScalarStyle, ScanError, Span, Tag};
use serde_json::{Map, Value as Json};

use crate::Document;
use crate::layout::{Node, TextLines};
use crate::place::{Place, Problem};

mod scalar;

use scalar::Scalar;

/// What a YAML value may be nested: as deep as the JSON that is read here.
const MAX_DEPTH: usize = 127;

/// How many values aliases may expand to in one text; without a bound a few lines fill the memory.
const MAX_ALIASED: usize = 100_000;

/// Reads the documents of a text, without the empty ones.
pub(crate) fn read(text: &str) -> Result<Vec<Document>, Problem> {
    let mut documents = Vec::new();
    let mut builder = Builder::new(text);
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| scan_problem(&error))?;
        if let Some(document) = builder.event(event, span)? {
            documents.push(document);
        }
    }
    Ok(documents)
}

fn scan_problem(error: &ScanError) -> Problem {
    let marker = error.marker();
    let place = Place::new(marker.line(), marker.col().saturating_add(1));
    Problem::new(place, error.info())
}

/// A value that is complete.
#[derive(Debug, Clone)]
struct Built {
    value: Json,
    node: Node,
    /// How deep it is nested: 0 of a scalar.
    height: usize,
    /// How many values it is made of.
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
        /// The keys written here (not merged), for what comes twice.
        keys: BTreeMap<String, Place>,
        /// The key whose value is next.
        key: Option<Key>,
    },
}

enum Key {
    Name(String),
    Merge,
}

/// Builds values from events, with a stack of its own: a text may be nested deeper than a thread's stack.
struct Builder<'t> {
    text: &'t str,
    open: Vec<Open>,
    root: Option<Built>,
    anchors: HashMap<usize, Built>,
    aliased: usize,
    duplicates: Vec<Problem>,
}

impl<'t> Builder<'t> {
    fn new(text: &'t str) -> Self {
        Builder {
            text,
            open: Vec::new(),
            root: None,
            anchors: HashMap::new(),
            aliased: 0,
            duplicates: Vec::new(),
        }
    }

    fn event(&mut self, event: Event<'_>, span: Span) -> Result<Option<Document>, Problem> {
        let place = place_of(&span);
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
            Event::SequenceEnd | Event::MappingEnd => self.end()?,
            Event::Alias(anchor) => self.alias(anchor, place)?,
            Event::DocumentEnd => return Ok(self.document()),
            _ => {}
        }
        Ok(None)
    }

    fn document(&mut self) -> Option<Document> {
        self.anchors.clear();
        let duplicates = std::mem::take(&mut self.duplicates);
        let Built { value, node, .. } = self.root.take()?;
        (!value.is_null()).then_some(Document {
            value,
            layout: node,
            duplicates,
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
        let place = place_of(span);
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
            (_, Some(tag)) => scalar::resolve_tagged(tag.suffix(), text).ok_or_else(|| {
                Problem::new(
                    place,
                    format!("cannot decode `{text}` as a !!{}", tag.suffix()),
                )
            })?,
            _ => Scalar::Text(text.to_owned()),
        };
        if self.awaited_key().is_some() {
            if anchor > 0
                && let Some(value) = resolved.clone().into_json()
            {
                self.anchors.insert(anchor, leaf(value, Node::leaf(place)));
            }
            let name = resolved
                .into_key()
                .ok_or_else(|| Problem::new(place, format!("`{text}` cannot be a key")))?;
            return self.name(name, place);
        }
        let node = match &resolved {
            Scalar::Text(text) => self.text_node(text, style, span),
            _ => Node::leaf(place),
        };
        let value = resolved
            .into_json()
            .ok_or_else(|| Problem::new(place, format!("the number `{text}` is not finite")))?;
        self.value(leaf(value, node), anchor)
    }

    /// Where a text is, and its lines where they can be told.
    fn text_node(&self, text: &str, style: ScalarStyle, span: &Span) -> Node {
        let place = place_of(span);
        let one_line = span.start.line() == span.end.line();
        match style {
            ScalarStyle::Literal => {
                // The span begins at the first character that is no line break.
                let breaks = text.chars().take_while(|c| *c == '\n').count();
                let lines_above = u32::try_from(breaks).unwrap_or(u32::MAX);
                let first = Place {
                    line: place.line.saturating_sub(lines_above),
                    column: place.column,
                };
                Node::text(place, TextLines::Block { first })
            }
            ScalarStyle::Plain if one_line => Node::text(place, TextLines::One { offset: 0 }),
            ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted if one_line => {
                // With escapes the columns are others.
                let source = span.slice(self.text).unwrap_or_default();
                let verbatim = source.chars().count() == text.chars().count().saturating_add(2);
                match verbatim {
                    true => Node::text(place, TextLines::One { offset: 1 }),
                    false => Node::leaf(place),
                }
            }
            _ => Node::leaf(place),
        }
    }

    fn start(&mut self, place: Place, anchor: usize, content: Content) -> Result<(), Problem> {
        if self.awaited_key().is_some() {
            return Err(Problem::new(place, "a list or map cannot be a key"));
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

    fn end(&mut self) -> Result<(), Problem> {
        let Some(open) = self.open.pop() else {
            return Ok(());
        };
        let (value, node) = match open.content {
            Content::List { items, nodes } => (Json::Array(items), Node::list(open.place, nodes)),
            Content::Map { fields, nodes, .. } => {
                (Json::Object(fields), Node::map(open.place, nodes))
            }
        };
        let built = Built {
            value,
            node,
            height: open.height.saturating_add(1),
            size: open.size,
        };
        self.value(built, open.anchor)
    }

    fn alias(&mut self, anchor: usize, place: Place) -> Result<(), Problem> {
        let Some(built) = self.anchors.get(&anchor) else {
            return Err(Problem::new(place, "the anchor contains itself"));
        };
        self.aliased = self.aliased.saturating_add(built.size);
        if self.aliased > MAX_ALIASED {
            return Err(Problem::new(place, "the aliases expand to too many values"));
        }
        if self.open.len().saturating_add(built.height) > MAX_DEPTH {
            return Err(too_deep(place));
        }
        let built = built.clone();
        if self.awaited_key().is_some() {
            return match built.value {
                Json::String(name) => self.name(name, place),
                Json::Number(number) => self.name(number.to_string(), place),
                Json::Bool(value) => self.name(value.to_string(), place),
                _ => Err(Problem::new(place, "this value cannot be a key")),
            };
        }
        self.value(built, 0)
    }

    /// The place for a key, where one is next.
    fn awaited_key(&mut self) -> Option<&mut Option<Key>> {
        match &mut self.open.last_mut()?.content {
            Content::Map { key, .. } if key.is_none() => Some(key),
            _ => None,
        }
    }

    fn name(&mut self, name: String, place: Place) -> Result<(), Problem> {
        if let Some(Open {
            content: Content::Map { keys, key, .. },
            ..
        }) = self.open.last_mut()
        {
            match keys.get(&name) {
                Some(first) => self
                    .duplicates
                    .push(Problem::duplicate(&name, place, *first)),
                None => {
                    keys.insert(name.clone(), place);
                }
            }
            *key = Some(Key::Name(name));
        }
        Ok(())
    }

    /// Puts a complete value where it belongs.
    fn value(&mut self, built: Built, anchor: usize) -> Result<(), Problem> {
        if anchor > 0 {
            self.anchors.insert(anchor, built.clone());
        }
        let Some(open) = self.open.last_mut() else {
            self.root = Some(built);
            return Ok(());
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
                Some(Key::Name(name)) => {
                    fields.insert(name.clone(), built.value);
                    nodes.insert(name, built.node);
                }
                Some(Key::Merge) => merge(fields, nodes, built)?,
                None => {}
            },
        }
        Ok(())
    }
}

/// `<<`: the entries of a map, or of several, the first of which counts most. They replace what stands before and are
/// replaced by what follows.
fn merge(
    fields: &mut Map<String, Json>,
    nodes: &mut BTreeMap<String, Node>,
    built: Built,
) -> Result<(), Problem> {
    let place = built.node.place();
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
        _ => return Err(Problem::new(place, "`<<` needs a map or a list of maps")),
    }
    Ok(())
}

fn leaf(value: Json, node: Node) -> Built {
    Built {
        value,
        node,
        height: 0,
        size: 1,
    }
}

fn place_of(span: &Span) -> Place {
    Place::new(span.start.line(), span.start.col().saturating_add(1))
}

fn too_deep(place: Place) -> Problem {
    Problem::new(place, format!("nested deeper than {MAX_DEPTH}"))
}

//! Builds nodes from a schema (apiserver `pkg/cel/common/schemas.go`, apiextensions `pkg/apiserver/schema/cel/model`).

use std::collections::{BTreeMap, HashMap};
use std::ptr;
use std::sync::{Arc, LazyLock};

use gavel_apimachinery::server::{Difference, Server};
use gavel_engine::value::{Json, Shape};
use rustc_hash::FxHashMap;
use smol_str::SmolStr;

use super::escape::escape;
use super::node::{Format, Joined, Kind, ListType, Node, Property};
use crate::JsonSchema;

/// The size limit of a request, in bytes.
pub const MAX_REQUEST_SIZE: u64 = 3 * 1024 * 1024;
/// The size limit of a list, object or string that fills a whole request, in bytes. Brackets, braces and quotes do not count.
const MAX_CONTENT_SIZE: u64 = MAX_REQUEST_SIZE - 2;

/// The minimum number of JSON bytes for values of a type.
mod min_size {
    pub(super) const CONTAINER: u64 = 2;
    pub(super) const STRING: u64 = 2;
    pub(super) const BOOL: u64 = 4;
    pub(super) const NUMBER: u64 = 1;
    pub(super) const INT_OR_STRING: u64 = 1;
    pub(super) const DURATION: u64 = 3;
    pub(super) const DATE: u64 = 12;
    pub(super) const DATE_TIME: u64 = 21;
    /// The bytes of a property without its name and value: two quotes, a colon and a comma.
    pub(super) const PROPERTY: u64 = 4;
    /// The bytes of a map entry with the shortest key, without its value.
    pub(super) const ENTRY: u64 = 6;
}

/// The size limit of a duration, date or time, in bytes.
const MAX_DURATION_SIZE: u64 = 32;
const MAX_DATE_SIZE: u64 = 12;
const MAX_DATE_TIME_SIZE: u64 = 32;

/// The size limit of a resource's name, in bytes.
const MAX_NAME: i64 = 253;

/// Builds the node of a schema. `is_resource` marks the schema of a resource, which has `kind`, `apiVersion` and `metadata` even if the
/// schema does not declare them.
pub(super) fn build(schema: &JsonSchema, is_resource: bool, server: Server) -> Shape {
    let mut builder = Builder {
        server,
        ..Builder::default()
    };
    builder.node(schema, is_resource);
    // The root is built last.
    let nothing = || Shape::new(invisible(Kind::Preserved));
    builder.shapes.pop().unwrap_or_else(nothing)
}

/// Builds the nodes of a schema for CEL, and shares equal nodes.
#[derive(Debug, Default)]
struct Builder {
    server: Server,
    /// The indices of nodes, keyed by the address of the schema and by whether the schema is that of a resource.
    visited: FxHashMap<(*const JsonSchema, bool), usize>,
    known: HashMap<Node<usize>, usize>,
    shapes: Vec<Shape>,
    /// The schemas that the builder created. They stay alive so that no other schema gets the same address.
    made: Vec<Arc<JsonSchema>>,
}

/// Facts about a node that its parent node reads.
struct Child {
    visible: bool,
    min_serialized_size: u64,
}

impl Builder {
    /// Builds the node of a schema, unless it was built before, and returns its index. The recursion is as deep as the schema; the
    /// reader of schemas limits this depth.
    fn node(&mut self, schema: &JsonSchema, is_resource: bool) -> usize {
        let is_resource = is_resource || schema.embedded_resource;
        let visit = (ptr::from_ref(schema), is_resource);
        if let Some(place) = self.visited.get(&visit) {
            return *place;
        }
        let node = if schema.int_or_string {
            leaf(
                Kind::IntOrString,
                min_size::INT_OR_STRING,
                max_length(schema).unwrap_or(MAX_CONTENT_SIZE),
            )
        } else {
            match schema.kind.as_str() {
                "array" => self.list(schema),
                "object" if is_resource => {
                    let metadata = self.metadata(schema);
                    self.object(schema, &resource_properties(schema, &metadata))
                }
                "object" => {
                    let properties = schema.properties.iter();
                    let properties =
                        properties.map(|(name, property)| (name.as_str(), &**property));
                    self.object(schema, &properties.collect())
                }
                "string" => text(schema),
                "boolean" => leaf(Kind::Bool, min_size::BOOL, 0),
                "number" => leaf(Kind::Double, min_size::NUMBER, 0),
                "integer" => leaf(Kind::Int, min_size::NUMBER, 0),
                _ if schema.preserves_unknown_fields() => invisible(Kind::Preserved),
                other => invisible(Kind::Unknown(other.into())),
            }
        };
        let place = self.intern(Node {
            nullable: schema.nullable,
            ..node
        });
        self.visited.insert(visit, place);
        place
    }

    /// The standard schema of a resource's metadata: `name` and `generateName`, with length limits on servers that bound names.
    /// `resource_properties` uses it if the resource's schema does not declare all standard properties.
    fn metadata(&mut self, schema: &JsonSchema) -> Arc<JsonSchema> {
        let text = |name: &str, most: i64| {
            let metadata = schema.properties.get("metadata");
            let declared = metadata.and_then(|metadata| metadata.properties.get(name));
            let declared = declared.and_then(|property| property.bounds.max_length);
            let mut text = JsonSchema {
                kind: SmolStr::new_static("string"),
                ..JsonSchema::default()
            };
            if self.server.has(Difference::NamesOfResourcesAreBounded) {
                text.bounds.max_length = Some(declared.unwrap_or(most).min(most));
            }
            (SmolStr::new(name), Arc::new(text))
        };
        let properties = [
            text("name", MAX_NAME),
            text("generateName", MAX_NAME.saturating_sub(1)),
        ];
        let metadata = Arc::new(JsonSchema {
            kind: SmolStr::new_static("object"),
            properties: properties.into_iter().collect(),
            ..JsonSchema::default()
        });
        self.made.push(Arc::clone(&metadata));
        metadata
    }

    fn list(&mut self, schema: &JsonSchema) -> Node<usize> {
        let Some(item) = schema.item() else {
            return invisible(Kind::ListWithoutItems);
        };
        let place = self.node(item, false);
        let item = self.child(place);
        let joined = match self.server.has(Difference::JoinedListsHoldValues) {
            true => Joined::OfValues,
            false => Joined::OfSchema,
        };
        let most = MAX_CONTENT_SIZE.checked_div(item.min_serialized_size.saturating_add(1));
        Node {
            visible: item.visible,
            ..leaf(
                Kind::List(place, list_type(schema), joined),
                min_size::CONTAINER,
                bound(schema.bounds.max_items).or(most).unwrap_or(0),
            )
        }
    }

    fn object(
        &mut self,
        schema: &JsonSchema,
        properties: &BTreeMap<&str, &JsonSchema>,
    ) -> Node<usize> {
        let required = schema.required_names();
        let mut size = min_size::CONTAINER;
        let mut nodes = Vec::with_capacity(properties.len());
        for (name, property) in properties {
            let place = self.node(property, false);
            let child = self.child(place);
            let is_required = required.contains(name);
            // A property with a default may be missing from the JSON.
            if child.visible && is_required && property.default.is_none() {
                let name = u64::try_from(name.len()).unwrap_or(u64::MAX);
                size = size
                    .saturating_add(name)
                    .saturating_add(child.min_serialized_size)
                    .saturating_add(min_size::PROPERTY);
            }
            nodes.push(Property::new(name, place));
        }
        let Some(value) = schema.value() else {
            return leaf(Kind::Object(nodes.into()), size, 0);
        };
        let place = self.node(value, false);
        let value = self.child(place);
        let most =
            MAX_CONTENT_SIZE.checked_div(value.min_serialized_size.saturating_add(min_size::ENTRY));
        Node {
            visible: value.visible,
            ..leaf(
                Kind::Map(place, nodes.into()),
                min_size::CONTAINER,
                bound(schema.bounds.max_properties).or(most).unwrap_or(0),
            )
        }
    }

    fn child(&self, place: usize) -> Child {
        let node = self.shapes.get(place).and_then(Node::of);
        Child {
            visible: node.is_some_and(|node| node.visible),
            min_serialized_size: node.map_or(0, |node| node.min_serialized_size),
        }
    }

    fn intern(&mut self, node: Node<usize>) -> usize {
        if let Some(place) = self.known.get(&node) {
            return *place;
        }
        let place = self.shapes.len();
        self.shapes.push(Shape::new(self.linked(&node)));
        self.known.insert(node, place);
        place
    }

    /// A copy of the node that refers to the nodes below it by their shapes instead of their indices.
    fn linked(&self, node: &Node<usize>) -> Node {
        // The child nodes were built before this node.
        let shape = |place: &usize| self.shapes.get(*place).cloned();
        let linked = |properties: &[Property<usize>]| -> Box<[Property]> {
            let properties = properties.iter();
            properties
                .filter_map(|property| Some(property.with_node(shape(&property.node)?)))
                .collect()
        };
        let kind = match &node.kind {
            Kind::IntOrString => Kind::IntOrString,
            Kind::Bool => Kind::Bool,
            Kind::Double => Kind::Double,
            Kind::Int => Kind::Int,
            Kind::Text(format) => Kind::Text(*format),
            Kind::Object(properties) => Kind::Object(linked(properties)),
            Kind::Map(value, properties) => shape(value).map_or(Kind::Preserved, |value| {
                Kind::Map(value, linked(properties))
            }),
            Kind::List(item, list_type, joined) => shape(item)
                .map_or(Kind::ListWithoutItems, |item| {
                    Kind::List(item, list_type.clone(), *joined)
                }),
            Kind::ListWithoutItems => Kind::ListWithoutItems,
            Kind::Preserved => Kind::Preserved,
            Kind::Unknown(name) => Kind::Unknown(name.clone()),
        };
        Node {
            kind,
            nullable: node.nullable,
            visible: node.visible,
            min_serialized_size: node.min_serialized_size,
            max_elements: node.max_elements,
        }
    }
}

fn leaf<C>(kind: Kind<C>, min_serialized_size: u64, max_elements: u64) -> Node<C> {
    Node {
        kind,
        nullable: false,
        visible: true,
        min_serialized_size,
        max_elements,
    }
}

fn invisible<C>(kind: Kind<C>) -> Node<C> {
    Node {
        visible: false,
        ..leaf(kind, 0, 0)
    }
}

fn text<C>(schema: &JsonSchema) -> Node<C> {
    let (format, min_size, max_elements) = match schema.format.as_str() {
        "byte" => (
            Format::Bytes,
            min_size::STRING,
            bound(schema.bounds.max_length).unwrap_or(MAX_CONTENT_SIZE),
        ),
        "duration" => (Format::Duration, min_size::DURATION, MAX_DURATION_SIZE),
        "date" => (Format::Date, min_size::DATE, MAX_DATE_SIZE),
        "date-time" => (Format::DateTime, min_size::DATE_TIME, MAX_DATE_TIME_SIZE),
        _ => {
            let length = max_length(schema).or_else(|| longest_choice(&schema.bounds.enumeration));
            (
                Format::Plain,
                min_size::STRING,
                length.unwrap_or(MAX_CONTENT_SIZE),
            )
        }
    };
    leaf(Kind::Text(format), min_size, max_elements)
}

fn list_type(schema: &JsonSchema) -> ListType {
    match schema.topology.list_type.as_deref() {
        None | Some("" | "atomic") => ListType::Atomic,
        Some("set") => ListType::Set,
        Some("map") => {
            let keys = schema.topology.list_map_keys.iter();
            ListType::Map(
                keys.map(|key| escape(key).unwrap_or(key.as_str().into()).into())
                    .collect(),
            )
        }
        Some(other) => ListType::Unknown(other.into()),
    }
}

/// A bound that a schema sets; a negative bound is 0.
fn bound(most: Option<i64>) -> Option<u64> {
    most.map(|most| u64::try_from(most).unwrap_or(0))
}

/// The length limit of a string in bytes: each code point may take four bytes. As in upstream, the multiplication can overflow.
fn max_length(schema: &JsonSchema) -> Option<u64> {
    let length = schema.bounds.max_length?.max(0);
    Some(length.wrapping_mul(4).cast_unsigned())
}

/// The length of the longest string in an enumeration, in bytes; `None` for an empty enumeration.
fn longest_choice(enumeration: &[Json]) -> Option<u64> {
    let length = |choice: &Json| choice.as_str().map_or(0, str::len);
    let longest = enumeration.iter().map(length).max()?;
    u64::try_from(longest).ok()
}

/// The properties of a resource's schema. If the schema declares `kind`, `apiVersion`, `metadata.name` and `metadata.generateName` with
/// their types, its properties are used as they are. Otherwise, standard properties replace `kind`, `apiVersion` and `metadata`.
fn resource_properties<'s>(
    schema: &'s JsonSchema,
    metadata: &'s JsonSchema,
) -> BTreeMap<&'s str, &'s JsonSchema> {
    static STRING: LazyLock<JsonSchema> = LazyLock::new(|| JsonSchema {
        kind: SmolStr::new_static("string"),
        ..JsonSchema::default()
    });
    let mut properties: BTreeMap<&str, &JsonSchema> = schema
        .properties
        .iter()
        .map(|(name, property)| (name.as_str(), &**property))
        .collect();
    let has = |schema: &JsonSchema, name: &str, kind: &str| {
        let property = schema.properties.get(name);
        property.is_some_and(|property| property.kind == kind)
    };
    let declared = schema.properties.get("metadata");
    let is_complete = has(schema, "kind", "string")
        && has(schema, "apiVersion", "string")
        && has(schema, "metadata", "object")
        && declared.is_some_and(|metadata| {
            has(metadata, "name", "string") && has(metadata, "generateName", "string")
        });
    if !is_complete {
        properties.extend([
            ("kind", &*STRING),
            ("apiVersion", &*STRING),
            ("metadata", metadata),
        ]);
    }
    properties
}

//! Finds the types of nodes by name, and the sizes of values by path (apiserver `pkg/cel/types.go`, apiextensions
//! `pkg/apiserver/schema/cel`).

use std::hash::{DefaultHasher, Hash, Hasher};
use std::mem::discriminant;

use gavel_engine::cost::SizeEstimate;
use gavel_engine::decl::TypeProvider;
use gavel_engine::types::{Type, TypeName};
use gavel_engine::value::{FieldPlace, Shape};

use super::CelSchema;
use super::escape::is_reserved;
use super::node::{Format, Kind, Node};

/// The name of a type, stored as the name of the enclosing type and one more part. The text of the name is built only if it is needed.
#[derive(Clone, Copy)]
struct NodeName<'n> {
    parent: Option<&'n NodeName<'n>>,
    part: &'n str,
}

impl<'n> NodeName<'n> {
    fn below(&'n self, part: &'n str) -> Self {
        NodeName {
            parent: Some(self),
            part,
        }
    }

    fn length(&self) -> usize {
        let parent = self
            .parent
            .map_or(0, |parent| parent.length().saturating_add(1));
        parent.saturating_add(self.part.len())
    }

    fn write(&self, text: &mut String) {
        if let Some(parent) = self.parent {
            parent.write(text);
            text.push('.');
        }
        text.push_str(self.part);
    }
}

impl From<NodeName<'_>> for TypeName {
    fn from(name: NodeName<'_>) -> Self {
        let mut text = String::with_capacity(name.length());
        name.write(&mut text);
        text.into()
    }
}

/// The type of a node. The names of object types begin with `name`. `None` if expressions cannot read the node.
pub(super) fn type_of(shape: &Shape, name: &str) -> Option<Type> {
    type_named(
        shape,
        NodeName {
            parent: None,
            part: name,
        },
    )
}

fn type_named(shape: &Shape, name: NodeName<'_>) -> Option<Type> {
    let node = Node::of(shape).filter(|node| node.visible)?;
    Some(match &node.kind {
        Kind::IntOrString => Type::Dyn,
        Kind::Bool => Type::Bool,
        Kind::Double => Type::Double,
        Kind::Int => Type::Int,
        Kind::Text(Format::Plain) => Type::String,
        Kind::Text(Format::Bytes) => Type::Bytes,
        Kind::Text(Format::Duration) => Type::Duration,
        Kind::Text(Format::Date | Format::DateTime) => Type::Timestamp,
        Kind::Object(_) => Type::Struct(name.into()),
        Kind::Map(value, _) => Type::map(Type::String, type_named(value, name.below("@elem"))?),
        Kind::List(item, ..) => Type::list(type_named(item, name.below("@idx"))?),
        Kind::ListWithoutItems | Kind::Preserved | Kind::Unknown(_) => return None,
    })
}

/// The size of the value at the end of a path that begins at a node. The steps are those of [`CelSchema::size_at`].
pub(super) fn size_at(shape: &Shape, steps: &[&str]) -> Option<SizeEstimate> {
    let mut shape = shape;
    for (n, step) in steps.iter().enumerate() {
        let node = Node::of(shape)?;
        shape = match (*step, &node.kind) {
            ("@items" | "@values", Kind::List(inner, ..) | Kind::Map(inner, _)) => inner,
            // Keys have size 0, and no steps follow them.
            ("@keys", Kind::Map(..)) => {
                return (n.saturating_add(1) == steps.len()).then(|| SizeEstimate::exact(0));
            }
            (field, _) => &node.field(field)?.node,
        };
    }
    let node = Node::of(shape).filter(|node| node.visible)?;
    Some(SizeEstimate {
        min: 0,
        max: node.max_elements,
    })
}

/// The types of a schema and of all schemas below it. A type is found by its name, such as `selfType1.spec.@idx`.
#[derive(Debug, Clone)]
pub struct SchemaTypes {
    root: CelSchema,
    reserved_words: bool,
}

impl SchemaTypes {
    pub(super) fn new(root: CelSchema, reserved_words: bool) -> Self {
        SchemaTypes {
            root,
            reserved_words,
        }
    }

    /// The node whose type has this name.
    fn find(&self, name: &str) -> Option<&Shape> {
        let path = name.strip_prefix(self.root.name.as_str())?;
        let mut shape = &self.root.shape;
        if path.is_empty() {
            return Some(shape);
        }
        for step in path.strip_prefix('.')?.split('.') {
            let node = Node::of(shape)?;
            shape = match (step, &node.kind) {
                ("@idx", Kind::List(inner, ..)) | ("@elem", Kind::Map(inner, _)) => inner,
                _ => &node.field(step)?.node,
            };
        }
        Some(shape)
    }
}

impl TypeProvider for SchemaTypes {
    fn find_type(&self, name: &str) -> Option<Type> {
        let Some(shape) = self.find(name) else {
            return scalar_type(name);
        };
        let node = Node::of(shape).filter(|node| node.visible)?;
        match node.kind {
            Kind::Object(_) => Some(Type::Struct(name.into())),
            Kind::Map(..) | Kind::List(..) => type_of(shape, name),
            _ => None,
        }
    }

    fn has_names_below(&self, root: &str) -> bool {
        let rest = self.root.name.strip_prefix(root);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    }

    fn field_place(&self, type_name: &str, field: &str) -> FieldPlace {
        let node = self.find(type_name).and_then(Node::of);
        node.map_or(FieldPlace::UNKNOWN, |node| node.place_of(field))
    }

    fn fingerprint(&self, type_name: &str) -> Option<u64> {
        let mut hasher = DefaultHasher::new();
        hash_type(self.find(type_name)?, &mut hasher);
        Some(hasher.finish())
    }

    fn field_type(&self, type_name: &str, field: &str) -> Option<Type> {
        let Some(shape) = self.find(type_name) else {
            return scalar_field(type_name);
        };
        let node = Node::of(shape)?;
        let name = NodeName {
            parent: None,
            part: type_name,
        };
        let typed = |field: &str| type_named(&node.field(field)?.node, name.below(field));
        typed(field).or_else(|| match self.reserved_words && is_reserved(field) {
            true => typed(&format!("__{field}__")),
            false => None,
        })
    }
}

/// The types that upstream's providers find in addition to their own types (apiserver `pkg/cel/types.go`, `findScalar`). They include
/// `duration` and `timestamp`: an expression that uses such a name passes the checker, but cannot be compiled to a program.
pub fn scalar_type(name: &str) -> Option<Type> {
    match name {
        "duration" => Some(Type::Duration),
        "timestamp" => Some(Type::Timestamp),
        "bool" | "bytes" | "double" | "int" | "list" | "map" | "null_type" | "string" | "uint" => {
            Type::named(name)
        }
        _ => None,
    }
}

/// The type of each field of a [`scalar_type`]. Only `map` has fields.
pub fn scalar_field(type_name: &str) -> Option<Type> {
    (type_name == "map").then_some(Type::Dyn)
}

/// Hashes what the type of a node consists of: its kind, and the names and types of its properties and elements.
fn hash_type(shape: &Shape, hasher: &mut DefaultHasher) {
    let Some(node) = Node::of(shape) else { return };
    (node.visible, discriminant(&node.kind)).hash(hasher);
    let mut properties = [].as_slice();
    match &node.kind {
        Kind::Text(format) => format.hash(hasher),
        Kind::Object(all) => properties = all,
        Kind::Map(inner, all) => {
            hash_type(inner, hasher);
            properties = all;
        }
        Kind::List(inner, ..) => hash_type(inner, hasher),
        _ => {}
    }
    for property in properties {
        property.name.hash(hasher);
        hash_type(&property.node, hasher);
    }
}

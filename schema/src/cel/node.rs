//! The CEL properties of a schema node, stored compactly: equal parts of a schema share a node.

use gavel_engine::value::{FieldPlace, Shape, same_text};

use super::escape::escape;

/// A node: how JSON is read through it, and the properties of its type that do not depend on the position of the node.
///
/// `C` is the type of references to child nodes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Node<C = Shape> {
    pub(super) kind: Kind<C>,
    /// Whether null is a valid value.
    pub(super) nullable: bool,
    /// Whether the node has a CEL type. Expressions cannot read a node without one.
    pub(super) visible: bool,
    /// The minimum number of JSON bytes for a value.
    pub(super) min_serialized_size: u64,
    /// The maximum number of code points, bytes, elements or entries of a value, as estimates use it; 0 for values without a size.
    pub(super) max_elements: u64,
}

/// The kind of value that a node describes, with the child nodes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Kind<C> {
    /// `x-kubernetes-int-or-string`
    IntOrString,
    Bool,
    Double,
    Int,
    Text(Format),
    /// An object with properties, ordered by name. An object without properties has no known fields.
    Object(Box<[Property<C>]>),
    /// An object with a schema of `additionalProperties`. Its type is a map. If an invalid definition declares properties too, objects are
    /// read through the properties only.
    Map(C, Box<[Property<C>]>),
    List(C, ListType, Joined),
    ListWithoutItems,
    /// A value without a known type.
    Preserved,
    /// Any other type, by name.
    Unknown(Box<str>),
}

/// A property of an object.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Property<C = Shape> {
    pub(super) name: Box<str>,
    /// The name as an identifier, if the identifier differs from the name; empty if the name cannot be escaped.
    escaped: Option<Box<str>>,
    pub(super) node: C,
}

/// The format of a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Format {
    Plain,
    Bytes,
    Duration,
    Date,
    DateTime,
}

/// `x-kubernetes-list-type`
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum ListType {
    Atomic,
    Set,
    /// A list map with the names of its key fields, escaped as upstream escapes them.
    Map(Box<[Box<str>]>),
    Unknown(Box<str>),
}

/// The kind of list that `+` returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Joined {
    /// A list with the schema of the left list, which also applies to the appended elements.
    OfSchema,
    /// A list of CEL values; only equality and `+` still treat it as a set or list map.
    OfValues,
}

impl<C> Property<C> {
    pub(super) fn new(name: &str, node: C) -> Self {
        let escaped = match escape(name) {
            Some(escaped) if escaped == name => None,
            escaped => Some(escaped.unwrap_or_default().into()),
        };
        Property {
            name: name.into(),
            escaped,
            node,
        }
    }

    /// The property with another node.
    pub(super) fn with_node<D>(&self, node: D) -> Property<D> {
        Property {
            name: self.name.clone(),
            escaped: self.escaped.clone(),
            node,
        }
    }

    /// Whether this is the property's name as an identifier.
    #[inline]
    pub(super) fn is_identified_by(&self, identifier: &str) -> bool {
        let known = self.escaped.as_deref().unwrap_or(&self.name);
        !known.is_empty() && same_text(known, identifier)
    }

    /// The name as an identifier; `None` if the name cannot be escaped.
    pub(super) fn identifier(&self) -> Option<&str> {
        let identifier = self.escaped.as_deref().unwrap_or(&self.name);
        Some(identifier).filter(|identifier| !identifier.is_empty())
    }
}

impl<C> Node<C> {
    /// The properties of objects; `None` if the values are read as maps or are not objects.
    pub(super) fn properties(&self) -> Option<&[Property<C>]> {
        match &self.kind {
            Kind::Object(properties) => Some(properties),
            Kind::Map(_, properties) => Some(&**properties).filter(|some| !some.is_empty()),
            _ => None,
        }
    }

    /// The schema of the values of objects that are read as maps.
    #[inline]
    pub(super) fn value_of_map(&self) -> Option<&C> {
        match &self.kind {
            Kind::Map(value, properties) if properties.is_empty() => Some(value),
            _ => None,
        }
    }

    /// The schema of the elements of a list or the values of a map.
    pub(super) fn inner(&self) -> Option<&C> {
        match &self.kind {
            Kind::List(element, ..) | Kind::Map(element, _) => Some(element),
            _ => None,
        }
    }

    /// The field with this identifier in the type of an object; `None` for maps.
    pub(super) fn field(&self, identifier: &str) -> Option<&Property<C>> {
        match self.kind {
            Kind::Object(_) => self.property_of_identifier(identifier),
            _ => None,
        }
    }

    /// The property of this name.
    pub(super) fn property(&self, name: &str) -> Option<&Property<C>> {
        let properties = self.properties()?;
        // Most names differ in length, so a linear search is fast for few properties.
        if properties.len() <= 8 {
            return properties.iter().find(|property| *property.name == *name);
        }
        let found = properties.binary_search_by(|property| (*property.name).cmp(name));
        properties.get(found.ok()?)
    }

    /// The position of the property with this identifier; [`FieldPlace::UNKNOWN`] if there is none.
    pub(super) fn place_of(&self, identifier: &str) -> FieldPlace {
        let mut properties = self.properties().unwrap_or_default().iter();
        let place = properties.position(|property| property.is_identified_by(identifier));
        place.map_or(FieldPlace::UNKNOWN, FieldPlace::new)
    }

    /// The property with this identifier.
    pub(super) fn property_of_identifier(&self, identifier: &str) -> Option<&Property<C>> {
        let mut properties = self.properties()?.iter();
        properties.find(|property| property.is_identified_by(identifier))
    }
}

impl Node {
    /// The node of a shape; `None` for a shape that this crate did not create.
    pub(super) fn of(shape: &Shape) -> Option<&Node> {
        shape.downcast_ref()
    }
}

//! What CEL knows of a node of a schema, in little memory: equal parts of a schema are one node.

use gavel_engine::value::Shape;

use super::escape::escape;

/// A node: how its JSON is read, and its type as far as that does not depend on where it is.
///
/// `C` is what stands for the nodes below.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Node<C = Shape> {
    pub(super) kind: Kind<C>,
    /// Whether null is a value.
    pub(super) nullable: bool,
    /// Whether expressions know the node: it has a type.
    pub(super) visible: bool,
    /// The fewest bytes of JSON that a value takes.
    pub(super) min_serialized_size: u64,
    /// The most code points, bytes, elements or entries of a value as estimates take it; 0 of what has no size.
    pub(super) max_elements: u64,
}

/// What a node holds.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Kind<C> {
    /// `x-kubernetes-int-or-string`
    IntOrString,
    Bool,
    Double,
    Int,
    Text(Format),
    /// An object with properties, ordered by name. One without any has no known fields.
    Object(Box<[Property<C>]>),
    /// An object with a schema of `additionalProperties`. Its type is a map, but where properties are declared beside that
    /// schema, which no valid definition does, objects are read through the properties alone.
    Map(C, Box<[Property<C>]>),
    List(C, ListType, Joined),
    ListWithoutItems,
    /// Anything, of which nothing is known.
    Preserved,
    /// What is neither; the type's name.
    Unknown(Box<str>),
}

/// A property of an object.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Property<C = Shape> {
    pub(super) name: Box<str>,
    /// The name as an identifier where that differs; empty where it cannot be one.
    escaped: Option<Box<str>>,
    pub(super) node: C,
}

/// What texts of a format stand for.
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
    /// With the keys, escaped as upstream looks for them.
    Map(Box<[Box<str>]>),
    Unknown(Box<str>),
}

/// What a list of a schema is once another one has been appended by `+`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Joined {
    /// A list of the same schema, what was appended being read anew.
    OfSchema,
    /// A list of CEL values; of sets and list maps only equality and joining stay what they were.
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

    /// The same with another node.
    pub(super) fn with_node<D>(&self, node: D) -> Property<D> {
        Property {
            name: self.name.clone(),
            escaped: self.escaped.clone(),
            node,
        }
    }

    /// The name as an identifier, if it can be one.
    pub(super) fn identifier(&self) -> Option<&str> {
        let identifier = self.escaped.as_deref().unwrap_or(&self.name);
        Some(identifier).filter(|identifier| !identifier.is_empty())
    }
}

impl<C> Node<C> {
    /// The properties through which objects are read; `None` where they are read as maps, or not at all.
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

    /// The field of an object's type.
    pub(super) fn field(&self, identifier: &str) -> Option<&Property<C>> {
        match self.kind {
            Kind::Object(_) => self.property_of_identifier(identifier),
            _ => None,
        }
    }

    /// The property of this name.
    pub(super) fn property(&self, name: &str) -> Option<&Property<C>> {
        let properties = self.properties()?;
        // Of few, most are told apart by their length.
        if properties.len() <= 8 {
            return properties.iter().find(|property| *property.name == *name);
        }
        let found = properties.binary_search_by(|property| (*property.name).cmp(name));
        properties.get(found.ok()?)
    }

    /// The visible property that an identifier stands for.
    pub(super) fn property_of_identifier(&self, identifier: &str) -> Option<&Property<C>> {
        let mut properties = self.properties()?.iter();
        properties.find(|property| property.identifier() == Some(identifier))
    }
}

impl Node {
    /// The node behind a shape. Shapes of other hosts have none.
    pub(super) fn of(shape: &Shape) -> Option<&Node> {
        shape.downcast_ref()
    }
}

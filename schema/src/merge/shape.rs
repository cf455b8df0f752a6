//! What is known of a type before there are values: its fields, its elements, and what no value of it may be.

use super::types::{MergeType, Relationship, Scalar};

/// What a value is as far as its type tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// A bool.
    Bool,
    /// A number.
    Number,
    /// A text.
    Text,
    /// A list.
    List,
    /// A map or a struct.
    Map,
    /// Nothing that JSON has.
    Foreign,
}

impl<'s> MergeType<'s> {
    /// The type of a field of values of the type, declared or not. None where they may have no such field, or no fields.
    pub fn field(&self, name: &str) -> Option<MergeType<'s>> {
        self.atom().map?.any_field(name)
    }

    /// The type of the elements of values of the type. None where these are no lists.
    pub fn element(&self) -> Option<MergeType<'s>> {
        Some(self.atom().list?.element)
    }

    /// The type of the fields that have no types of their own. None where there may be no such.
    pub fn entry(&self) -> Option<MergeType<'s>> {
        self.atom().map?.element
    }

    /// Whether values of the type may be of a shape.
    pub fn takes(&self, shape: Shape) -> bool {
        let atom = self.atom();
        let is_scalar = |wanted| {
            let scalar = atom.scalar;
            scalar.is_some_and(|scalar| scalar == wanted || scalar == Scalar::Untyped)
        };
        match shape {
            Shape::Bool => is_scalar(Scalar::Boolean),
            Shape::Number => is_scalar(Scalar::Numeric),
            Shape::Text => is_scalar(Scalar::String),
            Shape::List => atom.list.is_some(),
            Shape::Map => atom.map.is_some(),
            Shape::Foreign => false,
        }
    }

    /// What values of the type are, as API servers say it of a value that is not.
    pub fn expected(&self) -> &'static str {
        let atom = self.atom();
        match (atom.map, atom.scalar) {
            (Some(_), _) => "map",
            (None, Some(Scalar::Numeric)) => "numeric (int or float)",
            (None, Some(Scalar::String)) => "string",
            (None, Some(Scalar::Boolean)) => "boolean",
            (None, Some(Scalar::Untyped)) => "any scalar",
            (None, None) => "list",
        }
    }

    /// Whether values of the type that have a shape are replaced as a whole, which no configuration may do.
    pub fn is_atomic(&self, shape: Shape) -> bool {
        let atom = self.atom();
        let relationship = match shape {
            Shape::List => atom.list.map(|list| list.relationship),
            Shape::Map => atom.map.map(|map| map.relationship),
            _ => None,
        };
        relationship == Some(Relationship::Atomic)
    }
}

//! The properties of a type that are independent of values: its fields, its elements, and the JSON types that it excludes.

use super::types::{MergeType, Relationship, Scalar};

/// The JSON type that all values of a CEL type have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// A bool.
    Bool,
    /// A number.
    Number,
    /// A string.
    Text,
    /// A list.
    List,
    /// A map or a struct.
    Map,
    /// Not a JSON value.
    Foreign,
}

impl<'s> MergeType<'s> {
    /// The type of a field, declared or not. `None` if values of the type cannot have this field.
    pub fn field(&self, name: &str) -> Option<MergeType<'s>> {
        self.atom().map?.any_field(name)
    }

    /// The type of list elements. `None` if values are not lists.
    pub fn element(&self) -> Option<MergeType<'s>> {
        Some(self.atom().list?.element)
    }

    /// The type of undeclared fields. `None` if values of the type cannot have undeclared fields.
    pub fn entry(&self) -> Option<MergeType<'s>> {
        self.atom().map?.element
    }

    /// Whether this JSON type is valid for values of the type.
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

    /// The name of the expected type in API servers' error messages.
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

    /// Whether values of this JSON type are replaced as a whole. Apply configurations must not contain atomic values.
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

//! The properties of a node that matter to its rules (apiextensions `validation/cel_validation.go`).

use std::cell::OnceCell;

use gavel_apimachinery::server::Server;
use gavel_schema::JsonSchema;

use super::convertible::conversion_error;
use crate::rule::NodeType;

/// A node of a schema, with its ancestors.
#[derive(Debug)]
pub(in crate::definition) struct Context<'c> {
    parent: Option<&'c Context<'c>>,
    step: Step<'c>,
    schema: &'c JsonSchema,
    server: Server,
    /// Whether the node or a node above it has rules. The type of `self` in those rules then includes the node's type.
    has_rules: bool,
    /// How often the node may occur in an object; `None` if this number is not bounded.
    cardinality: Option<u64>,
    ty: OnceCell<Result<NodeType, String>>,
}

/// The step from a node to a child.
#[derive(Debug, Clone, Copy)]
pub(in crate::definition) enum Step<'c> {
    /// A step to a field.
    Property(&'c str),
    /// A step to the elements of a list.
    Item,
    /// A step to the values of a map.
    Value,
}

impl<'c> Context<'c> {
    /// The root of a schema.
    pub(in crate::definition) fn root(schema: &'c JsonSchema, server: Server) -> Self {
        Context {
            parent: None,
            step: Step::Item,
            schema,
            server,
            has_rules: !schema.validations.is_empty(),
            cardinality: Some(1),
            ty: OnceCell::new(),
        }
    }

    /// A child of the node.
    pub(in crate::definition) fn child(
        &'c self,
        step: Step<'c>,
        schema: &'c JsonSchema,
    ) -> Context<'c> {
        let occurrences = self.cardinality.zip(max_children(self.schema));
        Context {
            parent: Some(self),
            step,
            schema,
            server: self.server,
            has_rules: self.has_rules || !schema.validations.is_empty(),
            cardinality: occurrences.map(|(own, below)| own.saturating_mul(below)),
            ty: OnceCell::new(),
        }
    }

    /// How often the node may occur in an object; `None` if this number is not bounded.
    pub(in crate::definition) fn cardinality(&self) -> Option<u64> {
        self.cardinality
    }

    /// The CEL type of the node. If an ancestor of the node has rules, this is a part of the parent node's type, so that the rules of the
    /// node and of the ancestor see the same type.
    ///
    /// # Errors
    ///
    /// The node has no type; the message is that of Kubernetes.
    pub(in crate::definition) fn node_type(&self) -> Result<&NodeType, String> {
        let ty = self.ty.get_or_init(|| match self.parent {
            Some(parent) if parent.has_rules => self.part_of(parent.node_type()?),
            _ => self.own_type(),
        });
        ty.as_ref().map_err(Clone::clone)
    }

    fn part_of(&self, above: &NodeType) -> Result<NodeType, String> {
        let part = match self.step {
            // The parent's type lacks properties that expressions cannot name.
            Step::Property(name) => {
                return above.property(name).map_or_else(|| self.own_type(), Ok);
            }
            // If a schema has both `items` and `additionalProperties`, upstream uses one element type for both.
            Step::Item | Step::Value => above.element(),
        };
        part.ok_or_else(|| "failed to convert to declType for CEL validation rules".to_owned())
    }

    fn own_type(&self) -> Result<NodeType, String> {
        let is_resource = self.parent.is_none() || self.schema.embedded_resource;
        let fault = match conversion_error(self.schema) {
            Some(error) => error,
            None => match NodeType::of(self.schema, is_resource, self.server) {
                Some(ty) => return Ok(ty),
                None => "unable to convert structural schema to CEL declarations".to_owned(),
            },
        };
        Err(format!(
            "internal error: failed to construct type information for x-kubernetes-validations rules: {fault}"
        ))
    }
}

/// The maximum number of elements of a list or of values of a map, and 1 for any other node; `None` if the schema sets no maximum.
fn max_children(schema: &JsonSchema) -> Option<u64> {
    let bound = match schema.kind.as_str() {
        "object" if schema.additional_properties.is_some() => schema.bounds.max_properties?,
        "array" => schema.bounds.max_items?,
        _ => 1,
    };
    Some(u64::try_from(bound).unwrap_or(0))
}

//! What is known of a node when its rules are compiled (apiextensions `validation/cel_validation.go`).

use std::cell::OnceCell;

use gavel_schema::JsonSchema;

use crate::rule::NodeType;

/// A node on the way from the root of a schema to one of its rules.
#[derive(Debug)]
pub(in crate::definition) struct Context<'c> {
    parent: Option<&'c Context<'c>>,
    step: Step<'c>,
    schema: &'c JsonSchema,
    /// Whether the node or one above it has rules: then its type is part of theirs.
    has_rules: bool,
    /// How often data of the node may occur in an object, if that has a bound.
    cardinality: Option<u64>,
    ty: OnceCell<Option<NodeType>>,
}

/// The way from a node to one right below it.
#[derive(Debug, Clone, Copy)]
pub(in crate::definition) enum Step<'c> {
    /// To a field.
    Property(&'c str),
    /// To the elements of a list.
    Item,
    /// To the values of a map.
    Value,
}

impl<'c> Context<'c> {
    /// The root of a schema.
    pub(in crate::definition) fn root(schema: &'c JsonSchema) -> Self {
        Context {
            parent: None,
            step: Step::Item,
            schema,
            has_rules: !schema.validations.is_empty(),
            cardinality: Some(1),
            ty: OnceCell::new(),
        }
    }

    /// A node right below.
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
            has_rules: self.has_rules || !schema.validations.is_empty(),
            cardinality: occurrences.map(|(own, below)| own.saturating_mul(below)),
            ty: OnceCell::new(),
        }
    }

    /// How often data of the node may occur in an object, if that has a bound.
    pub(in crate::definition) fn cardinality(&self) -> Option<u64> {
        self.cardinality
    }

    /// The type of the node, none where CEL has none for it. It is part of the type of the node above where that one has
    /// rules.
    pub(in crate::definition) fn node_type(&self) -> Option<&NodeType> {
        let ty = self.ty.get_or_init(|| {
            let above = self.parent.filter(|parent| parent.has_rules);
            let above = match above {
                // Where the type above cannot be made, neither can this one.
                Some(parent) => Some(parent.node_type()?),
                None => None,
            };
            let part = above.and_then(|above| match self.step {
                Step::Property(name) => above.property(name),
                Step::Item => above.item(),
                Step::Value => above.value(),
            });
            part.or_else(|| {
                let is_resource = self.parent.is_none() || self.schema.embedded_resource;
                NodeType::of(self.schema, is_resource)
            })
        });
        ty.as_ref()
    }
}

/// How many children of one kind a node may have, if that has a bound.
fn max_children(schema: &JsonSchema) -> Option<u64> {
    let bound = match schema.kind.as_str() {
        "object" if schema.additional_properties.is_some() => schema.max_properties?,
        "array" => schema.max_items?,
        _ => 1,
    };
    Some(u64::try_from(bound).unwrap_or(0))
}

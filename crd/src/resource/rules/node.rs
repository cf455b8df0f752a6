//! The tree of a schema's rules (`validator` upstream).

use gavel_schema::JsonSchema;
use gavel_schema::cel::escape;

use crate::rule::{self, Age, CompiledRule, NodeType, RuleEnvs};

/// A node of a schema that has rules, or below which there are some.
#[derive(Debug)]
pub(crate) struct RuleNode {
    /// How values are read; none where expressions do not know them.
    pub(super) ty: Option<NodeType>,
    /// The rules, in the order of the schema.
    pub(super) rules: Vec<CompiledRule>,
    /// Whether one of the rules asks for the old value.
    pub(super) uses_old_self: bool,
    /// Whether one of the rules here or below does.
    pub(super) reads_old_values: bool,
    /// The elements of a list.
    pub(super) items: Option<Box<RuleNode>>,
    /// The values of a map.
    pub(super) values: Option<Box<RuleNode>>,
    /// The properties of an object, by name.
    pub(super) properties: Vec<(Box<str>, RuleNode)>,
}

impl RuleNode {
    /// The rules of a schema, if it has any. `is_resource` says that it is that of an object of its own, which has metadata.
    pub(crate) fn compile(
        schema: &JsonSchema,
        is_resource: bool,
        envs: &RuleEnvs,
    ) -> Option<RuleNode> {
        let ty = || NodeType::of(schema, is_resource);
        has_rules(schema)
            .then(|| Self::node(schema, ty(), envs))
            .flatten()
    }

    /// As deep as the schema, whose depth its reader bounds.
    fn node(schema: &JsonSchema, ty: Option<NodeType>, envs: &RuleEnvs) -> Option<RuleNode> {
        let type_above = ty.as_ref();
        let below = |schema, ty| Self::node(schema, ty, envs).map(Box::new);
        let items = schema.item();
        let items = items.and_then(|item| below(item, type_above.and_then(NodeType::item)));
        let values = schema.value();
        let values = values.and_then(|value| below(value, type_above.and_then(NodeType::value)));
        let properties = schema.properties.iter().filter_map(|(name, property)| {
            let ty = match escape(name) {
                Some(_) => type_above?.property(name),
                // Expressions cannot name the property, but it may have rules of its own.
                None => NodeType::of(property, property.embedded_resource),
            };
            let node = Self::node(property, Some(ty?), envs)?;
            Some((name.as_str().into(), node))
        });
        let properties: Vec<_> = properties.collect();
        let rules = match &ty {
            Some(ty) if !schema.validations.is_empty() => {
                rule::compile(schema, ty, envs, |_| (Age::Stored, Age::Stored))
            }
            _ => Vec::new(),
        };
        let uses_old_self = rules.iter().any(|rule| rule.uses_old_self);
        let mut node = RuleNode {
            ty,
            rules,
            uses_old_self,
            reads_old_values: uses_old_self,
            items,
            values,
            properties,
        };
        let reads_old_values = node.below().any(|below| below.reads_old_values);
        node.reads_old_values |= reads_old_values;
        let is_needed = !schema.validations.is_empty() || node.below().next().is_some();
        is_needed.then_some(node)
    }

    fn below(&self) -> impl Iterator<Item = &RuleNode> {
        let elements = [&self.items, &self.values].into_iter().flatten();
        let properties = self.properties.iter().map(|(_, node)| node);
        elements.map(|node| &**node).chain(properties)
    }
}

fn has_rules(schema: &JsonSchema) -> bool {
    let below = [schema.item(), schema.value()].into_iter().flatten();
    !schema.validations.is_empty() || below.chain(schema.properties.values()).any(has_rules)
}

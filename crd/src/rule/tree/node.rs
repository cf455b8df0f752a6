//! The tree of a schema's rules (`validator` upstream).

use std::sync::Arc;

use gavel_apimachinery::server::Difference;
use gavel_schema::JsonSchema;
use gavel_schema::cel::escape;
use rustc_hash::FxHashMap;
use smol_str::SmolStr;

use crate::rule::{self, Age, CompiledRule, NodeType, RuleEnvs};

/// A schema node that has rules, or that has nodes with rules below it. Positions with the same schema and the same type share one node.
#[derive(Debug)]
pub(crate) struct RuleNode {
    /// The schema of the node.
    pub(super) schema: Arc<JsonSchema>,
    /// The CEL type of the values; `None` if expressions cannot read them.
    pub(super) ty: Option<NodeType>,
    /// The rules, in the order of the schema.
    pub(super) rules: Box<[CompiledRule]>,
    /// Whether errors show the type of a value instead of the value.
    pub(super) shows_types: bool,
    /// Whether a rule of this node reads the old value.
    pub(super) uses_old_self: bool,
    /// Whether a rule of this node or of a node below it reads the old value.
    pub(super) reads_old_values: bool,
    /// The elements of a list.
    pub(super) items: Option<Arc<RuleNode>>,
    /// The values of a map.
    pub(super) values: Option<Arc<RuleNode>>,
    /// The properties of an object, by name.
    pub(super) properties: Box<[(SmolStr, Arc<RuleNode>)]>,
}

impl RuleNode {
    /// The rules of a schema, if it has any. `is_resource` marks an object with its own metadata.
    pub(crate) fn compile(
        schema: &Arc<JsonSchema>,
        is_resource: bool,
        envs: &RuleEnvs,
    ) -> Option<Arc<RuleNode>> {
        let mut compiler = TreeCompiler {
            envs,
            with_rules: FxHashMap::default(),
            nodes: FxHashMap::default(),
        };
        if !compiler.has_rules(schema) {
            return None;
        }
        compiler.shared(schema, NodeType::of(schema, is_resource, envs.server()))
    }

    /// The rules of a property.
    pub(super) fn property(&self, name: &str) -> Option<&RuleNode> {
        // Most names differ in length, so a linear search is fast for few properties.
        if self.properties.len() <= 8 {
            let mut properties = self.properties.iter();
            let (_, node) = properties.find(|(known, _)| *known == *name)?;
            return Some(node);
        }
        let found = self
            .properties
            .binary_search_by(|(known, _)| known.as_str().cmp(name));
        self.properties.get(found.ok()?).map(|(_, node)| &**node)
    }

    fn below(&self) -> impl Iterator<Item = &Arc<RuleNode>> {
        let elements = [&self.items, &self.values].into_iter().flatten();
        elements.chain(self.properties.iter().map(|(_, node)| node))
    }
}

/// Compiles the nodes of one schema.
struct TreeCompiler<'c> {
    envs: &'c RuleEnvs,
    /// Whether a schema contains rules, keyed by the schema's address.
    with_rules: FxHashMap<*const JsonSchema, bool>,
    /// The nodes, keyed by the addresses of schema and type.
    nodes: FxHashMap<(*const JsonSchema, Option<*const ()>), Known>,
}

/// The node for a schema and a type.
struct Known {
    /// Keeps the type alive, so that its address cannot be reused for another type.
    _type: Option<NodeType>,
    node: Option<Arc<RuleNode>>,
}

impl TreeCompiler<'_> {
    /// Whether a schema contains rules. The recursion is as deep as the schema; the reader of schemas limits this depth.
    fn has_rules(&mut self, schema: &Arc<JsonSchema>) -> bool {
        let place = Arc::as_ptr(schema);
        if let Some(known) = self.with_rules.get(&place) {
            return *known;
        }
        let below = [schema.item(), schema.value()].into_iter().flatten();
        let mut below = below.chain(schema.properties.values());
        let has_rules =
            !schema.validations.is_empty() || below.any(|schema| self.has_rules(schema));
        self.with_rules.insert(place, has_rules);
        has_rules
    }

    fn shared(&mut self, schema: &Arc<JsonSchema>, ty: Option<NodeType>) -> Option<Arc<RuleNode>> {
        let key = (Arc::as_ptr(schema), ty.as_ref().map(NodeType::place));
        if let Some(known) = self.nodes.get(&key) {
            return known.node.clone();
        }
        let node = self.node(schema, ty.clone()).map(Arc::new);
        let known = Known {
            _type: ty,
            node: node.clone(),
        };
        self.nodes.insert(key, known);
        node
    }

    fn node(&mut self, schema: &Arc<JsonSchema>, ty: Option<NodeType>) -> Option<RuleNode> {
        let type_above = ty.as_ref();
        let items = schema.item().filter(|item| self.has_rules(item));
        let items =
            items.and_then(|item| self.shared(item, type_above.and_then(NodeType::element)));
        let values = schema.value().filter(|value| self.has_rules(value));
        let values =
            values.and_then(|value| self.shared(value, type_above.and_then(NodeType::element)));
        let properties = schema.properties.iter().filter_map(|(name, property)| {
            if !self.has_rules(property) {
                return None;
            }
            let ty = match escape(name) {
                Some(_) => type_above?.property(name),
                // Expressions cannot name the property, but it may have rules of its own.
                None => NodeType::of(property, property.embedded_resource, self.envs.server()),
            };
            Some((name.clone(), self.shared(property, Some(ty?))?))
        });
        let properties: Box<[_]> = properties.collect();
        let rules: Box<[CompiledRule]> = match &ty {
            Some(ty) if !schema.validations.is_empty() => {
                rule::compile(schema, ty, self.envs, |_| (Age::Stored, Age::Stored)).into()
            }
            _ => Box::default(),
        };
        let uses_old_self = rules.iter().any(|rule| rule.uses_old_self);
        let mut node = RuleNode {
            schema: Arc::clone(schema),
            ty,
            rules,
            shows_types: !self.envs.server().has(Difference::RulesShowValues),
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
}

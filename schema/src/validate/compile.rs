//! Compiles schemas to nodes (apiextensions-apiserver `pkg/apiserver/{validation/validation,schema/kubeopenapi}.go`).

use std::collections::HashMap;
use std::sync::Arc;

use gavel_apimachinery::formats::Format;
use gavel_apimachinery::server::{Difference, Server};
use rustc_hash::FxHashMap;
use smol_str::SmolStr;

use super::convert::WholeDoubles;
use super::enumeration::Enumeration;
use super::node::{
    Combination, ListRules, MapRules, NamedFormat, NodeRules, Others, Properties, PropertyRules,
    TextRules, Types, Uniqueness,
};
use super::number::NumberRules;
use super::pattern::Pattern;
use crate::{JsonSchema, SchemaOrBool};

/// The purpose of a compiled schema. Upstream converts schemas differently for each purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Validating objects. `x-kubernetes-int-or-string` allows the types integer and string; a format applies only if the server knows it
    /// for the type and the server before it knows it too.
    Objects(Server),
    /// Validating the defaults of a structural schema. The declared types and formats always apply; schemas under `allOf`, `anyOf`, `oneOf`
    /// and `not` do not restrict `additionalProperties`.
    Defaults(Server),
}

impl Purpose {
    /// The types that a schema allows.
    pub(super) fn types(self, schema: &JsonSchema) -> &[SmolStr] {
        const INT_OR_STRING: &[SmolStr] = &[
            SmolStr::new_static("integer"),
            SmolStr::new_static("string"),
        ];
        match self {
            Purpose::Objects(_) if schema.int_or_string => INT_OR_STRING,
            _ if schema.kind.is_empty() => &[],
            _ => std::slice::from_ref(&schema.kind),
        }
    }
}

/// Compiles the nodes of one schema.
pub(super) struct NodeCompiler<'s> {
    purpose: Purpose,
    /// Whether the schema is under `allOf`, `anyOf`, `oneOf` or `not`.
    in_combination: bool,
    /// The compiled patterns, keyed by their text. Schemas repeat patterns.
    patterns: HashMap<&'s str, Arc<Pattern>>,
    /// The nodes, keyed by the address of the schema: a shared schema has one node.
    nodes: FxHashMap<*const JsonSchema, Arc<NodeRules>>,
}

impl<'s> NodeCompiler<'s> {
    pub(super) fn new(purpose: Purpose) -> Self {
        NodeCompiler {
            purpose,
            in_combination: false,
            patterns: HashMap::new(),
            nodes: FxHashMap::default(),
        }
    }

    /// Compiles a schema that may be shared. A shared schema is compiled once.
    fn shared(&mut self, schema: &'s Arc<JsonSchema>) -> Arc<NodeRules> {
        let place = Arc::as_ptr(schema);
        if let Some(known) = self.nodes.get(&place) {
            return Arc::clone(known);
        }
        let node = Arc::new(self.node(schema));
        self.nodes.insert(place, Arc::clone(&node));
        node
    }

    /// Compiles a schema, which is at most [`crate::MAX_DEPTH`] deep.
    pub(super) fn node(&mut self, schema: &'s JsonSchema) -> NodeRules {
        let lists = self.lists(schema);
        let maps = self.maps(schema);
        let has_list_types = lists.as_ref().is_some_and(|rules| {
            rules.list_type != Uniqueness::Atomic
                || rules
                    .items
                    .as_ref()
                    .is_some_and(|items| items.has_list_types)
        }) || maps.as_ref().is_some_and(|rules| {
            rules.properties.nodes().any(|node| node.has_list_types)
                || matches!(&rules.others, Some(Others::Schema(node)) if node.has_list_types)
        });
        let types = self.purpose.types(schema);
        let format = self.format(schema);
        let format_name = format.as_ref().map_or("", |format| &format.name);
        let (Purpose::Objects(server) | Purpose::Defaults(server)) = self.purpose;
        NodeRules {
            types: Types::new(types, schema.nullable),
            wholes: WholeDoubles::of(server),
            combination: self.combination(schema),
            texts: self.texts(schema),
            numbers: NumberRules::new(schema, types, format_name).map(Box::new),
            format,
            lists,
            maps,
            enumeration: Enumeration::new(schema.bounds.enumeration.clone()),
            has_list_types,
        }
    }

    /// The format of a schema, if it applies.
    fn format(&self, schema: &JsonSchema) -> Option<NamedFormat> {
        let name = schema.format.as_str();
        if name.is_empty() {
            return None;
        }
        let of_texts = match (self.purpose, self.purpose.types(schema)) {
            // Every format that the server's own code knows applies to schemas of every type.
            (Purpose::Defaults(server), _) => Format::named(name, server.version()),
            (Purpose::Objects(server), _) if !server.has(Difference::FormatsDependOnTypes) => {
                Some(Format::named(name, server.compatible().language())?)
            }
            (Purpose::Objects(server), types) => match types {
                [kind] if kind == "integer" && matches!(name, "int32" | "int64") => None,
                [kind] if kind == "number" && matches!(name, "float" | "double") => None,
                [kind] if kind != "string" => return None,
                _ => Some(Format::named(name, server.compatible().language())?),
            },
        };
        Some(NamedFormat {
            name: name.into(),
            of_texts,
        })
    }

    fn combination(&mut self, schema: &'s JsonSchema) -> Option<Box<Combination>> {
        let combinations = schema.combinations.as_option()?;
        let outside = std::mem::replace(&mut self.in_combination, true);
        let mut nodes = |schemas: &'s [JsonSchema]| -> Vec<NodeRules> {
            schemas.iter().map(|schema| self.node(schema)).collect()
        };
        let combination = Combination {
            any_of: nodes(&combinations.any_of),
            one_of: nodes(&combinations.one_of),
            all_of: nodes(&combinations.all_of),
            not: combinations.not.as_deref().map(|schema| self.node(schema)),
        };
        self.in_combination = outside;
        let Combination {
            any_of,
            one_of,
            all_of,
            not,
        } = &combination;
        let empty = any_of.is_empty() && one_of.is_empty() && all_of.is_empty() && not.is_none();
        (!empty).then(|| Box::new(combination))
    }

    fn texts(&mut self, schema: &'s JsonSchema) -> Option<Box<TextRules>> {
        let pattern = schema.bounds.pattern.as_str();
        let rules = TextRules {
            max_length: schema.bounds.max_length,
            min_length: schema.bounds.min_length,
            pattern: (!pattern.is_empty()).then(|| {
                let compiled = self.patterns.entry(pattern);
                Arc::clone(compiled.or_insert_with(|| Arc::new(Pattern::new(pattern))))
            }),
        };
        let empty =
            rules.max_length.is_none() && rules.min_length.is_none() && rules.pattern.is_none();
        (!empty).then(|| Box::new(rules))
    }

    fn lists(&mut self, schema: &'s JsonSchema) -> Option<Box<ListRules>> {
        let rules = ListRules {
            items: schema.item().map(|item| self.shared(item)),
            max_items: schema.bounds.max_items,
            min_items: schema.bounds.min_items,
            unique_items: schema.bounds.unique_items,
            list_type: Uniqueness::of(schema),
        };
        let empty = rules.items.is_none()
            && rules.max_items.is_none()
            && rules.min_items.is_none()
            && !rules.unique_items
            && rules.list_type == Uniqueness::Atomic;
        (!empty).then(|| Box::new(rules))
    }

    fn maps(&mut self, schema: &'s JsonSchema) -> Option<Box<MapRules>> {
        let required = schema.required_names();
        let properties = schema
            .properties
            .iter()
            .map(|(name, property)| PropertyRules {
                name: name.as_str().into(),
                is_required: required.contains(name.as_str()),
                node: self.shared(property),
            });
        let rules = MapRules {
            properties: Properties::new(properties),
            others: match &schema.additional_properties {
                _ if self.in_combination && matches!(self.purpose, Purpose::Defaults(_)) => None,
                None | Some(SchemaOrBool::Allows(true)) => None,
                Some(SchemaOrBool::Allows(false)) => Some(Others::None),
                Some(SchemaOrBool::Schema(schema)) => Some(Others::Schema(self.shared(schema))),
            },
            required: schema.required.clone(),
            max_properties: schema.bounds.max_properties,
            min_properties: schema.bounds.min_properties,
        };
        let empty = rules.properties.is_empty()
            && rules.others.is_none()
            && rules.required.is_empty()
            && rules.max_properties.is_none()
            && rules.min_properties.is_none();
        (!empty).then(|| Box::new(rules))
    }
}

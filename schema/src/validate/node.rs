//! A schema's node, compiled, and the order in which it is held against a value (kube-openapi
//! `pkg/validation/validate/schema.go`).

use std::collections::HashMap;
use std::sync::Arc;

use gavel_apimachinery::formats::Format;
use gavel_apimachinery::version::KubeVersion;
use gavel_engine::value::Json;

use super::combination::Combination;
use super::enumeration::lists;
use super::fault::{Cause, Outcome};
use super::list::ListRules;
use super::list_type::ListType;
use super::map::{MapRules, Others, Properties};
use super::number::NumberRules;
use super::pattern::Pattern;
use super::text::TextRules;
use super::trail::Trail;
use super::types::Types;
use crate::correlate::Correlated;
use crate::equal::Numeric;
use crate::{JsonSchema, SchemaOrBool};

/// A schema and what it says of each type of values; nothing where it says nothing.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) types: Types,
    pub(super) format: Option<NamedFormat>,
    combination: Option<Box<Combination>>,
    texts: Option<Box<TextRules>>,
    numbers: Option<Box<NumberRules>>,
    pub(super) lists: Option<Box<ListRules>>,
    pub(super) maps: Option<Box<MapRules>>,
    enumeration: Box<[Json]>,
    /// Whether a list in here is of type set or map.
    pub(super) has_list_types: bool,
}

/// A format that is known for the schema's type.
#[derive(Debug)]
pub(super) struct NamedFormat {
    /// As the schema writes it.
    pub(super) name: Box<str>,
    /// None for formats of numbers.
    pub(super) of_texts: Option<Format>,
}

impl Node {
    /// Holds the schema against a value, and leaves out what is wrong if the value has not changed.
    pub(super) fn check<'f>(
        &'f self,
        value: &'f Json,
        trail: &Trail<'_, 'f>,
        was: Option<Correlated<'_, '_>>,
    ) -> Outcome<'f> {
        let mut outcome = self.check_anew(value, trail, was);
        if !outcome.is_valid() && was.is_some_and(Correlated::is_unchanged) {
            outcome.faults.clear();
        }
        outcome
    }

    fn check_anew<'f>(
        &'f self,
        value: &'f Json,
        trail: &Trail<'_, 'f>,
        was: Option<Correlated<'_, '_>>,
    ) -> Outcome<'f> {
        let mut outcome = Outcome::default();
        let typed = !self.types.text.is_empty() || self.format.is_some();
        if typed || value.is_null() {
            let cause = self.check_type(value);
            outcome.count(usize::from(cause.is_none()));
            self.report(&mut outcome, trail, cause);
        }
        if value.is_null() {
            self.check_listed(value, trail, &mut outcome);
            return outcome;
        }
        outcome.count(usize::from(typed));
        if let Some(combination) = &self.combination {
            combination.check(value, trail, &mut outcome);
        }
        // The checks that follow, each counted as upstream counts it: combinations twice, the value as a whole once.
        outcome.count(3);
        match value {
            Json::String(text) => {
                let cause = self.texts.as_ref().and_then(|rules| rules.check(text));
                self.report(&mut outcome, trail, cause);
                let cause = self.check_format(text);
                self.report(&mut outcome, trail, cause);
                outcome.count(1_usize.saturating_add(usize::from(self.has_text_format())));
            }
            Json::Number(number) => {
                if let Some(rules) = &self.numbers {
                    let report = |cause| self.report(&mut outcome, trail, Some(cause));
                    rules.check(Numeric::from(number), report);
                }
                outcome.count(2);
            }
            Json::Array(items) => {
                if let Some(rules) = &self.lists {
                    rules.check(items, trail, was, &mut outcome);
                }
                outcome.count(2);
            }
            Json::Null | Json::Bool(_) | Json::Object(_) => {}
        }
        self.check_listed(value, trail, &mut outcome);
        outcome.count(1);
        if let Json::Object(fields) = value {
            if let Some(rules) = &self.maps {
                rules.check(fields, trail, was, &mut outcome);
            }
            outcome.count(1);
        }
        outcome
    }

    fn check_listed<'f>(
        &'f self,
        value: &'f Json,
        trail: &Trail<'_, 'f>,
        outcome: &mut Outcome<'f>,
    ) {
        let allowed = &*self.enumeration;
        if !allowed.is_empty() && !lists(allowed, value) {
            let cause = Cause::Enumeration { value, allowed };
            self.report(outcome, trail, Some(cause));
        }
    }

    fn report<'f>(
        &self,
        outcome: &mut Outcome<'f>,
        trail: &Trail<'_, 'f>,
        cause: Option<Cause<'f>>,
    ) {
        if let Some(cause) = cause {
            outcome.add(trail, cause);
        }
    }
}

/// Compiles the nodes of one schema.
pub(super) struct Compiler<'s> {
    version: KubeVersion,
    /// Schemas repeat their patterns.
    patterns: HashMap<&'s str, Arc<Pattern>>,
}

impl<'s> Compiler<'s> {
    pub(super) fn new(version: KubeVersion) -> Self {
        Compiler {
            version,
            patterns: HashMap::new(),
        }
    }

    /// Compiles a schema, which is at most [`crate::MAX_DEPTH`] deep.
    pub(super) fn node(&mut self, schema: &'s JsonSchema) -> Node {
        let lists = self.lists(schema);
        let maps = self.maps(schema);
        let has_list_types = lists.as_ref().is_some_and(|rules| {
            rules.list_type != ListType::Atomic
                || rules
                    .items
                    .as_ref()
                    .is_some_and(|items| items.has_list_types)
        }) || maps.as_ref().is_some_and(|rules| {
            rules.properties.nodes().any(|node| node.has_list_types)
                || matches!(&rules.others, Others::Schema(node) if node.has_list_types)
        });
        Node {
            types: Types::new(schema),
            format: self.format(schema),
            combination: self.combination(schema),
            texts: self.texts(schema),
            numbers: NumberRules::new(schema).map(Box::new),
            lists,
            maps,
            enumeration: schema.enumeration.as_slice().into(),
            has_list_types,
        }
    }

    /// A format counts only if it is one of the schema's type.
    fn format(&self, schema: &JsonSchema) -> Option<NamedFormat> {
        let name = schema.format.as_str();
        let of_texts = match schema.kind.as_str() {
            _ if schema.int_or_string => Some(Format::named(name, self.version)?),
            "" | "string" => Some(Format::named(name, self.version)?),
            "integer" if matches!(name, "int32" | "int64") => None,
            "number" if matches!(name, "float" | "double") => None,
            _ => return None,
        };
        Some(NamedFormat {
            name: name.into(),
            of_texts,
        })
    }

    fn combination(&mut self, schema: &'s JsonSchema) -> Option<Box<Combination>> {
        let mut nodes = |schemas: &'s [JsonSchema]| -> Vec<Node> {
            schemas.iter().map(|schema| self.node(schema)).collect()
        };
        let combination = Combination {
            any_of: nodes(&schema.any_of),
            one_of: nodes(&schema.one_of),
            all_of: nodes(&schema.all_of),
            not: schema.not.as_deref().map(|schema| self.node(schema)),
        };
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
        let pattern = schema.pattern.as_str();
        let rules = TextRules {
            max_length: schema.max_length,
            min_length: schema.min_length,
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
            items: schema.item().map(|item| self.node(item)),
            max_items: schema.max_items,
            min_items: schema.min_items,
            unique_items: schema.unique_items,
            list_type: ListType::of(schema),
        };
        let empty = rules.items.is_none()
            && rules.max_items.is_none()
            && rules.min_items.is_none()
            && !rules.unique_items
            && rules.list_type == ListType::Atomic;
        (!empty).then(|| Box::new(rules))
    }

    fn maps(&mut self, schema: &'s JsonSchema) -> Option<Box<MapRules>> {
        let properties = schema.properties.iter();
        let rules = MapRules {
            properties: Properties::new(
                properties.map(|(name, schema)| (name.as_str().into(), self.node(schema))),
            ),
            others: match &schema.additional_properties {
                None | Some(SchemaOrBool::Allows(true)) => Others::Any,
                Some(SchemaOrBool::Allows(false)) => Others::None,
                Some(SchemaOrBool::Schema(schema)) => Others::Schema(Box::new(self.node(schema))),
            },
            required: schema.required.as_slice().into(),
            max_properties: schema.max_properties,
            min_properties: schema.min_properties,
        };
        let empty = rules.properties.is_empty()
            && matches!(rules.others, Others::Any)
            && rules.required.is_empty()
            && rules.max_properties.is_none()
            && rules.min_properties.is_none();
        (!empty).then(|| Box::new(rules))
    }
}

//! The walk over an object with the tree of its rules (`Validator.validate` upstream).
//!
//! Upstream visits the fields of an object in random order; here they are visited in the order of their keys.

use std::ops::ControlFlow;

use gavel_apimachinery::field::Path;
use gavel_engine::program::EvalOptions;
use gavel_engine::value::{Arena, Json};
use gavel_golang::work::{Interrupt, Interrupted, Work};
use gavel_schema::JsonSchema;
use gavel_schema::correlate::MapList;
use serde_json::Map;

use super::evaluate::{RuleObserver, Subject, evaluate};
use super::node::RuleNode;
use super::report::Report;

/// The units of work of a rule, in addition to those that its evaluation counts.
const WORK_PER_RULE: usize = 1 << 10;

/// A walk over one object.
pub(super) struct RuleWalk<'i> {
    /// The memory for the values that a node's rules compute. It is cleared before the next node.
    arena: Arena,
    /// The limits of each evaluation.
    limits: EvalOptions<'i>,
    observer: RuleObserver<'i>,
    /// The work of the walk, without evaluations.
    work: Work<'i>,
    /// The results so far.
    pub(super) report: Report,
}

impl<'i> RuleWalk<'i> {
    /// A walk with a budget, and a limit for each evaluation, both in cost units.
    pub(super) fn new(
        budget: i64,
        per_call_limit: u64,
        interrupt: Interrupt<'i>,
        observer: RuleObserver<'i>,
    ) -> Self {
        RuleWalk {
            arena: Arena::new(),
            limits: EvalOptions {
                cost_limit: Some(per_call_limit),
                interrupt,
            },
            observer,
            work: Work::new(interrupt),
            report: Report::new(budget),
        }
    }

    /// Visits a node and everything below it. `Break` ends the validation.
    pub(super) fn visit(&mut self, subject: &Subject<'_, '_>) -> ControlFlow<()> {
        if subject.value.is_null() {
            return ControlFlow::Continue(());
        }
        let rules = subject.node.rules.len().saturating_add(1);
        if self
            .work
            .spend(rules.saturating_mul(WORK_PER_RULE))
            .is_err()
        {
            let fault = subject.fault(Interrupted.to_string());
            return self.report.stop(fault);
        }
        self.arena.reset();
        let report = &mut self.report;
        evaluate(subject, &self.arena, self.limits, self.observer, report)?;
        match subject.value {
            Json::Array(items) => self.visit_items(subject, items),
            Json::Object(fields) => self.visit_fields(subject, fields),
            _ => ControlFlow::Continue(()),
        }
    }

    fn visit_items<'d>(&mut self, subject: &Subject<'_, 'd>, items: &'d [Json]) -> ControlFlow<()> {
        let Some(node) = &subject.node.items else {
            return ControlFlow::Continue(());
        };
        let old_items = subject.old.and_then(Json::as_array);
        let old_items = old_items
            .filter(|_| node.reads_old_values)
            .map(|old| MapList::new(&subject.node.schema, old));
        for (index, value) in items.iter().enumerate() {
            let below = Subject {
                path: &subject.path.index(index),
                node,
                value,
                old: old_items.as_ref().and_then(|old| old.find(value)),
                ratchet: subject.ratchet.index(index),
            };
            self.visit(&below)?;
        }
        ControlFlow::Continue(())
    }

    fn visit_fields<'d>(
        &mut self,
        subject: &Subject<'_, 'd>,
        fields: &'d Map<String, Json>,
    ) -> ControlFlow<()> {
        if let Some(node) = &subject.node.values {
            for (key, value) in fields {
                let path = subject.path.key(key);
                self.visit(&subject.entry(key, &path, value, node))?;
            }
        }
        if subject.node.properties.is_empty() {
            return ControlFlow::Continue(());
        }
        for (name, value) in fields {
            if let Some(node) = subject.node.property(name) {
                let path = subject.path.child(name);
                self.visit(&subject.entry(name, &path, value, node))?;
            }
        }
        ControlFlow::Continue(())
    }
}

impl<'f, 'd> Subject<'f, 'd> {
    /// The subject for one entry of this subject's value, which is an object or map.
    fn entry<'e>(
        &self,
        key: &str,
        path: &'e Path<'e>,
        value: &'d Json,
        node: &'d RuleNode,
    ) -> Subject<'e, 'd>
    where
        'f: 'e,
    {
        let old = self.old.filter(|_| is_correlatable(&self.node.schema));
        Subject {
            path,
            node,
            value,
            old: old
                .and_then(|old| old.get(key))
                .filter(|old| !old.is_null()),
            ratchet: self.ratchet.key(key),
        }
    }
}

/// Whether the entries of a map can be matched with the old entries by key.
fn is_correlatable(schema: &JsonSchema) -> bool {
    matches!(
        schema.topology.map_type.as_deref(),
        None | Some("granular" | "atomic")
    )
}

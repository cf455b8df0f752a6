//! A compiled schema node, and the order of its checks (kube-openapi `pkg/validation/validate/schema.go`).

use std::borrow::Cow;
use std::sync::Arc;

use gavel_apimachinery::formats::Format;
use gavel_engine::value::Json;
use smol_str::SmolStr;

use super::convert::WholeDoubles;
use super::enumeration::Enumeration;
use super::fault::{Cause, Outcome};
use super::number::NumberRules;
use super::pattern::Pattern;
use super::trail::Trail;
use crate::OptionalList;
use crate::correlate::Correlated;
use crate::equal::Numeric;

/// The units of work for a value, without those for the values within it.
const WORK_PER_VALUE: usize = 256;

/// A compiled schema. A constraint field is `None` if the schema sets no such constraints.
#[derive(Debug)]
pub(super) struct NodeRules {
    pub(super) types: Types,
    /// The doubles that count as integers.
    pub(super) wholes: WholeDoubles,
    pub(super) format: Option<NamedFormat>,
    pub(super) combination: Option<Box<Combination>>,
    pub(super) texts: Option<Box<TextRules>>,
    pub(super) numbers: Option<Box<NumberRules>>,
    pub(super) lists: Option<Box<ListRules>>,
    pub(super) maps: Option<Box<MapRules>>,
    pub(super) enumeration: Enumeration,
    /// Whether the schema contains a list of type set or map.
    pub(super) has_list_types: bool,
}

/// A format that applies to values of the schema's type.
#[derive(Debug)]
pub(super) struct NamedFormat {
    /// The name in the schema.
    pub(super) name: Box<str>,
    /// The format of strings; `None` for a format of numbers.
    pub(super) of_texts: Option<Format>,
}

/// The constraints that refer to other schemas.
#[derive(Debug)]
pub(super) struct Combination {
    pub(super) any_of: Vec<NodeRules>,
    pub(super) one_of: Vec<NodeRules>,
    pub(super) all_of: Vec<NodeRules>,
    pub(super) not: Option<NodeRules>,
}

/// The constraints that a schema sets for strings.
#[derive(Debug)]
pub(super) struct TextRules {
    /// The maximum length, in code points.
    pub(super) max_length: Option<i64>,
    /// The minimum length, in code points.
    pub(super) min_length: Option<i64>,
    pub(super) pattern: Option<Arc<Pattern>>,
}

/// The constraints that a schema sets for lists and their items.
#[derive(Debug)]
pub(super) struct ListRules {
    pub(super) items: Option<Arc<NodeRules>>,
    pub(super) max_items: Option<i64>,
    pub(super) min_items: Option<i64>,
    pub(super) unique_items: bool,
    pub(super) list_type: Uniqueness,
}

/// `x-kubernetes-list-type`
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Uniqueness {
    /// Elements can be equal.
    Atomic,
    /// Elements are unique.
    Set,
    /// Elements are objects with unique keys.
    Map(OptionalList<SmolStr>),
}

/// The constraints that a schema sets for objects and their fields.
#[derive(Debug)]
pub(super) struct MapRules {
    pub(super) properties: Properties,
    pub(super) others: Option<Others>,
    pub(super) required: OptionalList<SmolStr>,
    pub(super) max_properties: Option<i64>,
    pub(super) min_properties: Option<i64>,
}

/// The schema of undeclared fields.
#[derive(Debug)]
pub(super) enum Others {
    /// Undeclared fields are not allowed.
    None,
    /// Undeclared fields must match this schema.
    Schema(Arc<NodeRules>),
}

/// Properties in the order of their names.
#[derive(Debug)]
pub(super) struct Properties(pub(super) Box<[PropertyRules]>);

/// A property of an object.
#[derive(Debug)]
pub(super) struct PropertyRules {
    pub(super) name: Box<str>,
    pub(super) is_required: bool,
    pub(super) node: Arc<NodeRules>,
}

/// The types that a schema allows.
#[derive(Debug)]
pub(super) struct Types {
    /// The names, separated by commas; empty if every type is allowed.
    pub(super) text: Cow<'static, str>,
    pub(super) integer: bool,
    pub(super) number: bool,
    pub(super) string: bool,
    pub(super) boolean: bool,
    pub(super) array: bool,
    pub(super) object: bool,
    /// Whether null is allowed.
    pub(super) null: bool,
}

impl NodeRules {
    /// Validates a value. The errors are dropped if `was` says that the value is unchanged.
    pub(super) fn check<'f>(
        &'f self,
        value: &'f Json,
        trail: &Trail<'_, 'f>,
        was: Option<&Correlated<'_, '_>>,
        outcome: &mut Outcome<'f>,
    ) {
        if !trail.goes_on(WORK_PER_VALUE) {
            return;
        }
        let before = outcome.faults.len();
        self.check_anew(value, trail, was, outcome);
        if outcome.faults.len() > before && was.is_some_and(|was| was.is_unchanged()) {
            outcome.faults.truncate(before);
        }
    }

    /// Validates a value as a new value, without ratcheting.
    pub(super) fn outcome<'f>(&'f self, value: &'f Json, trail: &Trail<'_, 'f>) -> Outcome<'f> {
        let mut outcome = Outcome::default();
        self.check(value, trail, None, &mut outcome);
        outcome
    }

    fn check_anew<'f>(
        &'f self,
        value: &'f Json,
        trail: &Trail<'_, 'f>,
        was: Option<&Correlated<'_, '_>>,
        outcome: &mut Outcome<'f>,
    ) {
        let typed = !self.types.text.is_empty() || self.format.is_some();
        if typed || value.is_null() {
            let cause = self.check_type(value);
            outcome.count(usize::from(cause.is_none()));
            self.report(outcome, trail, cause);
        }
        if value.is_null() {
            self.check_listed(value, trail, outcome);
            return;
        }
        outcome.count(usize::from(typed));
        if let Some(combination) = &self.combination {
            combination.check(value, trail, outcome);
        }
        // Upstream counts three successful checks here: two for combinations, and one for the value as a whole.
        outcome.count(3);
        match value {
            Json::String(text) => {
                let cause = self
                    .texts
                    .as_ref()
                    .and_then(|rules| rules.check(text, trail));
                self.report(outcome, trail, cause);
                let cause = self.check_format(text);
                self.report(outcome, trail, cause);
                outcome.count(1_usize.saturating_add(usize::from(self.has_text_format())));
            }
            Json::Number(number) => {
                if let Some(rules) = &self.numbers {
                    let report = |cause| outcome.add(trail, cause);
                    rules.check(Numeric::from(number), self.wholes, report);
                }
                outcome.count(2);
            }
            Json::Array(items) => {
                if let Some(rules) = &self.lists {
                    rules.check(items, trail, was, outcome);
                }
                outcome.count(2);
            }
            Json::Null | Json::Bool(_) | Json::Object(_) => {}
        }
        self.check_listed(value, trail, outcome);
        outcome.count(1);
        if let Json::Object(fields) = value {
            if let Some(rules) = &self.maps {
                rules.check(fields, trail, was, outcome);
            }
            outcome.count(1);
        }
    }

    fn check_listed<'f>(
        &'f self,
        value: &'f Json,
        trail: &Trail<'_, 'f>,
        outcome: &mut Outcome<'f>,
    ) {
        let allowed = self.enumeration.values();
        if !allowed.is_empty() && !self.enumeration.lists(value) {
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

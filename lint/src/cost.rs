//! The upper bounds of a document's costs, and their limits.

use gavel_crd::definition::{
    Definition, RULE_LIMIT, RuleReport, SCHEMA_LIMIT, SchemaReport, written_field,
};
use gavel_crd::rule::Age;
use gavel_engine::estimate::{HeavyPart, heaviest};
use gavel_manifest::{Document, Place};
use gavel_policy::api::Resource;
use gavel_policy::typecheck::{Estimate, ExpressionCost, KindCosts};

use crate::bounds::advice;
use crate::context::Linter;
use crate::kinds::{is_definition, name_of, pointer, text};
use crate::registration;
use crate::rule_part::RulePart;
use crate::types::kind_name;

/// The maximum number of expensive parts that are named.
const MOST_PARTS: usize = 3;

/// The upper bounds of an object's costs, for one version or kind.
#[derive(Debug, Clone)]
pub struct ObjectCost {
    /// The kind and name of the object.
    pub object: String,
    /// The version of a definition, or the kind that a policy matches.
    pub about: String,
    /// The rules or expressions.
    pub rules: Vec<RuleCost>,
    /// The sums of the costs of expressions that share a budget, one entry for each budget.
    pub totals: Vec<TotalCost>,
}

/// The upper bound of an expression's cost.
#[derive(Debug, Clone)]
pub struct RuleCost {
    /// The path of the expression in the document.
    pub field: String,
    /// The position of the expression in the document.
    pub place: Place,
    /// The expression.
    pub text: String,
    /// The upper bound of the cost, in cost units.
    pub cost: Figure,
    /// The upper bound of the cost of one evaluation, in cost units; 0 if the cost is unknown or has no bound.
    pub once: u64,
    /// How often the expression may run for one object; `None` if the schema does not bound this number, only the size of requests. A
    /// definition's messageExpression is counted once, as by the API server, although each node that violates the rule evaluates it.
    pub cardinality: Option<u64>,
    /// The limit, in cost units.
    pub limit: u64,
    /// The parts that contribute most.
    pub heaviest: Vec<HeavyPart>,
    /// The schema bounds that reduce the cost of a definition's rule; empty for policies, if the cost is at most a fifth of the limit, or
    /// if no bound helps.
    pub advice: String,
}

/// The cost of expressions that share a budget.
#[derive(Debug, Clone)]
pub struct TotalCost {
    /// The path of the schema or list.
    pub field: String,
    /// The upper bound of the sum, in cost units.
    pub cost: Figure,
    /// The budget, in cost units.
    pub budget: u64,
}

/// An upper bound of a cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Figure {
    /// At most this many cost units.
    AtMost(u64),
    /// The expression reads a value whose size has no bound.
    Unbounded,
    /// The expression does not compile, or has type errors.
    Unknown,
}

impl Linter {
    /// The upper bounds of the costs of a definition's or policy's expressions; empty for other objects. For definitions, these are the
    /// estimates by which an API server accepts or rejects the definition. For policies, the bounds hold for objects that satisfy the
    /// schema of their kind and the size limit.
    pub fn costs(&self, document: &Document) -> Vec<ObjectCost> {
        if is_definition(document) {
            return self.costs_of_definition(document);
        }
        if !registration::is_subject(document) {
            return Vec::new();
        }
        let Ok(decoded) = registration::decode(document) else {
            return Vec::new();
        };
        let analysis = match &decoded.object {
            Resource::ValidatingAdmissionPolicy(policy) => self.kinds.types.analyze(&**policy),
            Resource::MutatingAdmissionPolicy(policy) => self.kinds.types.analyze(&**policy),
            _ => return Vec::new(),
        };
        let costs = analysis.costs.into_iter();
        costs.map(|costs| of_kind(document, costs)).collect()
    }

    fn costs_of_definition(&self, document: &Document) -> Vec<ObjectCost> {
        let Ok(definition) = Definition::read(document.value()) else {
            return Vec::new();
        };
        let reports = definition.rules(&self.rules, Age::New);
        let reports = reports.iter();
        reports
            .map(|report| self.of_schema(document, &definition, report))
            .collect()
    }

    fn of_schema(
        &self,
        document: &Document,
        definition: &Definition,
        report: &SchemaReport<'_>,
    ) -> ObjectCost {
        let rules = report.rules.iter();
        let total = TotalCost {
            field: written_field(&report.path).into_owned(),
            cost: Figure::AtMost(report.total_cost),
            budget: SCHEMA_LIMIT,
        };
        ObjectCost {
            object: named(document),
            about: report.version.unwrap_or("all versions").to_owned(),
            rules: rules
                .flat_map(|rule| {
                    let parts = RulePart::ALL.into_iter();
                    parts.filter_map(|part| self.of_rule(document, definition, report, rule, part))
                })
                .collect(),
            totals: vec![total],
        }
    }

    /// The cost of one of the expressions of a rule; `None` if the rule has no messageExpression, or if an API server does not compile the
    /// messageExpression because the rule does not compile.
    fn of_rule(
        &self,
        document: &Document,
        definition: &Definition,
        report: &SchemaReport<'_>,
        rule: &RuleReport<'_>,
        part: RulePart,
    ) -> Option<RuleCost> {
        let outcome = rule.outcome.as_ref().ok();
        if part == RulePart::Message {
            outcome?.compiled.message.as_ref()?;
        }
        let field = format!("{}.{}", written_field(&rule.path), part.key());
        let mut cost = RuleCost {
            place: document.place_of(&field),
            field,
            text: part.text(rule.rule).to_owned(),
            cost: Figure::Unknown,
            once: 0,
            cardinality: outcome.and_then(|outcome| part.cardinality(outcome)),
            limit: RULE_LIMIT,
            heaviest: Vec::new(),
            advice: String::new(),
        };
        let found = outcome
            .and_then(|outcome| Some((outcome, part.compiled(outcome)?, part.cost(outcome)?)));
        let Some((outcome, expression, units)) = found else {
            return Some(cost);
        };
        cost.once = expression.max_cost;
        cost.cost = Figure::AtMost(units);
        if let Some(checked) = part.tree(outcome) {
            cost.heaviest = heaviest(checked, outcome.node.schema(), MOST_PARTS);
        }
        if units > RULE_LIMIT / 5 {
            let advice = advice(&self.rules, definition, report, rule, part);
            cost.advice = advice.map(|advice| advice.text()).unwrap_or_default();
        }
        Some(cost)
    }
}

fn of_kind(document: &Document, costs: KindCosts) -> ObjectCost {
    let rules = costs.expressions.into_iter().map(|expression| {
        let ExpressionCost {
            field,
            cost,
            heaviest,
        } = expression;
        let text = document.value().pointer(&pointer(&field));
        let text = text.and_then(|text| text.as_str()).unwrap_or_default();
        let cost = figure(cost);
        RuleCost {
            place: document.place_of(&field),
            text: text.to_owned(),
            field,
            once: match cost {
                Figure::AtMost(cost) => cost,
                Figure::Unbounded | Figure::Unknown => 0,
            },
            cost,
            cardinality: Some(1),
            limit: ExpressionCost::LIMIT,
            heaviest,
            advice: String::new(),
        }
    });
    let totals = costs.groups.into_iter().map(|group| TotalCost {
        field: group.field,
        cost: figure(group.cost),
        budget: group.budget,
    });
    ObjectCost {
        object: named(document),
        about: kind_name(&costs.kind),
        rules: rules.collect(),
        totals: totals.collect(),
    }
}

fn figure(cost: Estimate) -> Figure {
    match cost {
        Estimate::Bounded(cost) => Figure::AtMost(cost.max),
        Estimate::Unbounded => Figure::Unbounded,
        Estimate::Unknown => Figure::Unknown,
    }
}

fn named(document: &Document) -> String {
    format!("{} {}", text(document, "kind"), name_of(document))
}

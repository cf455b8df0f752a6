//! Advice on bounds in a schema that reduce the cost of a rule: each bound is tried, and the rule is estimated again.

use std::sync::Arc;

use gavel_crd::definition::{
    Definition, RULE_LIMIT, RuleReport, SCHEMA_LIMIT, SchemaReport, Validation, Version,
    written_field,
};
use gavel_crd::rule::{Age, RuleEnvs};
use gavel_manifest::{Document, Problem};
use gavel_schema::{JsonSchema, OptionalList};
use smol_str::SmolStr;

use crate::context::Linter;
use crate::expressions::problem;
use crate::rule_part::RulePart;
use crate::rules::{COST_NEAR_LIMIT, OVER_BUDGET};

/// Bounds that reduce the cost of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Advice {
    /// The bounds: the path of the field, the key, the value.
    pub(crate) bounds: Vec<(String, &'static str, i64)>,
    /// The cost of the rule with these bounds, in cost units.
    pub(crate) cost: u64,
}

impl Advice {
    /// The advice in words: "`maxItems: 64` on spec.hosts brings it to 12 % of the limit".
    pub(crate) fn text(&self) -> String {
        let bounds = self.bounds.iter();
        let bounds: Vec<_> = bounds
            .map(|(field, key, value)| match field.as_str() {
                "" => format!("`{key}: {value}` on the object itself"),
                field => format!("`{key}: {value}` on {field}"),
            })
            .collect();
        let verb = if bounds.len() == 1 { "brings" } else { "bring" };
        format!(
            "{} {verb} it to {} of the limit",
            bounds.join(" and "),
            share(self.cost, RULE_LIMIT)
        )
    }
}

/// The cost as a percentage of a limit, rounded up: `12 %`. A cost below one percent is `< 1 %`.
pub fn share(cost: u64, limit: u64) -> String {
    if cost > 0 && cost < limit / 100 {
        return "< 1 %".to_owned();
    }
    let share = u128::from(cost)
        .saturating_mul(100)
        .div_ceil(u128::from(limit.max(1)));
    format!("{share} %")
}

/// Three quarters of a limit.
const fn near(limit: u64) -> u64 {
    limit.saturating_sub(limit / 4)
}

/// Reports rules and messageExpressions that use more than three quarters of their budget. The help texts for these expressions, and for
/// expressions that exceed the budget, name bounds that reduce the cost.
pub(crate) fn check(
    linter: &Linter,
    document: &Document,
    definition: &Definition,
    report: &SchemaReport<'_>,
    problems: &mut Vec<Problem>,
) {
    let parts = report
        .rules
        .iter()
        .flat_map(|each| RulePart::ALL.map(|part| (each, part)));
    for (each, part) in parts {
        let cost = each
            .outcome
            .as_ref()
            .ok()
            .and_then(|outcome| part.cost(outcome));
        let Some(cost) = cost.filter(|cost| *cost > near(RULE_LIMIT)) else {
            continue;
        };
        let help = advice(&linter.rules, definition, report, each, part);
        let help = help.map(|advice| advice.text()).unwrap_or_default();
        let field = format!("{}.{}", each.path, part.key());
        if cost > RULE_LIMIT {
            let refusal = problems
                .iter_mut()
                .find(|problem| problem.rule == OVER_BUDGET.id && *problem.field == field);
            if let Some(refusal) = refusal.filter(|_| !help.is_empty()) {
                *refusal = refusal.clone().with_help(help);
            }
            continue;
        }
        let written = format!("{}.{}", written_field(&each.path), part.key());
        let share = share(cost, RULE_LIMIT);
        let key = part.key();
        let message =
            format!("the {key} may cost {cost} units, {share} of the limit of {RULE_LIMIT}");
        let found = problem(document, &COST_NEAR_LIMIT, &written, message);
        problems.push(match help.is_empty() {
            true => found,
            false => found.with_help(help),
        });
    }
    if report.total_cost > near(SCHEMA_LIMIT) && report.total_cost <= SCHEMA_LIMIT {
        let share = share(report.total_cost, SCHEMA_LIMIT);
        let message = format!(
            "all rules of the schema may cost {} units together, {share} of the limit of {SCHEMA_LIMIT}",
            report.total_cost
        );
        let field = written_field(&report.path);
        problems.push(problem(document, &COST_NEAR_LIMIT, &field, message));
    }
}

/// The values that are tried, largest first.
const VALUES: [i64; 9] = [4096, 1024, 512, 256, 128, 64, 32, 16, 8];
/// The attempts to find bounds, one after the other until one succeeds: the maximum number of bounds that the advice names, and the value
/// of a bound at which another schema node is bounded instead of lowering this bound further.
const ATTEMPTS: [(usize, i64); 2] = [(3, 64), (8, 16)];
/// The maximum number of schema nodes that are tried.
const MOST_PLACES: usize = 40;

/// The bounds that reduce the cost of an expression of a rule to a fifth of the limit or, if that is not possible, below the limit; `None`
/// if no bounds do. The search tries one bound after the other, and returns bounds that are as few and as large as it can find.
pub(crate) fn advice(
    envs: &RuleEnvs,
    definition: &Definition,
    report: &SchemaReport<'_>,
    rule: &RuleReport<'_>,
    part: RulePart,
) -> Option<Advice> {
    let version = match report.version {
        Some(name) => definition
            .spec
            .versions
            .iter()
            .find(|version| version.name == name)?,
        None => definition.spec.versions.first()?,
    };
    let root = version.schema.as_ref()?.schema.as_deref()?;
    let steps = steps(&rule.path)?;
    let trial = Trial {
        envs,
        definition,
        version,
        part,
    };
    let schema = alone(root, &steps, rule)?;
    let mut places = Vec::new();
    unbounded(&schema, &steps, &mut Vec::new(), &mut places);
    places.truncate(MOST_PLACES);
    let mut found = ATTEMPTS
        .into_iter()
        .map(|(most, least)| trial.search(schema.clone(), places.clone(), most, least));
    found.find_map(|advice| advice.filter(|advice| advice.cost <= RULE_LIMIT))
}

/// A step from a schema to one below it.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    Property(SmolStr),
    Item,
    Value,
}

/// The steps from the root of the schema to the node of a rule. `path` is the path of the rule; `None` if it does not lead into a schema.
fn steps(path: &str) -> Option<Vec<Step>> {
    let (_, rest) = path.split_once("openAPIV3Schema")?;
    let (mut rest, _) = rest.rsplit_once(".x-kubernetes-validations")?;
    let mut steps = Vec::new();
    while !rest.is_empty() {
        rest = rest.strip_prefix('.')?;
        if let Some(after) = rest.strip_prefix("properties[") {
            let (name, after) = after.split_once(']')?;
            steps.push(Step::Property(name.into()));
            rest = after;
        } else if let Some(after) = rest.strip_prefix("items") {
            steps.push(Step::Item);
            rest = after;
        } else {
            rest = rest.strip_prefix("additionalProperties")?;
            steps.push(Step::Value);
        }
    }
    Some(steps)
}

/// The schema with a single rule. Above the node of this rule, it has only the properties on the way to the node.
fn alone(root: &JsonSchema, steps: &[Step], rule: &RuleReport<'_>) -> Option<JsonSchema> {
    let Some((step, rest)) = steps.split_first() else {
        let mut node = without_rules(root);
        node.validations = OptionalList::from(vec![rule.rule.clone()].into_boxed_slice());
        return Some(node);
    };
    let mut schema = JsonSchema {
        validations: OptionalList::default(),
        ..root.clone()
    };
    match step {
        Step::Property(name) => {
            let below = alone(root.properties.get(name)?, rest, rule)?;
            schema.properties = [(name.clone(), Arc::new(below))].into_iter().collect();
        }
        Step::Item => *schema.item_mut()? = alone(root.item()?, rest, rule)?,
        Step::Value => *schema.value_mut()? = alone(root.value()?, rest, rule)?,
    }
    Some(schema)
}

/// A schema without its rules. The recursion is as deep as the schema; the reader of schemas limits this depth.
fn without_rules(schema: &JsonSchema) -> JsonSchema {
    let properties = schema.properties.iter();
    let properties = properties
        .map(|(name, each)| (name.clone(), Arc::new(without_rules(each))))
        .collect();
    let mut copy = JsonSchema {
        validations: OptionalList::default(),
        properties,
        ..schema.clone()
    };
    if let Some(item) = copy.item_mut() {
        *item = without_rules(item);
    }
    if let Some(value) = copy.value_mut() {
        *value = without_rules(value);
    }
    copy
}

/// Adds the schema nodes with no bound or a large one to `places`, each with the key of the bound. Searches the nodes on `way`, and the
/// nodes below the last of them.
fn unbounded(
    schema: &JsonSchema,
    way: &[Step],
    place: &mut Vec<Step>,
    places: &mut Vec<(Vec<Step>, &'static str)>,
) {
    if places.len() >= MOST_PLACES {
        return;
    }
    let bounds = &schema.bounds;
    let key = match schema.kind.as_str() {
        "array" if bounds.max_items.is_none_or(|most| most > 8) => Some("maxItems"),
        "object"
            if schema.value().is_some() && bounds.max_properties.is_none_or(|most| most > 8) =>
        {
            Some("maxProperties")
        }
        "string"
            if bounds.max_length.is_none_or(|most| most > 64) && bounds.enumeration.is_empty() =>
        {
            Some("maxLength")
        }
        _ => None,
    };
    places.extend(key.map(|key| (place.clone(), key)));
    let mut below = |step: Step, schema: &JsonSchema, way: &[Step]| {
        place.push(step);
        unbounded(schema, way, place, places);
        place.pop();
    };
    // On the way to the node, only one step is followed.
    if let Some((step, rest)) = way.split_first() {
        match step {
            Step::Property(name) => {
                if let Some(schema) = schema.properties.get(name) {
                    below(step.clone(), schema, rest);
                }
            }
            Step::Item => {
                if let Some(schema) = schema.item() {
                    below(step.clone(), schema, rest);
                }
            }
            Step::Value => {
                if let Some(schema) = schema.value() {
                    below(step.clone(), schema, rest);
                }
            }
        }
        return;
    }
    for (name, schema) in &schema.properties {
        below(Step::Property(name.clone()), schema, &[]);
    }
    if let Some(schema) = schema.item() {
        below(Step::Item, schema, &[]);
    }
    if let Some(schema) = schema.value() {
        below(Step::Value, schema, &[]);
    }
}

/// Lowers the bound of a schema node to `value`; a smaller bound stays. `None` if the schema has no node at `place`.
fn set(schema: &mut JsonSchema, place: &[Step], key: &str, value: i64) -> Option<()> {
    let mut node = schema;
    for step in place {
        node = match step {
            Step::Property(name) => node.properties.get_mut(name)?,
            Step::Item => node.item_mut()?,
            Step::Value => node.value_mut()?,
        };
    }
    let bounds = &mut *node.bounds;
    let bound = match key {
        "maxItems" => &mut bounds.max_items,
        "maxProperties" => &mut bounds.max_properties,
        _ => &mut bounds.max_length,
    };
    *bound = Some(bound.map_or(value, |known| known.min(value)));
    Some(())
}

fn shown(place: &[Step]) -> String {
    let mut shown = String::new();
    for step in place {
        match step {
            Step::Property(name) => {
                if !shown.is_empty() {
                    shown.push('.');
                }
                shown.push_str(name);
            }
            Step::Item => shown.push_str("[*]"),
            Step::Value => shown.push_str("[*]"),
        }
    }
    shown
}

/// A definition with a single version, whose schema is replaced for each trial.
struct Trial<'t> {
    envs: &'t RuleEnvs,
    definition: &'t Definition,
    version: &'t Version,
    part: RulePart,
}

impl Trial<'_> {
    /// The cost of the expression in the schema's only rule, in cost units; `None` if the expression does not compile.
    fn cost(&self, schema: &JsonSchema) -> Option<u64> {
        let version = Version {
            schema: Some(Validation {
                schema: Some(Arc::new(schema.clone())),
            }),
            ..self.version.clone()
        };
        let mut definition = Definition {
            metadata: self.definition.metadata.clone(),
            spec: self.definition.spec.clone(),
            status: self.definition.status.clone(),
        };
        definition.spec.versions = std::iter::once(version).collect();
        let reports = definition.rules(self.envs, Age::New);
        let report = reports.first()?.rules.first()?;
        self.part.cost(report.outcome.as_ref().ok()?)
    }

    /// Bounds at no more than `most` of the places. A bound is lowered below `least` only at the last of them. `None` if no bound reduces the
    /// cost.
    fn search(
        &self,
        mut schema: JsonSchema,
        mut places: Vec<(Vec<Step>, &'static str)>,
        most: usize,
        least: i64,
    ) -> Option<Advice> {
        let enough = RULE_LIMIT / 5;
        let mut cost = self.cost(&schema)?;
        let mut bounds = Vec::new();
        while cost > enough && bounds.len() < most {
            let tried = places.iter().filter_map(|(place, key)| {
                let mut smaller = schema.clone();
                set(&mut smaller, place, key, 1)?;
                Some((self.cost(&smaller)?, place, *key))
            });
            let (best, place, key) = tried.min_by_key(|(cost, ..)| *cost)?;
            if best >= cost {
                break;
            }
            let mut chosen = None;
            let is_last = places.len() == 1 || bounds.len().saturating_add(1) == most;
            for value in VALUES {
                let mut bounded = schema.clone();
                set(&mut bounded, place, key, value)?;
                let bounded_cost = self.cost(&bounded)?;
                chosen = Some((value, bounded, bounded_cost));
                // If a bound of `least` is not enough, a bound on the next schema node is added.
                if bounded_cost <= enough || (value <= least && !is_last) {
                    break;
                }
            }
            let (value, bounded, bounded_cost) = chosen?;
            bounds.push((shown(place), key, value));
            let place = place.clone();
            places.retain(|(known, _)| *known != place);
            (schema, cost) = (bounded, bounded_cost);
        }
        (!bounds.is_empty()).then_some(Advice { bounds, cost })
    }
}

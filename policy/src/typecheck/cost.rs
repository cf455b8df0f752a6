//! Upper bounds for the costs of a policy's expressions, computed from the maximum sizes of the inputs. Upstream has no such bounds; it
//! stops expensive expressions only at evaluation.
//!
//! A variable is evaluated when it is first read, and its value is cached. The cost of a variable therefore does not include the variables
//! that it reads. The cost of a group is the cost of its expressions plus the cost of each variable that they can read, directly or through
//! other variables. Each variable counts once, even if evaluations for some objects do not read it. In the group of validations and message
//! expressions, each variable counts once for the validations and once for the message expressions.

use std::collections::BTreeSet;

use gavel_engine::cost::CostEstimate;
use gavel_engine::estimate::{HeavyPart, KnownValue, bound, heaviest_of_bound};

use super::sizes::Sizes;
use super::{CheckedExpression, Part, Subject};
use crate::cel::{
    COST_BUDGET, MATCH_CONDITIONS_BUDGET, ObjectTypes, PER_CALL_LIMIT, variables_read,
};
use crate::resource::GroupVersionKind;

/// The costs of a policy for objects of one kind.
#[derive(Debug, Clone)]
pub struct KindCosts {
    /// The kind of the objects.
    pub kind: GroupVersionKind,
    /// The expressions, in the order of the policy's fields.
    pub expressions: Vec<ExpressionCost>,
    /// The costs of the groups of expressions that share a budget. Groups without expressions are left out.
    pub groups: Vec<GroupCost>,
}

/// The cost of one evaluation of an expression, without the variables that it reads.
#[derive(Debug, Clone)]
pub struct ExpressionCost {
    /// The path of the expression, such as `spec.validations[0].expression`.
    pub field: String,
    /// The cost.
    pub cost: Estimate,
    /// The subexpressions that contribute most to the cost.
    pub heaviest: Vec<HeavyPart>,
}

/// The maximum length of [`ExpressionCost::heaviest`].
const MOST_PARTS: usize = 3;

/// The cost of a group of expressions that share a budget, including the variables that they read.
#[derive(Debug, Clone)]
pub struct GroupCost {
    /// The field with the expressions: `spec.matchConditions`, `spec.validations`, `spec.auditAnnotations`, or a single mutation such as
    /// `spec.mutations[0]`.
    pub field: String,
    /// The cost for one binding and one param.
    pub cost: Estimate,
    /// The budget in cost units. The policy fails if an evaluation of the group costs more.
    pub budget: u64,
}

/// The estimated cost of an expression or a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Estimate {
    /// The range of the cost, in cost units. No evaluation exceeds the maximum if the objects satisfy their schemas. An evaluation that
    /// fails may cost less than the minimum.
    Bounded(CostEstimate),
    /// The cost has no upper bound, because the size of an input is unbounded.
    Unbounded,
    /// The cost is unknown, because an expression has type errors.
    Unknown,
}

impl ExpressionCost {
    /// The cost limit of one evaluation, in cost units. An expression fails if it exceeds the limit.
    pub const LIMIT: u64 = PER_CALL_LIMIT;
}

impl Estimate {
    fn plus(self, other: Estimate) -> Estimate {
        match (self, other) {
            (Estimate::Unknown, _) | (_, Estimate::Unknown) => Estimate::Unknown,
            (Estimate::Unbounded, _) | (_, Estimate::Unbounded) => Estimate::Unbounded,
            (Estimate::Bounded(one), Estimate::Bounded(other)) => {
                Estimate::Bounded(one.plus(other))
            }
        }
    }
}

impl KindCosts {
    pub(super) fn new(
        kind: GroupVersionKind,
        policy: &Subject<'_>,
        types: &ObjectTypes,
        max_object: u64,
        expressions: &[CheckedExpression],
    ) -> Self {
        let mut sizes = Sizes::new(types, max_object);
        let mut costed: Vec<_> = expressions
            .iter()
            .map(|expression| Costed::new(expression, policy, &mut sizes))
            .collect();
        let lists = [
            (&[Part::MatchCondition][..], MATCH_CONDITIONS_BUDGET),
            (&[Part::Validation, Part::Message], COST_BUDGET),
            (&[Part::AuditAnnotation], COST_BUDGET),
        ];
        let lists = lists
            .into_iter()
            .filter_map(|(parts, budget)| of_list(&costed, parts, budget));
        let mutations = costed.iter().filter(|each| each.part.is_mutation());
        let mutations = mutations.filter_map(|mutation| of_mutation(&costed, mutation));
        let groups = lists.chain(mutations).collect();
        costed.sort_by_key(|each| each.part.order(each.n));
        let expressions = costed.iter().map(|each| ExpressionCost {
            field: each.part.field(each.n),
            cost: each.cost,
            heaviest: each.heaviest.clone(),
        });
        KindCosts {
            kind,
            expressions: expressions.collect(),
            groups,
        }
    }
}

/// An expression with its cost.
#[derive(Debug)]
struct Costed {
    part: Part,
    n: usize,
    cost: Estimate,
    heaviest: Vec<HeavyPart>,
    /// The positions of the variables that the expression reads directly.
    reads: BTreeSet<usize>,
}

impl Costed {
    /// Estimates the cost of an expression. Variables must be estimated first and in order, because other expressions read them.
    fn new(expression: &CheckedExpression, policy: &Subject<'_>, sizes: &mut Sizes<'_>) -> Self {
        let CheckedExpression { part, n, checked } = expression;
        let (cost, reads, value) = match checked {
            Ok(checked) => {
                let bound = bound(checked, sizes);
                let cost = bound.cost.map_or(Estimate::Unbounded, Estimate::Bounded);
                (cost, sizes.positions(variables_read(checked)), bound.value)
            }
            Err(_) => (Estimate::Unknown, BTreeSet::new(), KnownValue::default()),
        };
        let parts = checked.as_ref().ok();
        let heaviest = parts.map(|checked| heaviest_of_bound(checked, sizes, MOST_PARTS));
        if let (Part::Variable, Some(variable)) = (part, policy.variables.get(*n)) {
            sizes.declare(&variable.name, value);
        }
        Costed {
            part: *part,
            n: *n,
            cost,
            heaviest: heaviest.unwrap_or_default(),
            reads,
        }
    }
}

/// The cost of the expressions of these parts, which share a budget; `None` if there are no expressions. Variables are evaluated again for
/// each part.
fn of_list(costed: &[Costed], parts: &[Part], budget: i64) -> Option<GroupCost> {
    let costs = parts
        .iter()
        .filter_map(|part| together(costed, |each| each.part == *part));
    Some(GroupCost {
        cost: costs.reduce(Estimate::plus)?,
        field: parts.first()?.list().to_owned(),
        budget: budget.unsigned_abs(),
    })
}

/// The cost of a mutation, which has its own budget.
fn of_mutation(costed: &[Costed], mutation: &Costed) -> Option<GroupCost> {
    let Costed { part, n, .. } = mutation;
    Some(GroupCost {
        cost: together(costed, |each| each.part == *part && each.n == *n)?,
        field: format!("{}[{n}]", part.list()),
        budget: COST_BUDGET.unsigned_abs(),
    })
}

/// The cost of the expressions that `is_one` selects, including the variables that they read. `None` if it selects none.
fn together(costed: &[Costed], is_one: impl Fn(&Costed) -> bool) -> Option<Estimate> {
    let expressions = costed.iter().filter(|each| is_one(each));
    let mut open: Vec<usize> = expressions
        .clone()
        .flat_map(|each| &each.reads)
        .copied()
        .collect();
    let mut total = expressions.map(|each| each.cost).reduce(Estimate::plus)?;
    let mut read = BTreeSet::new();
    while let Some(position) = open.pop() {
        // Variables are the first items of `costed`, in order.
        let variable = costed.get(position).filter(|_| read.insert(position));
        if let Some(variable) = variable {
            total = total.plus(variable.cost);
            open.extend(&variable.reads);
        }
    }
    Some(total)
}

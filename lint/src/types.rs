//! Checks the types and costs of policies with the schemas of the kinds that they match.

use std::cell::OnceCell;
use std::collections::{BTreeSet, HashMap};

use gavel_engine::ast::{Expr, ExprKind};
use gavel_engine::env::Env;
use gavel_engine::source::{Location, Source};
use gavel_manifest::{Document, Problem, Range};
use gavel_policy::GroupVersionKind;
use gavel_policy::cel::TypeFault;
use gavel_policy::typecheck::{
    Analysis, Estimate, ExpressionCost, ExpressionFault, GroupCost, KindCosts, Unchecked,
};

use crate::context::Linter;
use crate::expressions::path::{Aliases, FieldPath, Reads, path_of};
use crate::expressions::{Subject, optional_fields, problem};
use crate::kinds::KnownKind;
use crate::policy::Texts;
use crate::rules::{POLICY_COST, TYPE_MISMATCH, UNCHECKED_KIND, UNDEFINED_FIELD};
use crate::{builtin, meant};

/// Reports the type errors of a policy's expressions. Expressions that do not compile were reported before.
pub(crate) fn check(
    linter: &Linter,
    document: &Document,
    texts: &Texts<'_>,
    analysis: &Analysis,
    refused: &[&str],
    problems: &mut Vec<Problem>,
) {
    let mut found = FoundByKind::default();
    let kinds = analysis.costs.len();
    for ExpressionFault { field, kind, fault } in &analysis.faults {
        if refused.contains(&field.as_str()) {
            continue;
        }
        match fault {
            TypeFault::Internal(error) => {
                found.add(
                    kind,
                    problem(document, &TYPE_MISMATCH, field, error.as_str()),
                );
            }
            TypeFault::Issues(issues) => {
                let literals = OnceCell::new();
                let is_of_literal = |location| {
                    let parts = || literal_parts(&linter.stored, issues.source());
                    literals.get_or_init(parts).contains(&location)
                };
                for issue in issues.sorted() {
                    let rule = match issue.message.starts_with("undefined field '") {
                        true => &UNDEFINED_FIELD,
                        false => &TYPE_MISMATCH,
                    };
                    let place = issue.location.position();
                    let place =
                        place.map(|(line, column)| document.place_within(field, line, column));
                    let mut fault = problem(document, rule, field, issue.message.as_str());
                    fault.range = place.map(Range::from).or(fault.range);
                    if works_at_run_time(&fault.message, || is_of_literal(issue.location)) {
                        continue;
                    }
                    if let Some(known) = linter.kinds.get(kind) {
                        fault = meant::field_of(fault, &known.schema);
                    }
                    found.add(kind, meant::expression(fault, &linter.stored));
                }
            }
        }
    }
    found.retain(|problem, of| {
        of >= kinds || !texts.any_before(&problem.field, distinguishes_kinds)
    });
    check_optional(linter, document, texts, analysis, refused, &mut found);
    check_costs(document, &analysis.costs, &mut found);
    problems.extend(found.into_problems());
    let unchecked = analysis.unchecked.iter();
    problems.extend(unchecked.map(|Unchecked { field, reason }| {
        problem(document, &UNCHECKED_KIND, field, reason.as_str())
    }));
}

/// Whether an expression with this type mismatch works at run time, where all that is read from an object has the type `dyn` and all objects
/// are maps. For example, a list of containers and a list of init containers can be joined with `+`, although the names of their types
/// differ, and `{'name': port.name, 'port': port.number}` has values of one type, which the checker demands of literals.
fn works_at_run_time(message: &str, is_of_literal: impl FnOnce() -> bool) -> bool {
    if let Some(types) = message.strip_prefix("expected type '") {
        // The other parts that must have a type are the operands of `&&` and `||`, and what follows `?` in a literal.
        return types.ends_with("found 'dyn'") || is_of_literal();
    }
    let Some((_, arguments)) = message.split_once("applied to '(") else {
        return false;
    };
    // The name of a type begins with the kind and a number, as in `Deployment1.spec.template`.
    let mut types = arguments.split(['(', ')', ',', ' ']);
    types.any(|ty| {
        let (name, _) = ty.split_once('.').unwrap_or((ty, ""));
        name.ends_with('1') && name.starts_with(|c: char| c.is_ascii_uppercase())
    })
}

/// The positions of the elements, keys and values of an expression's list and map literals, except of those with `?`.
fn literal_parts(env: &Env, source: &Source) -> BTreeSet<Location> {
    let Ok(ast) = env.parse(source.text()) else {
        return BTreeSet::new();
    };
    let mut parts = BTreeSet::new();
    let mut add = |part: Expr<'_>| parts.insert(source.location(ast.offset(part.id)));
    for expr in ast.walk() {
        match expr.kind() {
            ExprKind::List(list) => {
                let elements = list.elements.iter().enumerate();
                for (_, element) in elements.filter(|(n, _)| !list.is_optional(*n)) {
                    add(element);
                }
            }
            ExprKind::Map(map) => {
                for entry in map.iter().filter(|entry| !entry.optional) {
                    add(entry.key);
                    add(entry.value);
                }
            }
            _ => {}
        }
    }
    parts
}

/// Whether an expression distinguishes the kinds of a policy: it tests for the kind, or for a field.
fn distinguishes_kinds(text: &str) -> bool {
    let tests = [
        ".kind",
        "request.resource",
        "request.name",
        "has(",
        ".?",
        " in object",
    ];
    tests.iter().any(|test| text.contains(test))
}

/// Reports the fields that a policy reads although the schemas of its kinds do not require them.
fn check_optional(
    linter: &Linter,
    document: &Document,
    texts: &Texts<'_>,
    analysis: &Analysis,
    refused: &[&str],
    found: &mut FoundByKind,
) {
    let kinds: BTreeSet<_> = analysis
        .expressions
        .iter()
        .map(|each| each.kind.clone())
        .collect();
    for kind in kinds {
        let Some(KnownKind {
            schema, is_builtin, ..
        }) = linter.kinds.get(&kind)
        else {
            continue;
        };
        let of_kind = || analysis.expressions.iter().filter(|each| each.kind == kind);
        let mut aliases = Aliases::new();
        for (n, variable) in texts.variables.iter().enumerate() {
            let field = format!("spec.variables[{n}].expression");
            let checked = of_kind().find(|each| each.field == field);
            let path = checked.and_then(|each| path_of(&each.checked, &aliases));
            if let Some(path) = path {
                aliases.push((variable.name.as_str().into(), path));
            }
        }
        let reads: Vec<_> = of_kind()
            .map(|each| (each, Reads::of(&each.checked, &aliases)))
            .collect();
        // A test in one expression may prevent another expression from being evaluated.
        let tested: BTreeSet<FieldPath> = reads
            .iter()
            .flat_map(|(_, reads)| reads.tested.iter().cloned())
            .collect();
        for (each, reads) in &reads {
            if each.field.ends_with("messageExpression") || refused.contains(&each.field.as_str()) {
                continue;
            }
            let root =
                |variable: &str| matches!(variable, "object" | "oldObject").then_some(&**schema);
            let is_set = |path: &[smol_str::SmolStr]| {
                builtin::is_set_in_objects(path)
                    || (*is_builtin && builtin::is_set(&kind, path, linter.server))
            };
            for (expr, path) in optional_fields(reads, &tested, &root, &is_set) {
                let subject = Subject {
                    document,
                    field: &each.field,
                    checked: &each.checked,
                    decides: false,
                };
                found.add(&kind, subject.optional(expr, path));
            }
        }
    }
}

/// Reports the expressions that may exceed their limits or, if none does by itself, those that exceed a shared budget together.
fn check_costs(document: &Document, costs: &[KindCosts], found: &mut FoundByKind) {
    let most = |cost: Estimate| match cost {
        Estimate::Bounded(cost) => cost.max,
        Estimate::Unbounded | Estimate::Unknown => 0,
    };
    for KindCosts {
        kind,
        expressions,
        groups,
    } in costs
    {
        let limit = ExpressionCost::LIMIT;
        let mut alone = false;
        for ExpressionCost { field, cost, .. } in expressions {
            let most = most(*cost);
            if most > limit {
                alone = true;
                let message = format!("may cost up to {most} units, and is stopped at {limit}");
                found.add_most(kind, problem(document, &POLICY_COST, field, message), most);
            }
        }
        if alone {
            continue;
        }
        for GroupCost {
            field,
            cost,
            budget,
        } in groups
        {
            let most = most(*cost);
            if most > *budget {
                let message = format!(
                    "may cost up to {most} units together, and the policy fails at {budget}"
                );
                found.add_most(kind, problem(document, &POLICY_COST, field, message), most);
            }
        }
    }
}

/// Problems, each with the kinds to which it applies.
#[derive(Default)]
struct FoundByKind {
    problems: Vec<(Problem, u64, Vec<String>)>,
    /// The positions of problems, by what makes them the same for several kinds.
    known: HashMap<Problem, usize>,
}

impl FoundByKind {
    fn add(&mut self, kind: &GroupVersionKind, problem: Problem) {
        let same = Problem {
            advice: None,
            ..problem.clone()
        };
        self.add_same(kind, problem, same, 0);
    }

    /// Adds a problem. If several kinds have it, the message with the greatest `figure` is kept.
    fn add_most(&mut self, kind: &GroupVersionKind, problem: Problem, figure: u64) {
        let same = Problem::new(problem.rule, "").of_field(problem.field.clone());
        self.add_same(kind, problem, same, figure);
    }

    /// Adds a problem. Problems of several kinds are one if they have the same `same`.
    fn add_same(&mut self, kind: &GroupVersionKind, problem: Problem, same: Problem, figure: u64) {
        let n = *self.known.entry(same).or_insert(self.problems.len());
        let kind = kind_name(kind);
        match self.problems.get_mut(n) {
            Some((known, most, kinds)) => {
                kinds.push(kind);
                if figure > *most {
                    (*known, *most) = (problem, figure);
                }
            }
            None => self.problems.push((problem, figure, vec![kind])),
        }
    }

    /// Keeps only some problems. `keeps` gets a problem and the number of its kinds.
    fn retain(&mut self, keeps: impl Fn(&Problem, usize) -> bool) {
        self.problems
            .retain(|(problem, _, of)| keeps(problem, of.len()));
        self.known.clear();
    }

    fn into_problems(self) -> impl Iterator<Item = Problem> {
        let problems = self.problems.into_iter();
        problems.map(|(problem, _, kinds)| problem.for_kinds(kinds))
    }
}

/// `apps/v1 Deployment`
pub(crate) fn kind_name(kind: &GroupVersionKind) -> String {
    format!("{} {}", kind.api_version(), kind.kind)
}

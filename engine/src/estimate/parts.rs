//! Finds the parts of an expression that contribute most to its cost.

use super::SizeSource;
use super::estimator::Estimator;
use crate::ast::{Expr, ExprId, ExprKind, unparse};
use crate::check::CheckedAst;

/// The length limit of a part's text, in characters, without the `…` that stands for omitted characters.
const MAX_TEXT: usize = 48;

/// A part of an expression with its cost.
#[derive(Debug, Clone, Copy)]
struct PartCost<'e> {
    expr: Expr<'e>,
    /// The upper bound of the number of evaluations of the part: the product of the sizes of the loops around it.
    times: u64,
    /// The upper bound of the part's contribution to the total cost, in cost units. Parts within this part are not included.
    own: u64,
}

/// The parts of an expression, sorted by their contribution to the cost. The part with the largest contribution comes first.
fn parts<'e>(mut estimator: Estimator<'e>) -> Vec<PartCost<'e>> {
    let root: Expr<'e> = estimator.checked.ast().root();
    estimator.cost(root);
    let mut parts = Vec::new();
    let mut open = vec![(root, 1_u64)];
    while let Some((expr, times)) = open.pop() {
        let cost = estimator.recorded(expr.id);
        let mut below = 0_u64;
        let first = open.len();
        expr.for_each_child(|child| open.push((child, times)));
        if let ExprKind::Comprehension(fold) = expr.kind() {
            let count = estimator.size_or_unknown(fold.iter_range()).max;
            let is_repeated =
                |id: ExprId| id == fold.loop_condition().id || id == fold.loop_step().id;
            for (child, times) in open.iter_mut().skip(first) {
                if is_repeated(child.id) {
                    *times = times.saturating_mul(count);
                }
            }
        }
        for (child, times) in open.iter().skip(first) {
            let cost = estimator.recorded(child.id).max;
            below = below.saturating_add(cost.saturating_mul(*times));
        }
        let whole = cost.max.saturating_mul(times);
        parts.push(PartCost {
            expr,
            times,
            own: whole.saturating_sub(below),
        });
    }
    parts.sort_by_key(|part| std::cmp::Reverse(part.own));
    parts
}

/// A part that contributes much to the cost of an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeavyPart {
    /// The line and column where the part begins, both from 1; `None` if the position is unknown.
    pub position: Option<(u32, u32)>,
    /// The text of the part: at most 48 characters of it. `…` stands for omitted characters.
    pub text: String,
    /// The upper bound of the number of evaluations of the part.
    pub times: u64,
    /// The part's contribution to the total cost, in cost units. Parts within this part are not included.
    pub own: u64,
}

/// The parts that contribute most to [`estimate`](super::estimate). Parts that a macro added have no text and are left out.
pub fn heaviest(checked: &CheckedAst, sizes: &dyn SizeSource, most: usize) -> Vec<HeavyPart> {
    heavy(checked, parts(Estimator::new(checked, sizes)), most)
}

/// The parts that contribute most to [`bound`](super::bound).
pub fn heaviest_of_bound(
    checked: &CheckedAst,
    sizes: &dyn SizeSource,
    most: usize,
) -> Vec<HeavyPart> {
    heavy(checked, parts(Estimator::of_bounds(checked, sizes)), most)
}

fn heavy(checked: &CheckedAst, parts: Vec<PartCost<'_>>, most: usize) -> Vec<HeavyPart> {
    let source = checked.ast().source();
    let parts = parts.into_iter().filter(|part| part.own > 0);
    // Nodes that a macro added have no text.
    let parts = parts.filter_map(|part| Some((unparse(part.expr)?, part)));
    let heavy = parts.take(most).map(|(text, part)| {
        let location = source.location(first_offset(checked, part.expr));
        HeavyPart {
            position: location.position(),
            text: shortened(part.expr, text),
            times: part.times,
            own: part.own,
        }
    });
    heavy.collect()
}

/// The text of a part, shortened if it is too long. The end of a receiver is kept, so that the calls of a chain have different texts.
fn shortened(part: Expr<'_>, text: String) -> String {
    let excess = text.chars().count().saturating_sub(MAX_TEXT);
    let receiver = match part.kind() {
        ExprKind::Call(call) => call.target.and_then(unparse),
        _ => None,
    };
    let receiver = receiver.map_or(0, |receiver| receiver.chars().count());
    let omitted = excess.min(receiver);
    let start = if omitted > 0 { "…" } else { "" };
    let end = if excess > omitted { "…" } else { "" };
    let kept: String = text.chars().skip(omitted).take(MAX_TEXT).collect();
    format!("{start}{kept}{end}")
}

/// The position at which a part begins: the smallest position of its nodes.
fn first_offset(checked: &CheckedAst, part: Expr<'_>) -> u32 {
    let mut first = checked.ast().offset(part.id);
    let mut open = vec![part];
    while let Some(expr) = open.pop() {
        first = first.min(checked.ast().offset(expr.id));
        expr.for_each_child(|child| open.push(child));
    }
    first
}

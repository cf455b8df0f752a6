//! What policies may cost.

use std::io::{self, Write};

use gavel_apimachinery::json;
use gavel_engine::value::Json;
use gavel_manifest::Problem;
use gavel_policy::GroupVersionKind;
use gavel_policy::typecheck::{Estimate, ExpressionCost, GroupCost, KindCosts};

use super::finding::{COST, Object, kind_name, with};
use crate::args::Output;
use crate::report;

/// What may cost more than it may take: of each field the kinds for which it does, and the most of them.
pub(super) fn findings(costs: &[KindCosts], object: &Object<'_>) -> Vec<Problem> {
    let mut findings: Vec<(u64, Problem)> = Vec::new();
    for costs in costs {
        for (field, cost, message) in exceeding(costs) {
            let known = findings
                .iter()
                .position(|(_, known)| &*known.field == field);
            let known = known.unwrap_or_else(|| {
                findings.push((0, object.document.problem(COST, field, "")));
                findings.len().saturating_sub(1)
            });
            let Some((most, finding)) = findings.get_mut(known) else {
                continue;
            };
            finding.kinds.push(kind_name(&costs.kind));
            if cost > *most {
                *most = cost;
                finding.message = message;
            }
        }
    }
    findings.into_iter().map(|(_, finding)| finding).collect()
}

/// The fields that may exceed their limits, with their costs and what is said of them: expressions or, where none does,
/// those that do together.
fn exceeding(costs: &KindCosts) -> Vec<(&str, u64, String)> {
    let most = |cost: Estimate| match cost {
        Estimate::Bounded(cost) => cost.max,
        Estimate::Unbounded | Estimate::Unknown => 0,
    };
    let limit = ExpressionCost::LIMIT;
    let mut exceeding = Vec::new();
    for ExpressionCost { field, cost } in &costs.expressions {
        let most = most(*cost);
        if most > limit {
            let message = format!("may cost up to {most} units, and is ended at {limit}");
            exceeding.push((field.as_str(), most, message));
        }
    }
    if !exceeding.is_empty() {
        return exceeding;
    }
    for GroupCost {
        field,
        cost,
        budget,
    } in &costs.groups
    {
        let most = most(*cost);
        if most > *budget {
            let message =
                format!("may cost up to {most} units together, and the policy fails at {budget}");
            exceeding.push((field.as_str(), most, message));
        }
    }
    exceeding
}

/// Prints what each expression costs at most, kind by kind.
pub(super) fn print(
    costs: &[KindCosts],
    object: &Object<'_>,
    output: Output,
    out: &mut impl Write,
) -> io::Result<()> {
    for KindCosts {
        kind,
        expressions,
        groups,
    } in costs
    {
        let limited = expressions.iter();
        let limited = limited.map(|each| (each.field.as_str(), each.cost, ExpressionCost::LIMIT));
        let groups = groups
            .iter()
            .map(|group| (group.field.as_str(), group.cost, group.budget));
        let rows = limited.chain(groups);
        if output == Output::Json {
            for (field, cost, limit) in rows {
                writeln!(
                    out,
                    "{}",
                    json::to_string(&row(object, kind, field, cost, limit))
                )?;
            }
            continue;
        }
        let title = format!("{} {}, {}:", object.kind, object.name, kind_name(kind));
        writeln!(out, "{}", report::visible(&title))?;
        for (field, cost, limit) in rows {
            let cost = match cost {
                Estimate::Bounded(cost) => cost.max.to_string(),
                Estimate::Unbounded => "unbounded".to_owned(),
                Estimate::Unknown => "unknown".to_owned(),
            };
            writeln!(out, "  {field:<44} {cost:>20} of {limit:>9}")?;
        }
    }
    Ok(())
}

fn row(
    object: &Object<'_>,
    kind: &GroupVersionKind,
    field: &str,
    cost: Estimate,
    limit: u64,
) -> Json {
    let place = object.document.place_of(field);
    let line = object.line(place, "estimate", field, &[kind_name(kind)]);
    let (estimate, range) = match cost {
        Estimate::Bounded(cost) => ("bounded", Some(cost)),
        Estimate::Unbounded => ("unbounded", None),
        Estimate::Unknown => ("unknown", None),
    };
    let line = with(line, "estimate", estimate);
    let line = with(line, "min", range.map(|range| range.min));
    let line = with(line, "max", range.map(|range| range.max));
    with(line, "limit", limit)
}

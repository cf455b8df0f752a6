//! What policies may cost.

use std::io::{self, Write};

use gavel_apimachinery::json;
use gavel_engine::value::Json;
use gavel_policy::GroupVersionKind;
use gavel_policy::typecheck::{Analysis, Estimate, ExpressionCost, KindCosts};

use super::finding::{Check, Finding, Object, kind_name, with};
use crate::args::Output;

/// What may cost more than it may take. A group is told only where none of its expressions is, by the kind for which it
/// costs most.
pub(super) fn findings(costs: &[KindCosts], object: &Object<'_>) -> Vec<Finding> {
    let mut findings: Vec<(u64, Finding)> = Vec::new();
    for KindCosts {
        kind,
        expressions,
        groups,
    } in costs
    {
        let limit = ExpressionCost::LIMIT;
        let mut exceeds = false;
        for ExpressionCost { field, cost } in expressions {
            if cost.exceeds(limit) {
                exceeds = true;
                let what = "may cost up to {most} units, and is ended at {limit}";
                add(&mut findings, object, kind, field, *cost, limit, what);
            }
        }
        for group in groups
            .iter()
            .filter(|group| !exceeds && group.cost.exceeds(group.budget))
        {
            let what = "may cost up to {most} units together, and the policy fails at {limit}";
            add(
                &mut findings,
                object,
                kind,
                group.field,
                group.cost,
                group.budget,
                what,
            );
        }
    }
    findings.into_iter().map(|(_, finding)| finding).collect()
}

/// Adds a finding, or a kind to one of the same field.
fn add(
    findings: &mut Vec<(u64, Finding)>,
    object: &Object<'_>,
    kind: &GroupVersionKind,
    field: &str,
    cost: Estimate,
    limit: u64,
    what: &str,
) {
    let Estimate::Bounded(cost) = cost else {
        return;
    };
    let message = what
        .replace("{most}", &cost.max.to_string())
        .replace("{limit}", &limit.to_string());
    match findings.iter_mut().find(|(_, known)| known.field == field) {
        Some((most, known)) => {
            known.kinds.push(kind.clone());
            if cost.max > *most {
                *most = cost.max;
                known.message = message;
            }
        }
        None => {
            let mut finding = object.finding(Check::Cost, field, message);
            finding.kinds.push(kind.clone());
            findings.push((cost.max, finding));
        }
    }
}

/// Prints what each expression costs at most, kind by kind.
pub(super) fn print(
    analysis: &Analysis,
    object: &Object<'_>,
    output: Output,
    out: &mut impl Write,
) -> io::Result<()> {
    for KindCosts {
        kind,
        expressions,
        groups,
    } in &analysis.costs
    {
        let limited = expressions.iter();
        let limited = limited.map(|each| (each.field.as_str(), each.cost, ExpressionCost::LIMIT));
        let groups = groups
            .iter()
            .map(|group| (group.field, group.cost, group.budget));
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
        writeln!(out, "{} {}, {}:", object.kind, object.name, kind_name(kind))?;
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
    let line = object.line(place, "estimate", field, std::slice::from_ref(kind));
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

//! `gavel cost`: estimates the costs of rules and expressions without evaluating them.

use std::collections::{HashMap, HashSet};
use std::io::{self, Write};
use std::path::PathBuf;

use gavel_apimachinery::json;
use gavel_engine::value::Json;
use gavel_libraries::Server;
use gavel_lint::{Figure, Linter, ObjectCost, Options, RuleCost, share};
use gavel_manifest::problem::rule;
use gavel_manifest::{Document, Severity};
use serde_json::json;

use crate::args::{CostArgs, Output};
use crate::exit_code::Exit;
use crate::findings::{path_of, write_errors};
use crate::manifests::Manifests;
use crate::progress::Progress;
use crate::report::{self, visible};

/// Prints the costs of the objects that the arguments name.
pub(crate) fn run(args: &CostArgs) -> io::Result<Exit> {
    let mut manifests = Manifests::new(args.folders.clone(), Progress::new(false));
    let paths: Vec<PathBuf> = args.paths.iter().chain(&args.filename).cloned().collect();
    let mut documents = manifests.strict_objects(&paths);
    documents.retain(|document| !manifests.refuse_misspelled(document));
    let options = Options {
        server: Server::new(args.kubernetes_version),
        max_object: args.max_object,
    };
    let old = manifests.objects(&args.compare);
    let mut costs_of = |documents| {
        costs(&options, documents).unwrap_or_else(|error| {
            manifests.complain(error);
            Vec::new()
        })
    };
    let (before, found) = (costs_of(&old), costs_of(&documents));
    // Of objects with the same name, the first counts.
    let before = before.iter().rev();
    let before = before.map(|(_, cost)| ((&cost.object, &cost.about), cost));
    let before: HashMap<_, &ObjectCost> = before.collect();
    if !args.compare.is_empty() && before.is_empty() {
        report::warning(&"--compare: there is no older definition or policy to compare with");
    }
    report_causes(&options, &documents, &found, &mut manifests);
    if found.is_empty() && !manifests.unusable() {
        manifests.complain_of_nothing(
            "nothing to cost: there must be a definition, or a policy that matches a known kind",
        );
    }
    let mut out = io::stdout().lock();
    let (mut exceeding, mut is_same) = (0_usize, true);
    for (document, cost) in &found {
        let rules = cost.rules.iter().filter(|rule| over(rule.cost, rule.limit));
        let totals = cost
            .totals
            .iter()
            .filter(|total| over(total.cost, total.budget));
        exceeding = exceeding
            .saturating_add(rules.count())
            .saturating_add(totals.count());
        let before = before.get(&(&cost.object, &cost.about)).copied();
        match (args.output, args.compare.is_empty()) {
            (Output::Json, _) => write_json(&mut out, document, cost, before)?,
            (Output::Text, true) => write_tree(&mut out, cost)?,
            (Output::Text, false) => is_same &= !write_changes(&mut out, cost, before)?,
        }
    }
    if is_same && !found.is_empty() && args.output == Output::Text && !args.compare.is_empty() {
        report::summary("no cost has changed");
    }
    if args.output == Output::Json {
        write_errors(manifests.problems(), &mut out)?;
    }
    out.flush()?;
    Ok(manifests.exit(exceeding))
}

/// Reports what the linter finds in the documents about costs that are lacking: all errors if a cost is lacking, and the warnings about
/// expressions whose costs are unknown. Unknown fields have no costs, so they are always reported. Duplicate keys were already reported when
/// the documents were read.
fn report_causes(
    options: &Options,
    documents: &[Document],
    found: &[(&Document, ObjectCost)],
    manifests: &mut Manifests,
) {
    let Ok(linter) = Linter::new(options, documents) else {
        return;
    };
    let unknown = found.iter().flat_map(|(document, cost)| {
        let unknown = cost
            .rules
            .iter()
            .filter(|rule| rule.cost == Figure::Unknown);
        unknown.map(|rule| (document.file(), rule.place))
    });
    let unknown: HashSet<_> = unknown.collect();
    let is_lacking = found.is_empty() || !unknown.is_empty();
    for document in documents {
        for problem in linter.document(document) {
            let is_error = problem.severity == Severity::Error
                && (is_lacking || problem.rule == rule::UNKNOWN_FIELD)
                && problem.rule != rule::DUPLICATE_KEY;
            let place = document.place_of(&problem.field);
            let is_of_unknown = unknown.contains(&(document.file(), place));
            if is_error {
                manifests.report(problem);
            } else if problem.severity == Severity::Warning && is_of_unknown {
                report::warning(&problem);
            }
        }
    }
}

fn costs<'d>(
    options: &Options,
    documents: &'d [Document],
) -> Result<Vec<(&'d Document, ObjectCost)>, String> {
    let linter = Linter::new(options, documents).map_err(|error| error.to_string())?;
    let of_document = |document| {
        linter
            .costs(document)
            .into_iter()
            .map(move |cost| (document, cost))
    };
    Ok(documents.iter().flat_map(of_document).collect())
}

fn write_tree(out: &mut impl Write, cost: &ObjectCost) -> io::Result<()> {
    writeln!(
        out,
        "{}",
        visible(&format!("{}, {}", cost.object, cost.about))
    )?;
    for total in &cost.totals {
        let figure = against(total.cost, total.budget);
        writeln!(out, "  {:<60} {figure}", visible(&total.field))?;
    }
    for rule in &cost.rules {
        writeln!(
            out,
            "  {:<60} {}",
            visible(&shortened(&rule.field)),
            against(rule.cost, rule.limit)
        )?;
        writeln!(
            out,
            "    {}: {}",
            rule.place,
            visible(&first_line(&rule.text))
        )?;
        if rule.cardinality != Some(1) {
            let times = match rule.cardinality {
                Some(times) => format!("{times} times in an object"),
                None => "as often as the size of a request allows: no bound limits the number of elements".to_owned(),
            };
            writeln!(out, "    {}, {times}", count(rule.once, "unit"))?;
        }
        for part in rule.heaviest.iter().filter(|_| is_much(rule)) {
            let text = visible(&part.text).into_owned();
            let times = count(part.times, "time");
            writeln!(out, "    {}: `{text}`, {times}", count(part.own, "unit"))?;
        }
        if !rule.advice.is_empty() {
            writeln!(out, "    help: {}", visible(&rule.advice))?;
        }
    }
    Ok(())
}

/// A count and what is counted: `1 unit`, `2 units`.
fn count(count: u64, thing: &str) -> String {
    report::count(usize::try_from(count).unwrap_or(usize::MAX), thing)
}

/// Whether the cost is worth explaining: at least a hundredth of the limit.
fn is_much(rule: &RuleCost) -> bool {
    matches!(rule.cost, Figure::AtMost(cost) if cost >= rule.limit / 100)
}

/// Prints the costs that have changed, and those that exceed their limit. Returns whether it printed any.
fn write_changes(
    out: &mut impl Write,
    cost: &ObjectCost,
    before: Option<&ObjectCost>,
) -> io::Result<bool> {
    let mut title = Some(format!("{}, {}", cost.object, cost.about));
    let mut line = |out: &mut dyn Write, field: &str, change: String| {
        if let Some(title) = title.take() {
            writeln!(out, "{}", visible(&title))?;
        }
        writeln!(out, "  {:<60} {change}", visible(field))
    };
    for total in &cost.totals {
        let known =
            before.and_then(|old| old.totals.iter().find(|known| known.field == total.field));
        let known = known.map(|known| known.cost);
        if known != Some(total.cost) || over(total.cost, total.budget) {
            line(out, &total.field, change(known, total.cost, total.budget))?;
        }
    }
    for rule in &cost.rules {
        let known = before
            .and_then(|old| same(old, rule))
            .map(|known| known.cost);
        if known != Some(rule.cost) || over(rule.cost, rule.limit) {
            line(
                out,
                &shortened(&rule.field),
                change(known, rule.cost, rule.limit),
            )?;
        }
    }
    let gone = before.into_iter().flat_map(|old| &old.rules);
    for rule in gone.filter(|rule| same(cost, rule).is_none()) {
        line(
            out,
            &shortened(&rule.field),
            format!("gone, was {}", shown(rule.cost)),
        )?;
    }
    Ok(title.is_none())
}

/// Whether a cost exceeds its limit.
fn over(figure: Figure, limit: u64) -> bool {
    matches!(figure, Figure::AtMost(cost) if cost > limit)
}

/// Finds the same expression in another version of the object, even if its index in a list differs. `None` if the other version does not
/// have the expression.
fn same<'c>(cost: &'c ObjectCost, rule: &RuleCost) -> Option<&'c RuleCost> {
    let list = |field: &str| field.rsplit_once('[').map(|(list, _)| list.to_owned());
    let mut rules = cost.rules.iter();
    rules.find(|known| known.text == rule.text && list(&known.field) == list(&rule.field))
}

fn change(before: Option<Figure>, now: Figure, limit: u64) -> String {
    match before {
        None => format!("new: {}", against(now, limit)),
        Some(before) if before == now => format!("unchanged: {}", against(now, limit)),
        Some(before) => format!("{} -> {}", shown(before), against(now, limit)),
    }
}

fn write_json(
    out: &mut impl Write,
    document: &Document,
    cost: &ObjectCost,
    before: Option<&ObjectCost>,
) -> io::Result<()> {
    let file = document.file().map(|file| path_of(Some(file)));
    for rule in &cost.rules {
        let heaviest: Vec<Json> = rule
            .heaviest
            .iter()
            .map(|part| json!({"text": part.text, "times": part.times, "cost": part.own}))
            .collect();
        let known = before.and_then(|old| same(old, rule));
        let line = json!({
            "file": file,
            "line": rule.place.line,
            "column": rule.place.column,
            "object": cost.object,
            "about": cost.about,
            "field": rule.field,
            "expression": rule.text,
            "cost": units(rule.cost),
            "estimate": name(rule.cost),
            "once": rule.once,
            "cardinality": rule.cardinality,
            "limit": rule.limit,
            "heaviest": heaviest,
            "help": rule.advice,
            "before": known.map(|known| units(known.cost)),
        });
        writeln!(out, "{}", json::to_string(&line))?;
    }
    for total in &cost.totals {
        let line = json!({
            "file": file,
            "object": cost.object,
            "about": cost.about,
            "field": total.field,
            "cost": units(total.cost),
            "estimate": name(total.cost),
            "budget": total.budget,
        });
        writeln!(out, "{}", json::to_string(&line))?;
    }
    Ok(())
}

fn units(figure: Figure) -> Option<u64> {
    match figure {
        Figure::AtMost(cost) => Some(cost),
        Figure::Unbounded | Figure::Unknown => None,
    }
}

fn name(figure: Figure) -> &'static str {
    match figure {
        Figure::AtMost(_) => "bounded",
        Figure::Unbounded => "unbounded",
        Figure::Unknown => "unknown",
    }
}

fn shown(figure: Figure) -> String {
    units(figure).map_or_else(|| name(figure).to_owned(), |cost| cost.to_string())
}

/// A cost with its limit and its share of the limit: `3145728 of 10000000 (32 %)`.
fn against(figure: Figure, limit: u64) -> String {
    match figure {
        Figure::AtMost(cost) => format!("{cost} of {limit} ({})", share(cost, limit)),
        Figure::Unbounded | Figure::Unknown => format!("{} of {limit}", name(figure)),
    }
}

/// Shortens the path of a rule in a schema: `spec.hosts[*] rule 0` is the first rule of the items of `spec.hosts`, and `spec.hosts[*] rule 0
/// message` is the messageExpression of this rule.
pub(super) fn shortened(field: &str) -> String {
    let Some((_, path)) = field.split_once("openAPIV3Schema") else {
        return field.to_owned();
    };
    if let Some(rule) = field.strip_suffix(".messageExpression") {
        return format!("{} message", shortened(rule));
    }
    let path = path.replace(".properties[", ".").replace(".items", "[*]");
    let path = path.replace(".additionalProperties", "[*]");
    let path = path
        .replace(".x-kubernetes-validations", " rule ")
        .replace(".rule", "");
    let (node, rule) = path.split_once(" rule ").unwrap_or((&path, ""));
    let node = node
        .trim_start_matches('.')
        .replace(']', "")
        .replace("[*", "[*]");
    let rule = rule.trim_matches(['[', ']']);
    format!("{node} rule {rule}").trim_start().to_owned()
}

fn first_line(text: &str) -> String {
    let line = text.trim().lines().next().unwrap_or_default();
    let short: String = line.chars().take(100).collect();
    match short.len() < text.trim().len() {
        true => format!("{short} …"),
        false => short,
    }
}

//! Explanations of decisions, for people.

use std::borrow::Cow;
use std::io::{self, Write};

use gavel_apimachinery::json;
use gavel_check::{Invocation, Ran, Seen, Step};
use gavel_policy::{ConditionsOutcome, PolicyDecisionEvaluation};

use super::Found;
use crate::report::visible;

/// At most this many characters of a value are shown.
const WIDTH: usize = 200;

/// Writes the steps of the decision about an object, indented below the lines of its findings.
pub(super) fn write(out: &mut impl Write, found: &Found) -> io::Result<()> {
    for step in &found.steps {
        match step {
            Step::Policy { policy, matched } => {
                writeln!(out, "  policy {}: {}", visible(policy), matching(matched))?;
            }
            Step::Binding {
                binding, matched, ..
            } => writeln!(
                out,
                "    binding {}: {}",
                visible(binding),
                matching(matched)
            )?,
            Step::Failed {
                policy,
                binding,
                error,
                denies,
            } => {
                // The failures of mutating policies come after all invocations, so they name their policy.
                let outcome = if *denies { "denied" } else { "ignored" };
                let (policy, error) = (visible(policy), visible(error));
                let binding = binding.as_deref().map(visible);
                let binding = binding.map_or_else(String::new, |name| format!(", binding {name}"));
                writeln!(
                    out,
                    "  policy {policy}{binding}: failed, and {outcome}: {error}"
                )?;
            }
            Step::Mutated { invocation } => {
                // All policies are matched before the first one is invoked, so the invocation names its policy.
                let what = match invocation.is_second {
                    true => "reinvocation",
                    false => "mutation",
                };
                let [policy, binding] = [&invocation.policy, &invocation.binding];
                let (policy, binding) = (visible(policy), visible(binding));
                writeln!(out, "  {what} by policy {policy}, binding {binding}")?;
                write_invocation(out, invocation)?;
                write_patch(out, invocation)?;
            }
            Step::Evaluated {
                invocation,
                evaluation,
            } => {
                write_invocation(out, invocation)?;
                for (n, decision) in evaluation.decisions.iter().enumerate() {
                    let verdict = match decision.evaluation {
                        PolicyDecisionEvaluation::Admit => continue,
                        PolicyDecisionEvaluation::Deny => "is false",
                        PolicyDecisionEvaluation::Error => "fails",
                    };
                    let message = visible(&decision.message);
                    writeln!(out, "      validations[{n}] {verdict}: {message}")?;
                    write_parts(out, "        ", found.parts(invocation, n))?;
                }
            }
        }
    }
    Ok(())
}

fn matching(matched: &Result<bool, String>) -> Cow<'_, str> {
    match matched {
        Ok(true) => "matches".into(),
        Ok(false) => "does not match the object".into(),
        Err(error) => visible(error),
    }
}

impl Found {
    /// The sub-expressions of a validation with their values.
    fn parts(&self, invocation: &Invocation, validation: usize) -> &[Seen] {
        let is_same = |other: &Invocation| {
            let [one, other] = [invocation, other]
                .map(|invocation| (&invocation.policy, &invocation.binding, &invocation.param));
            one == other
        };
        let probed = self
            .probed
            .iter()
            .find(|probed| is_same(&probed.invocation));
        let parts = probed.and_then(|probed| probed.validations.get(validation));
        parts.map(Vec::as_slice).unwrap_or_default()
    }
}

/// Writes the values of the sub-expressions that are evaluated. `margin` stands before each line.
pub(crate) fn write_parts(out: &mut impl Write, margin: &str, parts: &[Seen]) -> io::Result<()> {
    for seen in parts
        .iter()
        .filter(|seen| seen.is_reached && seen.part.is_informative)
    {
        let indent = "  ".repeat(seen.part.depth);
        let value = written(&seen.value);
        let text = one_line(&seen.part.probe);
        writeln!(out, "{margin}{indent}{text} = {value}")?;
    }
    Ok(())
}

fn written(result: &Result<String, String>) -> String {
    match result {
        Ok(value) => shortened(value),
        Err(error) => format!("error: {}", visible(error)),
    }
}

fn write_invocation(out: &mut impl Write, invocation: &Invocation) -> io::Result<()> {
    if let Some(param) = &invocation.param {
        writeln!(out, "      params {}", visible(param))?;
    }
    for ran in &invocation.runs {
        write_run(out, ran)?;
    }
    match &invocation.conditions {
        Some(ConditionsOutcome::NoMatch { failed }) => {
            writeln!(
                out,
                "      not evaluated: the match condition {failed:?} is false"
            )
        }
        Some(ConditionsOutcome::Error(error)) => {
            writeln!(out, "      the match conditions fail: {}", visible(error))
        }
        Some(ConditionsOutcome::Match) | None => Ok(()),
    }
}

/// Writes what the mutations of a policy changed: the operations of a JSON patch, one per line.
fn write_patch(out: &mut impl Write, invocation: &Invocation) -> io::Result<()> {
    let Some(operations) = &invocation.patch else {
        return Ok(());
    };
    if operations.is_empty() {
        return writeln!(out, "      patch: no change");
    }
    for operation in operations {
        let operation = shortened(&json::to_string(operation));
        writeln!(out, "      patch: {operation}")?;
    }
    Ok(())
}

fn write_run(out: &mut impl Write, ran: &Ran) -> io::Result<()> {
    let mut value = written(&ran.result);
    if !ran.help.is_empty() {
        value = format!("{value}; {}", visible(&ran.help));
    }
    let expression = one_line(&ran.expression);
    match &ran.variable {
        Some(name) => writeln!(out, "      variables.{name} = {value}    # {expression}"),
        None => writeln!(out, "      {} {expression} = {value}", ran.kind.name()),
    }
}

/// An expression on one line.
fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    visible(&words.join(" ")).to_string()
}

fn shortened(value: &str) -> String {
    match value.char_indices().nth(WIDTH) {
        Some((end, _)) => {
            let (start, _) = value.split_at(end);
            format!("{}…", visible(start))
        }
        None => visible(value).to_string(),
    }
}

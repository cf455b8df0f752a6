//! Findings for programs: one JSON object per line.

use gavel_apimachinery::json;
use gavel_check::custom::Key;
use gavel_check::{Finding, Invocation, Ran, Step};
use gavel_engine::value::Json;
use gavel_manifest::{Document, Problem};
use serde_json::json;

use super::Found;
use crate::findings::path_of;

/// The JSON line with the findings about an object.
pub(super) fn of(document: &Document, found: &Found, explain: bool) -> String {
    let text = |pointer: &str| {
        document
            .value()
            .pointer(pointer)
            .cloned()
            .unwrap_or_default()
    };
    let ruling = &found.ruling;
    let problems = &found.checked.problems;
    let findings = problems
        .iter()
        .map(field)
        .chain(ruling.findings.iter().map(finding));
    let of_definition = found.checked.warnings.iter().map(Problem::text);
    let warnings = of_definition.chain(ruling.warnings.iter().cloned());
    let mut line = json!({
        "file": document.file().map(|file| path_of(Some(file))),
        "line": document.place().line,
        "apiVersion": text("/apiVersion"),
        "kind": text("/kind"),
        "namespace": text("/metadata/namespace"),
        "name": text("/metadata/name"),
        "operation": found.operation.name(),
        "allowed": !found.is_denied(),
        "message": message(document, found),
        "findings": findings.collect::<Vec<Json>>(),
        "warnings": warnings.collect::<Vec<String>>(),
        "auditAnnotations": ruling.audit_annotations,
        "examined": ruling.is_examined,
    });
    if explain && let Json::Object(fields) = &mut line {
        let steps = found.steps.iter().map(step).collect();
        fields.insert("steps".to_owned(), Json::Array(steps));
    }
    json::to_string(&line)
}

/// The message with which an API server denies the object. An API server decodes and validates an object before validating policies run.
fn message(document: &Document, found: &Found) -> Option<String> {
    match Key::of(document.value()) {
        Ok(key) if !found.checked.is_valid() => {
            Some(found.checked.status(document.value(), &key).message)
        }
        _ => {
            let status = found.ruling.status.as_ref();
            status.map(|status| status.message.clone())
        }
    }
}

fn finding(finding: &Finding) -> Json {
    let Finding {
        action,
        policy,
        binding,
        param,
        message,
        validation,
    } = finding;
    json!({
        "action": action.done(),
        "policy": policy,
        "binding": binding,
        "param": param,
        "message": message,
        "validation": validation,
    })
}

/// The JSON of a problem that validation by a CustomResourceDefinition found.
fn field(problem: &Problem) -> Json {
    let start = problem.range.map(|range| range.start);
    json!({
        "action": "denied",
        "rule": problem.rule,
        "field": problem.field,
        "message": problem.message,
        "line": start.map(|start| start.line),
        "column": start.map(|start| start.column),
    })
}

fn step(step: &Step) -> Json {
    let matches = |matched: &Result<bool, String>| match matched {
        Ok(matched) => json!(matched),
        Err(error) => json!({"error": error}),
    };
    match step {
        Step::Policy { policy, matched } => json!({"policy": policy, "matched": matches(matched)}),
        Step::Binding {
            policy,
            binding,
            matched,
        } => json!({"policy": policy, "binding": binding, "matched": matches(matched)}),
        Step::Failed {
            policy,
            binding,
            error,
            denies,
        } => json!({"policy": policy, "binding": binding, "error": error, "denies": denies}),
        Step::Evaluated { invocation: of, .. } => invocation(of),
        Step::Mutated { invocation: of } => {
            let mut step = invocation(of);
            if let Json::Object(fields) = &mut step {
                fields.insert("reinvocation".to_owned(), of.is_second.into());
                fields.insert("patch".to_owned(), of.patch.clone().into());
            }
            step
        }
    }
}

fn invocation(invocation: &Invocation) -> Json {
    json!({
        "policy": invocation.policy,
        "binding": invocation.binding,
        "param": invocation.param,
        "expressions": invocation.runs.iter().map(run).collect::<Vec<Json>>(),
    })
}

fn run(ran: &Ran) -> Json {
    json!({
        "expression": ran.expression,
        "variable": ran.variable,
        "cost": ran.cost,
        "value": ran.result.as_ref().ok(),
        "error": ran.result.as_ref().err(),
        "help": ran.help,
    })
}

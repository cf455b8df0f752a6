//! Converts errors of an API server to problems that the linter reports.

use gavel_apimachinery::field::Error;
use gavel_crd::definition::field_at_fault;
use gavel_engine::value::Json;
use gavel_manifest::{Document, Problem};

use crate::kinds::pointer;
use crate::rules::{INVALID_EXPRESSION, INVALID_VALUE, OVER_BUDGET, Rule};
use crate::unclosed::unclosed_in;
use gavel_manifest::nearest;

/// Converts an error of an API server to a problem, with the rule for errors of its type.
pub(crate) fn refused(document: &Document, error: &Error) -> Problem {
    let field = field_at_fault(error);
    let problem = document.field_problem(error, &field);
    let rule = rule_of(error);
    let problem = Problem {
        rule: rule.id,
        severity: rule.severity,
        ..problem
    };
    at_opener(not_empty(supported(problem), document), document, &field)
}

/// Adds help to the problem of a required field that is set, but empty.
fn not_empty(problem: Problem, document: &Document) -> Problem {
    let value = document.value().pointer(&pointer(&problem.field));
    let is_empty = value.is_some_and(|value| value.is_null() || value == "");
    match is_empty && problem.message.starts_with("Required value") {
        true => problem.with_help("the value is empty; a text that begins with ! must be quoted"),
        false => problem,
    }
}

/// Adds the value that was probably meant, if the field supports only some values.
fn supported(problem: Problem) -> Problem {
    let parts = problem.message.split_once("Unsupported value: \"");
    let parts = parts.and_then(|(_, rest)| rest.split_once("\": supported values: "));
    let meant = parts.and_then(|(value, supported)| {
        let supported = supported.split(", ").map(|each| each.trim_matches('"'));
        nearest(value, supported)
    });
    match meant.map(|meant| format!("did you mean `{meant}`?")) {
        Some(help) => problem.with_help(help),
        None => problem,
    }
}

/// Moves a syntax error of an expression to the unclosed bracket or quote that caused it, because parsers report it further on. Other
/// problems stay where they are.
pub(crate) fn at_opener(problem: Problem, document: &Document, field: &str) -> Problem {
    if !problem.message.contains("Syntax error: ") {
        return problem;
    }
    let text = document.value().pointer(&pointer(field));
    match text.and_then(Json::as_str).and_then(unclosed_in) {
        Some((opener, place)) => problem
            .at(document.place_within(field, place.line, place.column))
            .with_help(format!("this {opener} is not closed")),
        None => problem,
    }
}

fn rule_of(error: &Error) -> &'static Rule {
    let is_over_budget = error.detail.contains("exceeds budget by factor")
        || error
            .detail
            .contains("contributed to estimated rule cost total");
    if is_over_budget {
        &OVER_BUDGET
    } else if error.expression.is_some() {
        &INVALID_EXPRESSION
    } else {
        &INVALID_VALUE
    }
}

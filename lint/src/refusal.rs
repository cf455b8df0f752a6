//! What an API server refuses, as problems.

use gavel_apimachinery::field::Error;
use gavel_crd::definition::written_field;
use gavel_manifest::{Document, Problem};

use crate::rules::{INVALID_EXPRESSION, INVALID_VALUE, OVER_BUDGET, Rule};

/// A refusal as a problem, with the rule that says what sort of refusal it is.
pub(crate) fn refused(document: &Document, error: &Error) -> Problem {
    let written = written_field(quoted_field(error).unwrap_or(&error.field));
    let problem = document.field_problem(error, &written);
    let rule = rule_of(error);
    Problem {
        rule: rule.id,
        severity: rule.severity,
        ..problem
    }
}

/// The field at fault where upstream names it in the detail alone, as it does where one of several schemas must hold.
fn quoted_field(error: &Error) -> Option<&str> {
    let (field, _) = error.detail.strip_prefix('"')?.split_once('"')?;
    (error.field == "<nil>").then_some(field)
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

//! What an API server refuses, as problems.

use gavel_apimachinery::field::Error;
use gavel_crd::definition::field_at_fault;
use gavel_manifest::{Document, Problem};

use crate::rules::{INVALID_EXPRESSION, INVALID_VALUE, OVER_BUDGET, Rule};

/// A refusal as a problem, with the rule that says what sort of refusal it is.
pub(crate) fn refused(document: &Document, error: &Error) -> Problem {
    let problem = document.field_problem(error, &field_at_fault(error));
    let rule = rule_of(error);
    Problem {
        rule: rule.id,
        severity: rule.severity,
        ..problem
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

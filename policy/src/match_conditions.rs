//! Evaluates match conditions, which restrict the requests that a policy applies to (apiserver
//! `pkg/admission/plugin/webhook/matchconditions/matcher.go`).

use gavel_engine::value::Value;

use crate::api::MatchCondition;
use crate::cel::{Expression, Group, MATCH_CONDITIONS_BUDGET, OUT_OF_BUDGET, Outcome, Runner};
use crate::compiled::FailurePolicy;
use crate::outcome::ConditionsOutcome;

/// Evaluates the match conditions of a policy with the inputs of `group`, and reports the outcome to an observer that follows expressions.
pub(crate) fn evaluate<'e, 'p: 'e>(
    group: &Group<'p>,
    expressions: &'p [Expression],
    conditions: &[MatchCondition],
    failure_policy: &FailurePolicy,
    params: Value<'e>,
    runner: &Runner<'e>,
) -> ConditionsOutcome {
    let mut budget = MATCH_CONDITIONS_BUDGET;
    let expressions = expressions.iter().map(Some);
    let outcome = match group.evaluate(expressions, params, runner, &mut budget) {
        Ok(outcomes) => matched(outcomes, conditions, failure_policy),
        Err(_) => unmatched(OUT_OF_BUDGET.to_owned(), failure_policy),
    };
    if let Some(follower) = runner.follower {
        follower.conditions_matched(&outcome);
    }
    outcome
}

/// The outcome of the match conditions. If a condition is false, the policy does not match, even if other conditions failed.
fn matched(
    outcomes: &[Outcome<'_>],
    conditions: &[MatchCondition],
    failure_policy: &FailurePolicy,
) -> ConditionsOutcome {
    let is_false = |outcome: &Outcome<'_>| matches!(outcome, Some(Ok(value)) if value.as_bool() == Some(false));
    if let Some(n) = outcomes.iter().position(is_false) {
        let condition = conditions.get(n);
        return ConditionsOutcome::NoMatch {
            failed: condition.map_or_else(String::new, |condition| condition.name.clone()),
        };
    }
    let mut errors: Vec<&str> = Vec::new();
    for outcome in outcomes {
        if let Some(Err(error)) = outcome
            && !errors.contains(error)
        {
            errors.push(error);
        }
    }
    match errors.as_slice() {
        [] => ConditionsOutcome::Match,
        [error] => unmatched((*error).to_owned(), failure_policy),
        errors => unmatched(format!("[{}]", errors.join(", ")), failure_policy),
    }
}

/// The outcome if a match condition failed: the failure policy decides.
fn unmatched(error: String, failure_policy: &FailurePolicy) -> ConditionsOutcome {
    match failure_policy {
        FailurePolicy::Fail => ConditionsOutcome::Error(error),
        FailurePolicy::Ignore => ConditionsOutcome::NoMatch {
            failed: String::new(),
        },
        FailurePolicy::Unknown(_) => ConditionsOutcome::Match,
    }
}

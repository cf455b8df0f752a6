//! Observers, with which hosts follow the steps of a decision.

use gavel_engine::value::Value;

use crate::expression_kind::ExpressionKind;
use crate::kept::KeptObject;
use crate::matching::Matched;
use crate::outcome::{ConditionsOutcome, Evaluation};

/// Receives each step of a decision when it is taken. All methods do nothing by default.
pub trait Observer {
    /// Called when a policy was matched with the request. `matched` is the resource and kind that match, `None` if the policy does not
    /// match, or the error in its constraints.
    fn policy_matched(&self, _policy: &str, _matched: &Result<Option<Matched<'_>>, String>) {}

    /// Called when a binding was matched with the request. `matched` is whether it matches, or the error in its constraints.
    fn binding_matched(&self, _policy: &str, _binding: &str, _matched: &Result<bool, String>) {}

    /// Called if a policy or binding could not be evaluated and its failure policy is `Ignore`.
    fn ignored(&self, _policy: &str, _binding: Option<&str>, _error: &str) {}

    /// Called if a policy or binding could not be evaluated and its failure policy denies the request.
    fn refused(&self, _policy: &str, _binding: Option<&str>, _error: &str) {}

    /// Called when a program ran, or when its earlier result was used again and charged.
    fn ran(&self, _run: &Run<'_>) {}

    /// Called when the match conditions of a policy were evaluated for a binding and a param.
    fn conditions_matched(&self, _outcome: &ConditionsOutcome) {}

    /// Called for each mutating policy, binding and param that match the request, in the order in which they will be invoked, in the first
    /// pass or the second.
    fn invocation(
        &self,
        _policy: &str,
        _binding: &str,
        _param: Option<&KeptObject>,
        _is_second: bool,
    ) {
    }

    /// Called when an invocation of the pass begins. `position` counts the invocations of the pass from 0.
    fn invoking(&self, _position: usize) {}

    /// Called when a mutation was applied, or failed with an error.
    fn mutated(&self, _kind: ExpressionKind, _error: Option<&str>) {}

    /// Called when a policy was evaluated for a binding and a param.
    fn evaluated(
        &self,
        _policy: &str,
        _binding: &str,
        _param: Option<&KeptObject>,
        _found: &Evaluation,
    ) {
    }
}

/// Ignores all steps.
impl Observer for () {}

/// A program that ran.
#[derive(Debug, Clone, Copy)]
pub struct Run<'a> {
    /// The kind of the expression.
    pub kind: ExpressionKind,
    /// The expression.
    pub expression: &'a str,
    /// The name of the variable, if the expression is one.
    pub variable: Option<&'a str>,
    /// The cost of the run, in cost units.
    pub cost: u64,
    /// The value or the error.
    pub result: Result<Value<'a>, &'a str>,
}

//! Observers, which let hosts follow the evaluation of a request.

use gavel_engine::value::Value;

use crate::expression_kind::ExpressionKind;
use crate::kept::KeptObject;
use crate::matching::Matched;
use crate::outcome::{ConditionsOutcome, Evaluation};

/// Receives the steps of a decision as they happen. All methods do nothing by default.
pub trait Observer {
    /// Called after a policy's constraints are matched with the request. `matched` is the resource and kind that match, `None` if the
    /// policy does not match, or an error message if matching fails.
    fn policy_matched(&self, _policy: &str, _matched: &Result<Option<Matched<'_>>, String>) {}

    /// Called after a binding's constraints are matched with the request. `matched` is whether the binding matches, or an error message if
    /// matching fails.
    fn binding_matched(&self, _policy: &str, _binding: &str, _matched: &Result<bool, String>) {}

    /// Called if a policy with `failurePolicy: Ignore` failed. For a validating policy, this is called only if the policy or a binding
    /// could not be evaluated at all.
    fn ignored(&self, _policy: &str, _binding: Option<&str>, _error: &str) {}

    /// Called if a validating policy or its binding could not be evaluated at all and the policy's `failurePolicy` denies the request.
    fn refused(&self, _policy: &str, _binding: Option<&str>, _error: &str) {}

    /// Whether the observer needs the result of each expression. If not, `ran` and `conditions_matched` are not called, and the decisions of
    /// an [`Evaluation`] end with the last validation that is not true, which saves time.
    fn follows_expressions(&self) -> bool {
        true
    }

    /// Called with the result of a program after the program ran. Also called when a cached result is reused and charged.
    fn ran(&self, _run: &Run<'_>) {}

    /// Called when the match conditions of a policy were evaluated for a binding and a param.
    fn conditions_matched(&self, _outcome: &ConditionsOutcome) {}

    /// Called at the beginning of each pass, once for each invocation: a mutating policy with a matching binding and one of the binding's
    /// params, if it has any. The calls have the order of the invocations. `is_second` is true for the second pass.
    fn invocation(
        &self,
        _policy: &str,
        _binding: &str,
        _param: Option<&KeptObject>,
        _is_second: bool,
    ) {
    }

    /// Called when an invocation of a mutating policy begins. `position` is its position in the pass, counted from 0.
    fn invoking(&self, _policy: &str, _position: usize) {}

    /// Called after a mutation was applied or failed.
    fn mutated(&self, _kind: ExpressionKind, _error: Option<&str>) {}

    /// Called after the mutations of an invocation, even if some failed. `before` and `after` are the object in the kind that the policy
    /// matches. Not called if the match conditions do not match, if the second pass does not reinvoke the policy, or if the request is denied
    /// at once.
    fn applied(&self, _before: Value<'_>, _after: Value<'_>) {}

    /// Called when a validating policy was evaluated for a binding and a param, or failed because of an interrupt.
    fn evaluated(
        &self,
        _policy: &str,
        _binding: &str,
        _param: Option<&KeptObject>,
        _found: &Evaluation,
    ) {
    }
}

/// The observer that ignores all steps.
impl Observer for () {
    fn follows_expressions(&self) -> bool {
        false
    }
}

/// The result of running a program.
#[derive(Debug, Clone, Copy)]
pub struct Run<'a> {
    /// The kind of the expression.
    pub kind: ExpressionKind,
    /// The source text of the expression.
    pub expression: &'a str,
    /// The name of the variable that the expression defines, if any.
    pub variable: Option<&'a str>,
    /// The cost of the run, in cost units.
    pub cost: u64,
    /// The value or the error.
    pub result: Result<Value<'a>, &'a str>,
}

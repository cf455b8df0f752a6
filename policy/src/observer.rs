//! Observers: hosts that want to know how a decision came about.

use gavel_engine::value::Value;

use crate::expression_kind::ExpressionKind;
use crate::kept::KeptObject;
use crate::matching::Matched;
use crate::outcome::{ConditionsOutcome, Evaluation};

/// Receives each step of a decision when it is taken. All methods do nothing by default.
pub trait Observer {
    /// Whether a policy matches the request, and with which resource and kind.
    fn policy_matched(&self, _policy: &str, _matched: &Result<Option<Matched<'_>>, String>) {}

    /// Whether a binding of a policy is about the request.
    fn binding_matched(&self, _policy: &str, _binding: &str, _matched: &Result<bool, String>) {}

    /// A policy or binding could not be evaluated, which its failure policy ignores.
    fn ignored(&self, _policy: &str, _binding: Option<&str>, _error: &str) {}

    /// A policy or binding could not be evaluated, and its failure policy denies the request.
    fn refused(&self, _policy: &str, _binding: Option<&str>, _error: &str) {}

    /// A program ran, or its earlier result was used again and charged.
    fn ran(&self, _run: &Run<'_>) {}

    /// The match conditions of a policy were evaluated for a binding and a param.
    fn conditions_matched(&self, _outcome: &ConditionsOutcome) {}

    /// A mutating policy, a binding and a param match the request: they are to be invoked, in this order, in the first pass or
    /// the second.
    fn invocation(
        &self,
        _policy: &str,
        _binding: &str,
        _param: Option<&KeptObject>,
        _is_second: bool,
    ) {
    }

    /// An invocation of the pass, given by its position, begins.
    fn invoking(&self, _position: usize) {}

    /// A mutation was applied, or failed with an error.
    fn mutated(&self, _kind: ExpressionKind, _error: Option<&str>) {}

    /// A policy was evaluated for a binding and a param.
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
    /// The cost units that it took.
    pub cost: u64,
    /// The value or the error.
    pub result: Result<Value<'a>, &'a str>,
}

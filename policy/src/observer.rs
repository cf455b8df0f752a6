//! Those who want to know how a decision came about.

use gavel_engine::value::Value;

use crate::expression_kind::ExpressionKind;
use crate::kept::KeptObject;
use crate::matching::Matched;
use crate::outcome::{ConditionsOutcome, Evaluation};

/// Is told each step of a decision, as it is taken. Whoever does not care does nothing.
pub trait Observer {
    /// Whether a policy looks at the request, and as what.
    fn policy_matched(&self, _policy: &str, _matched: &Result<Option<Matched<'_>>, String>) {}

    /// Whether a binding of a policy is about the request.
    fn binding_matched(&self, _policy: &str, _binding: &str, _matched: &Result<bool, String>) {}

    /// A policy or binding cannot be asked, which its failure policy ignores.
    fn ignored(&self, _policy: &str, _binding: Option<&str>, _error: &str) {}

    /// A policy or binding cannot be asked, for which its failure policy denies the request.
    fn refused(&self, _policy: &str, _binding: Option<&str>, _error: &str) {}

    /// A program ran, or what it came to before was taken again and charged for.
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

    /// One of the invocations of the pass, by its position, begins.
    fn invoking(&self, _position: usize) {}

    /// A mutation was made, or failed with an error.
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

/// Does not want to know.
impl Observer for () {}

/// A program that ran.
#[derive(Debug, Clone, Copy)]
pub struct Run<'a> {
    /// What the expression is for.
    pub kind: ExpressionKind,
    /// The expression.
    pub expression: &'a str,
    /// The name of the variable that it is, if it is one.
    pub variable: Option<&'a str>,
    /// The cost units that it took.
    pub cost: u64,
    /// What it came to, or what went wrong.
    pub result: Result<Value<'a>, &'a str>,
}

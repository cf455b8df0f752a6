//! Runs programs and reports their results to an observer that follows expressions.

use gavel_engine::error::EvalError;
use gavel_engine::program::{EvalOptions, Invariants, Program};
use gavel_engine::value::{Arena, Value};

use super::PER_CALL_LIMIT;
use super::compile::Expression;
use super::inputs::TypedInputs;
use crate::expression_kind::ExpressionKind;
use crate::observer::{Observer, Run};

/// Evaluates the programs of a policy for one request within the cost limit, and reports the results.
#[derive(Clone, Copy)]
pub(crate) struct Runner<'a> {
    /// The arena for computed values.
    pub(crate) arena: &'a Arena,
    /// Evaluations stop when this function returns true; `None` if they cannot be interrupted.
    pub(crate) interrupt: Option<&'a (dyn Fn() -> bool + Sync)>,
    /// Receives the result of each expression; `None` if nobody needs it.
    pub(crate) follower: Option<&'a dyn Observer>,
}

impl<'a> Runner<'a> {
    /// Evaluates the program of an expression. The `kind` of the expression determines which of the inputs, params and variables it can
    /// read.
    pub(super) fn eval(
        &self,
        program: &'a Program,
        kind: ExpressionKind,
        inputs: TypedInputs<'a>,
        params: Value<'a>,
        variables: Value<'a>,
        invariants: Invariants<'a>,
    ) -> Ran<'a> {
        let options = EvalOptions {
            cost_limit: Some(PER_CALL_LIMIT),
            interrupt: self.interrupt,
        };
        let resolve = |name: &str| inputs.values.resolve(kind, name, params, variables);
        let evaluation =
            program.eval_typed(resolve, inputs.types, invariants, self.arena, &options);
        let keep = |error: EvalError| &*self.arena.bump().alloc_str(error.message());
        Ran {
            result: evaluation.result.map_err(keep),
            cost: evaluation.cost,
            read: &[],
        }
    }

    /// Reports the result of an expression to the follower. `variable` is the name of the variable that the expression defines, if any.
    pub(super) fn tell(&self, expression: &Expression, variable: Option<&str>, ran: &Ran<'_>) {
        if let Some(follower) = self.follower {
            follower.ran(&Run {
                kind: expression.kind,
                expression: expression.text(),
                variable,
                cost: ran.cost,
                result: ran.result,
            });
        }
    }
}

/// The result of a program.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ran<'a> {
    /// The value or the error.
    pub(super) result: Result<Value<'a>, &'a str>,
    /// The cost of the run in cost units, without the cost of variables.
    pub(super) cost: u64,
    /// The positions of the pool's variables that the program read directly.
    pub(super) read: &'a [usize],
}

impl Ran<'_> {
    /// Whether the result is true and its cost includes no variables.
    pub(super) fn is_plainly_true(&self) -> bool {
        self.read.is_empty() && matches!(&self.result, Ok(value) if value.as_bool() == Some(true))
    }
}

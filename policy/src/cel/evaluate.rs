//! Groups of expressions that share variables and a budget (apiserver `pkg/admission/plugin/cel/activation.go`,
//! `condition.go`).

use gavel_engine::program::{Activation, EvalOptions, Evaluation, Program};
use gavel_engine::value::{Arena, Value};

use super::PER_CALL_LIMIT;
use super::compile::Expression;
use super::inputs::Inputs;
use super::variables::{Variable, Variables};
use crate::observer::{Observer, Run};

/// What is said where the expressions of a group have used up their budget.
pub(crate) const OUT_OF_BUDGET: &str =
    "validation failed due to running out of cost budget, no further validation rules will be run";

/// The budget of a group is used up: nothing that the group came to counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OutOfBudget;

/// Runs programs.
#[derive(Clone, Copy)]
pub(crate) struct Runner<'a> {
    /// Where what they compute lives.
    pub(crate) arena: &'a Arena,
    /// True ends evaluations.
    pub(crate) interrupt: Option<&'a (dyn Fn() -> bool + Sync)>,
    /// Who wants to know.
    pub(crate) observer: &'a dyn Observer,
}

impl<'a> Runner<'a> {
    pub(super) fn run(
        &self,
        expression: &'a Expression,
        variable: Option<&str>,
        program: &'a Program,
        activation: &Activation<'a>,
    ) -> Evaluation<'a> {
        let options = EvalOptions {
            cost_limit: Some(PER_CALL_LIMIT),
            interrupt: self.interrupt,
        };
        let evaluation = program.eval(activation, self.arena, &options);
        self.observer.ran(&Run {
            kind: expression.kind,
            expression: &expression.text,
            variable,
            cost: evaluation.cost,
            result: &evaluation.result,
        });
        evaluation
    }

    /// A copy of a text that lives as long as what programs compute.
    pub(super) fn keep(&self, text: &str) -> &'a str {
        self.arena.bump().alloc_str(text)
    }
}

/// What an expression came to, or why it came to nothing.
pub(crate) type Outcome<'a> = Result<Value<'a>, String>;

/// Evaluates expressions in order, the absent ones to nothing. They share what the variables come to; the costs of all of it are
/// taken off the budget, in cost units.
pub(crate) fn evaluate<'a>(
    expressions: impl Iterator<Item = Option<&'a Expression>>,
    variables: &'a [Variable],
    inputs: Inputs<'a>,
    runner: Runner<'a>,
    budget: &mut i64,
) -> Result<Vec<Option<Outcome<'a>>>, OutOfBudget> {
    let variables = Variables::new(variables, inputs, runner, runner.arena);
    let activation = inputs.activation(variables.value());
    let mut outcomes = Vec::new();
    for expression in expressions {
        let Some(expression) = expression else {
            outcomes.push(None);
            continue;
        };
        let program = match &expression.program {
            Ok(program) => program,
            Err(error) => {
                outcomes.push(Some(Err(format!("compilation error: {error}"))));
                continue;
            }
        };
        let evaluation = runner.run(expression, None, program, &activation);
        spend(budget, variables.take_cost())?;
        spend(budget, evaluation.cost)?;
        outcomes.push(Some(evaluation.result.map_err(|error| {
            format!(
                "expression '{}' resulted in error: {error}",
                expression.text
            )
        })));
    }
    Ok(outcomes)
}

/// Takes cost units off a budget; an error where there are not as many left.
fn spend(budget: &mut i64, cost: u64) -> Result<(), OutOfBudget> {
    let left = i64::try_from(cost)
        .ok()
        .and_then(|cost| budget.checked_sub(cost))
        .filter(|left| *left >= 0);
    *budget = left.ok_or(OutOfBudget)?;
    Ok(())
}

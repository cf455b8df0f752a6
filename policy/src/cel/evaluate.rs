//! Groups of expressions that share variables and a budget (apiserver `pkg/admission/plugin/cel/activation.go`,
//! `condition.go`).

use std::cell::OnceCell;

use bumpalo::collections::Vec as BumpVec;
use bumpalo::format;
use gavel_engine::value::Value;

use super::compile::Expression;
use super::inputs::Inputs;
use super::runner::{Ran, Runner};
use super::variables::{CompiledVariable, Pool, Scope};
use crate::expression_kind::ExpressionKind;

/// The error message of a group of expressions that exceeds its cost budget.
pub(crate) const OUT_OF_BUDGET: &str =
    "validation failed due to running out of cost budget, no further validation rules will be run";

/// The error of a group that exceeds its cost budget. None of its results is valid then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OutOfBudget;

/// The value of an expression, or its error message; `None` if the expression is absent.
pub type Outcome<'a> = Option<Result<Value<'a>, &'a str>>;

/// Expressions that are evaluated together for one request. A result that does not depend on params is computed once, but its cost is
/// charged for every binding and param.
pub(crate) struct Group<'p> {
    kind: ExpressionKind,
    variables: &'p [CompiledVariable],
    inputs: &'p Inputs<'p>,
    runner: Runner<'p>,
    /// The variables that do not depend on params. The pool is created when an expression first reads `variables`.
    pool: OnceCell<&'p Pool<'p>>,
    /// The results that do not depend on params.
    shared: &'p [OnceCell<Ran<'p>>],
}

impl<'p> Group<'p> {
    /// A group of `expressions` expressions, all of this kind.
    pub(crate) fn new(
        kind: ExpressionKind,
        expressions: usize,
        variables: &'p [CompiledVariable],
        inputs: &'p Inputs<'p>,
        runner: Runner<'p>,
    ) -> &'p Self {
        let bump = runner.arena.bump();
        bump.alloc(Group {
            kind,
            variables,
            inputs,
            runner,
            pool: OnceCell::new(),
            shared: bump.alloc_slice_fill_with(expressions, |_| OnceCell::new()),
        })
    }

    fn pool(&self) -> &'p Pool<'p> {
        self.pool
            .get_or_init(|| Pool::new(self.variables, self.kind, self.inputs, self.runner))
    }

    /// Evaluates the expressions in order, and returns their results.
    pub(crate) fn evaluate<'e>(
        &'e self,
        expressions: impl Iterator<Item = Option<&'p Expression>>,
        params: Value<'e>,
        runner: Runner<'e>,
        budget: &mut i64,
    ) -> Result<&'e [Outcome<'e>], OutOfBudget>
    where
        'p: 'e,
    {
        let bump = runner.arena.bump();
        let mut outcomes = BumpVec::with_capacity_in(self.shared.len(), bump);
        let keep = |outcome: &Outcome<'e>| outcomes.push(*outcome);
        self.evaluate_each(expressions, params, runner, budget, keep)?;
        Ok(outcomes.into_bump_slice())
    }

    /// Evaluates the expressions in order, and calls `found` with each result; absent expressions have no result. The expressions share the
    /// values of variables. All costs are subtracted from the budget, in cost units.
    ///
    /// # Errors
    ///
    /// The budget is exceeded. `found` was called only for the earlier expressions.
    pub(crate) fn evaluate_each<'e>(
        &'e self,
        expressions: impl Iterator<Item = Option<&'p Expression>>,
        params: Value<'e>,
        runner: Runner<'e>,
        budget: &mut i64,
        mut found: impl FnMut(&Outcome<'e>),
    ) -> Result<(), OutOfBudget>
    where
        'p: 'e,
    {
        let scope = OnceCell::new();
        let scope = || -> &'e Scope<'e, 'p> {
            scope.get_or_init(|| Scope::new(self.pool(), params, runner))
        };
        let bump = runner.arena.bump();
        for (expression, shared) in expressions.zip(self.shared) {
            let Some(expression) = expression else {
                found(&None);
                continue;
            };
            let program = match expression.program() {
                Ok(program) => program,
                Err(error) => {
                    let message = format!(in bump, "compilation error: {}", error);
                    found(&Some(Err(message.into_bump_str())));
                    continue;
                }
            };
            let none = Value::NULL;
            let own;
            let reads_variables = expression.reads_variables();
            let ran: &Ran<'e> = match (reads_variables, expression.reads_params) {
                (false, false) => shared.get_or_init(|| {
                    self.runner
                        .eval(program, self.kind, self.inputs, none, none)
                }),
                (true, false) => shared.get_or_init(|| self.pool().run(program)),
                (false, true) => {
                    own = runner.eval(program, self.kind, self.inputs, params, none);
                    &own
                }
                (true, true) => {
                    own = scope().run(program);
                    &own
                }
            };
            if reads_variables {
                scope().charge(ran.read);
            }
            runner.tell(expression, None, ran);
            if reads_variables {
                spend(budget, scope().take_cost())?;
            }
            spend(budget, ran.cost)?;
            found(&Some(ran.result.map_err(|error| {
                let text = expression.text();
                format!(in bump, "expression '{}' resulted in error: {}", text, error)
                    .into_bump_str()
            })));
        }
        Ok(())
    }
}

/// Subtracts cost units from a budget.
///
/// # Errors
///
/// The budget is exceeded.
fn spend(budget: &mut i64, cost: u64) -> Result<(), OutOfBudget> {
    let left = i64::try_from(cost)
        .ok()
        .and_then(|cost| budget.checked_sub(cost))
        .filter(|left| *left >= 0);
    *budget = left.ok_or(OutOfBudget)?;
    Ok(())
}

//! Groups of expressions that share variables and a budget (apiserver `pkg/admission/plugin/cel/activation.go`,
//! `condition.go`).

use std::cell::OnceCell;

use bumpalo::Bump;
use bumpalo::collections::Vec as BumpVec;
use bumpalo::format;
use gavel_engine::program::Invariants;
use gavel_engine::value::Value;

use super::compile::{CompileError, Expression};
use super::inputs::TypedInputs;
use super::runner::{Ran, Runner};
use super::variables::{CompiledVariables, Pool, Scope};
use crate::expression_kind::ExpressionKind;

/// The error message of a group of expressions that exceeds its cost budget.
pub(crate) const OUT_OF_BUDGET: &str =
    "validation failed due to running out of cost budget, no further validation rules will be run";

/// The error of a group that exceeds its cost budget. None of its results is valid then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OutOfBudget;

/// The value of an expression, or its error message; `None` if the expression is absent.
pub type Outcome<'a> = Option<Result<Value<'a>, &'a str>>;

/// Expressions that are evaluated together for one request. A result that does not depend on params is computed once if the group is
/// evaluated again, but its cost is charged for every binding and param.
pub(crate) struct Group<'p> {
    kind: ExpressionKind,
    variables: &'p CompiledVariables,
    inputs: TypedInputs<'p>,
    runner: Runner<'p>,
    /// The variables that do not depend on params. The pool is created when an expression first reads `variables`.
    pool: OnceCell<&'p Pool<'p>>,
    /// The results that do not depend on params, by expression; empty if the group is evaluated only once.
    shared: &'p [SharedResults<'p>],
}

/// The results of an expression that do not depend on params.
#[derive(Debug, Default)]
struct SharedResults<'p> {
    /// The result of the whole expression, if it does not read params.
    ran: OnceCell<Ran<'p>>,
    /// The results of its parts, if it reads params.
    invariants: OnceCell<Invariants<'p>>,
}

impl<'p> Group<'p> {
    /// A group of expressions of this kind. `shared` is the number of expressions; it may be 0 if the group is evaluated only once.
    #[inline]
    pub(crate) fn new(
        kind: ExpressionKind,
        shared: usize,
        variables: &'p CompiledVariables,
        inputs: TypedInputs<'p>,
        runner: Runner<'p>,
    ) -> Self {
        let bump = runner.arena.bump();
        Group {
            kind,
            variables,
            inputs,
            runner,
            pool: OnceCell::new(),
            shared: match shared {
                0 => &[],
                shared => bump.alloc_slice_fill_default(shared),
            },
        }
    }

    fn pool(&self) -> &'p Pool<'p> {
        self.pool
            .get_or_init(|| Pool::new(self.variables, self.kind, self.inputs, self.runner))
    }

    /// Evaluates the expressions in order, and returns their results.
    pub(crate) fn evaluate<'e>(
        &self,
        expressions: impl Iterator<Item = Option<&'p Expression>>,
        params: Value<'e>,
        runner: &Runner<'e>,
        budget: &mut i64,
    ) -> Result<&'e [Outcome<'e>], OutOfBudget>
    where
        'p: 'e,
    {
        let bump = runner.arena.bump();
        let mut outcomes = BumpVec::with_capacity_in(expressions.size_hint().0, bump);
        let keep = |_, outcome| outcomes.push(outcome);
        self.evaluate_each(expressions, params, runner, budget, true, keep)?;
        Ok(outcomes.into_bump_slice())
    }

    /// Evaluates the expressions in order, and calls `found` with the position and the result of each; absent expressions have no result.
    /// The expressions share the values of variables. All costs are subtracted from the budget, in cost units. Unless `needs_all`, `found`
    /// is not called for an expression that is known to be true from an earlier binding or param.
    ///
    /// # Errors
    ///
    /// The budget is exceeded. `found` was called only for the earlier expressions.
    pub(crate) fn evaluate_each<'e>(
        &self,
        expressions: impl Iterator<Item = Option<&'p Expression>>,
        params: Value<'e>,
        runner: &Runner<'e>,
        budget: &mut i64,
        needs_all: bool,
        mut found: impl FnMut(usize, Outcome<'e>),
    ) -> Result<(), OutOfBudget>
    where
        'p: 'e,
    {
        let scope = OnceCell::new();
        let scope = || -> &'e Scope<'e, 'p> {
            scope.get_or_init(|| Scope::new(self.pool(), params, *runner))
        };
        let bump = runner.arena.bump();
        let mut shared = self.shared.iter();
        for (n, expression) in expressions.enumerate() {
            let shared = shared.next();
            if !needs_all
                && let Some(known) = shared.and_then(|shared| shared.ran.get())
                && known.is_plainly_true()
            {
                spend(budget, known.cost)?;
                continue;
            }
            let Some(expression) = expression else {
                found(n, None);
                continue;
            };
            let program = match expression.program() {
                Ok(program) => program,
                Err(error) => {
                    found(n, Some(Err(compilation_error(error, bump))));
                    continue;
                }
            };
            let (kind, inputs, none) = (self.kind, self.inputs, Value::NULL);
            let reads_variables = expression.reads_variables();
            let run_without_params = || match reads_variables {
                false => {
                    let invariants = Invariants::default();
                    self.runner
                        .eval(program, kind, inputs, none, none, invariants)
                }
                true => self.pool().run(program),
            };
            let own;
            let ran: &Ran<'e> = match (expression.reads_params, shared) {
                (false, Some(shared)) => shared.ran.get_or_init(run_without_params),
                (false, None) => {
                    own = run_without_params();
                    &own
                }
                (true, shared) => {
                    let arena = self.runner.arena;
                    let parts = |shared: &SharedResults<'p>| {
                        *(shared.invariants).get_or_init(|| program.invariants(arena))
                    };
                    let invariants = shared.map_or_else(Invariants::default, parts);
                    own = match reads_variables {
                        false => runner.eval(program, kind, inputs, params, none, invariants),
                        true => scope().run(program, invariants),
                    };
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
            let outcome = match ran.result {
                Ok(value) => Ok(value),
                Err(error) => Err(evaluation_error(expression, error, bump)),
            };
            found(n, Some(outcome));
        }
        Ok(())
    }
}

#[cold]
fn compilation_error<'e>(error: &CompileError, bump: &'e Bump) -> &'e str {
    format!(in bump, "compilation error: {}", error).into_bump_str()
}

#[cold]
fn evaluation_error<'e>(expression: &Expression, error: &str, bump: &'e Bump) -> &'e str {
    let text = expression.text();
    format!(in bump, "expression '{}' resulted in error: {}", text, error).into_bump_str()
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

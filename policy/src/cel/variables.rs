//! The `variables` of a policy. Each variable is evaluated when it is first read, and its value is cached (apiserver
//! `pkg/admission/plugin/cel/composition.go`, `pkg/cel/lazy`).
//!
//! Variables that do not depend on params are evaluated once per request, in a [`Pool`]. Each pair of a binding and a param has a
//! [`Scope`]. The scope evaluates the variables that depend on params. For each variable that it reads from the pool, the scope charges the
//! cost of evaluating the variable.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Deref;

use bumpalo::collections::Vec as BumpVec;
use gavel_engine::error::EvalError;
use gavel_engine::program::{Invariants, Program};
use gavel_engine::value::{Arena, HeldError, MapView, Value};
use gavel_golang::quote::quote;
use smol_str::SmolStr;

use super::compile::{Compiler, Expression};
use super::declared::VARIABLES;
use super::environment::Declarations;
use super::inputs::TypedInputs;
use super::runner::{Ran, Runner};
use crate::api::Variable;
use crate::expression_kind::ExpressionKind;

/// A variable of a policy.
#[derive(Debug)]
pub struct CompiledVariable {
    /// The name.
    pub name: SmolStr,
    /// The expression of the variable.
    pub expression: Expression,
}

/// The variables of a policy, in order.
#[derive(Debug, Default)]
pub(crate) struct CompiledVariables {
    all: Vec<CompiledVariable>,
    /// The position of the last variable with each name.
    positions: BTreeMap<SmolStr, usize>,
}

impl Deref for CompiledVariables {
    type Target = [CompiledVariable];

    fn deref(&self) -> &[CompiledVariable] {
        &self.all
    }
}

impl CompiledVariables {
    /// Compiles the variables of a policy, in order, and declares them for later expressions in a copy of the compiler.
    pub(crate) fn compile_all(
        variables: &[Variable],
        compiler: &mut Cow<'_, Compiler>,
        declarations: Declarations,
    ) -> Self {
        let mut compiled = CompiledVariables::default();
        for Variable { name, expression } in variables {
            let compiler = compiler.to_mut();
            compiled.push(CompiledVariable {
                name: name.as_str().into(),
                expression: compiler.compile_variable(name, expression, declarations),
            });
        }
        compiled
    }

    pub(crate) fn push(&mut self, variable: CompiledVariable) {
        self.positions.insert(variable.name.clone(), self.all.len());
        self.all.push(variable);
    }

    /// Whether several variables have the same name.
    pub(crate) fn has_repeated_names(&self) -> bool {
        self.positions.len() < self.all.len()
    }

    pub(crate) fn expressions_mut(&mut self) -> impl Iterator<Item = &mut Expression> {
        self.all.iter_mut().map(|variable| &mut variable.expression)
    }

    /// The position of the variable with the name `key`. If several variables have this name, it is the position of the last one.
    fn position(&self, key: &Value<'_>) -> Result<Option<usize>, EvalError> {
        let Some(wanted) = key.as_str() else {
            return Err(EvalError::no_such_overload());
        };
        Ok(self.positions.get(wanted).copied())
    }
}

/// The state of a variable.
#[derive(Debug, Clone, Copy)]
enum VariableState<'a> {
    Nothing,
    /// The variable is being evaluated. A variable that is read in this state depends on itself.
    Running,
    Ran(Ran<'a>),
}

/// The variables that do not depend on params. All bindings and params of a request share them.
pub(super) struct Pool<'p> {
    known: &'p CompiledVariables,
    memory: &'p [Cell<VariableState<'p>>],
    /// The kind of the expressions that read the variables.
    kind: ExpressionKind,
    inputs: TypedInputs<'p>,
    runner: Runner<'p>,
    /// The pool as a CEL value, which programs read as `variables`. Set when the pool is created.
    this: Cell<Value<'p>>,
    /// The positions of the variables that the current program has read so far.
    read: RefCell<BumpVec<'p, usize>>,
}

/// The variables for a binding and a param.
pub(super) struct Scope<'e, 'p> {
    pool: &'e Pool<'p>,
    /// For each variable of the policy, whether this scope has charged the cost of evaluating it in the pool.
    charged: &'e [Cell<bool>],
    /// The states of the variables that depend on params.
    memory: &'e [Cell<VariableState<'e>>],
    /// The value of `params`; null if the policy has none.
    params: Value<'e>,
    runner: Runner<'e>,
    this: Cell<Value<'e>>,
    /// The cost since the last call of `take_cost`, in cost units.
    cost: Cell<u64>,
}

impl<'p> Pool<'p> {
    /// A pool in which no variable has been evaluated yet.
    pub(super) fn new(
        known: &'p CompiledVariables,
        kind: ExpressionKind,
        inputs: TypedInputs<'p>,
        runner: Runner<'p>,
    ) -> &'p Self {
        let bump = runner.arena.bump();
        let pool: &'p Self = bump.alloc(Pool {
            known,
            memory: bump.alloc_slice_fill_with(known.len(), |_| Cell::new(VariableState::Nothing)),
            kind,
            inputs,
            runner,
            this: Cell::new(Value::NULL),
            read: RefCell::new(BumpVec::new_in(bump)),
        });
        pool.this.set(Value::map_view(pool));
        pool
    }

    /// Runs a program that does not depend on params, and records which variables it reads.
    pub(super) fn run(&self, program: &'p Program) -> Ran<'p> {
        let bump = self.runner.arena.bump();
        let outer = self.read.replace(BumpVec::new_in(bump));
        let this = self.this.get();
        let ran = self.runner.eval(
            program,
            self.kind,
            self.inputs,
            Value::NULL,
            this,
            Invariants::default(),
        );
        let read = self.read.replace(outer).into_bump_slice();
        Ran { read, ..ran }
    }

    /// The result of a variable; `None` if it does not compile.
    fn ran(&self, position: usize) -> Option<Ran<'p>> {
        let cell = self.memory.get(position)?;
        let program = self.known.get(position)?.expression.program().ok()?;
        Some(remembered(cell, || self.run(program)))
    }

    fn known(&self) -> &'p CompiledVariables {
        self.known
    }

    /// Returns the value of a variable and records that it was read; `None` if there is no variable at this position.
    fn value(&self, position: usize) -> Option<Result<Value<'p>, EvalError>> {
        let variable = self.known.get(position)?;
        let ran = self.ran(position);
        let mut read = self.read.borrow_mut();
        if !read.contains(&position) {
            read.push(position);
        }
        Some(value(variable, ran))
    }
}

impl<'e, 'p> Scope<'e, 'p> {
    /// A scope in which no variable has been evaluated or charged for yet.
    pub(super) fn new(pool: &'e Pool<'p>, params: Value<'e>, runner: Runner<'e>) -> &'e Self {
        let bump = runner.arena.bump();
        let count = pool.known.len();
        let scope: &'e Self = bump.alloc(Scope {
            pool,
            charged: bump.alloc_slice_fill_with(count, |_| Cell::new(false)),
            memory: bump.alloc_slice_fill_with(count, |_| Cell::new(VariableState::Nothing)),
            params,
            runner,
            this: Cell::new(Value::NULL),
            cost: Cell::new(0),
        });
        scope.this.set(Value::map_view(scope));
        scope
    }

    /// Takes the cost of the variables that were evaluated, or charged for, since the last call of this function, in cost units.
    pub(super) fn take_cost(&self) -> u64 {
        self.cost.take()
    }

    /// Runs a program that depends on params.
    pub(super) fn run(&self, program: &'e Program, invariants: Invariants<'e>) -> Ran<'e> {
        let this = self.this.get();
        let Pool { kind, inputs, .. } = *self.pool;
        self.runner
            .eval(program, kind, inputs, self.params, this, invariants)
    }

    /// Charges once for each of these variables of the pool, and for the variables that they read.
    pub(super) fn charge(&self, positions: &[usize]) {
        for &position in positions {
            let charged = self.charged.get(position);
            if charged.is_none_or(|charged| charged.replace(true)) {
                continue;
            }
            if let Some(ran) = self.pool.ran(position) {
                deeper(|| self.charge(ran.read));
                self.spent(position, &ran);
            }
        }
    }

    /// Adds the cost of an evaluated variable, and reports its result to the observer.
    fn spent(&self, position: usize, ran: &Ran<'_>) {
        self.cost.set(self.cost.get().saturating_add(ran.cost));
        if let Some(CompiledVariable { name, expression }) = self.pool.known.get(position) {
            self.runner.tell(expression, Some(name), ran);
        }
    }

    /// The result of a variable; `None` if it does not compile.
    fn ran(&self, position: usize) -> Option<Ran<'e>> {
        let pool: &'e Pool<'p> = self.pool;
        let expression = &pool.known.get(position)?.expression;
        if !expression.reads_params {
            self.charge(&[position]);
            return pool.ran(position);
        }
        let cell = self.memory.get(position)?;
        let program = expression.program().ok()?;
        Some(remembered(cell, || {
            let ran = self.run(program, Invariants::default());
            self.spent(position, &ran);
            ran
        }))
    }

    fn known(&self) -> &'p CompiledVariables {
        self.pool.known
    }

    /// The value of a variable; `None` if there is no variable at this position.
    fn value(&self, position: usize) -> Option<Result<Value<'e>, EvalError>> {
        let variable = self.pool.known.get(position)?;
        Some(value(variable, self.ran(position)))
    }
}

/// Returns the cached result of a variable. On the first read, calls `run` and caches its result.
fn remembered<'a>(cell: &Cell<VariableState<'a>>, run: impl FnOnce() -> Ran<'a>) -> Ran<'a> {
    let ran = match cell.get() {
        VariableState::Ran(ran) => return ran,
        VariableState::Running => Ran {
            result: Err("it reads itself"),
            cost: 0,
            read: &[],
        },
        VariableState::Nothing => {
            cell.set(VariableState::Running);
            deeper(run)
        }
    };
    cell.set(VariableState::Ran(ran));
    ran
}

/// Runs a step with enough stack. Variables can read each other in chains of any length, so the stack grows with the chain.
fn deeper<T>(step: impl FnOnce() -> T) -> T {
    /// The stack that one expression may need, in bytes, at the nesting limit of the parser.
    const LEFT: usize = 1 << 20;
    const MORE: usize = 4 << 20;
    stacker::maybe_grow(LEFT, MORE, step)
}

/// The value of a variable, or the error that reading the variable returns.
fn value<'a>(variable: &CompiledVariable, ran: Option<Ran<'a>>) -> Result<Value<'a>, EvalError> {
    let failed = |what: &str, why: &dyn fmt::Display| {
        let name = quote(&variable.name);
        EvalError::new(format!("composited variable {name} fails to {what}: {why}"))
    };
    match (ran, variable.expression.program()) {
        (Some(ran), _) => ran.result.map_err(|error| failed("evaluate", &error)),
        (None, Err(error)) => Err(failed("compile", error)),
        (None, Ok(_)) => Err(EvalError::internal("a variable is not known")),
    }
}

/// Converts an error to a value that fails when it is read. Loops over the variables need a value for each of them.
fn held<'a>(value: Result<Value<'a>, EvalError>, arena: &'a Arena) -> Value<'a> {
    value.unwrap_or_else(|error| arena.opaque(HeldError(error)))
}

/// Implements [`MapView`] as upstream's lazy map does: a variable is evaluated when its name is looked up.
macro_rules! lazy_map {
    ($($variables:ty),*) => {$(
        impl MapView for $variables {
            fn type_name(&self) -> &str {
                VARIABLES
            }

            fn len(&self) -> usize {
                self.known().len()
            }

            fn get(&self, key: &Value<'_>) -> Result<Option<Value<'_>>, EvalError> {
                let position = self.known().position(key)?;
                position.and_then(|at| self.value(at)).transpose()
            }

            fn is_zero(&self) -> bool {
                false
            }

            /// Returns the value of the variable at this position, not its name: upstream's iteration over `variables` yields values,
            /// although iteration over other maps yields keys.
            fn key(&self, position: usize) -> Option<Value<'_>> {
                Some(held(self.value(position)?, self.runner.arena))
            }

            fn value_of(&self, key: &Value<'_>) -> Result<Value<'_>, EvalError> {
                let no_such_key = || EvalError::no_such_key(key.in_message());
                let found = self.get(key).and_then(|found| found.ok_or_else(no_such_key));
                Ok(held(found, self.runner.arena))
            }

            fn is_lazy(&self) -> bool {
                true
            }
        }
    )*};
}

lazy_map!(Pool<'_>, Scope<'_, '_>);

impl fmt::Debug for Pool<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.known.iter().map(|variable| &variable.name);
        f.debug_set().entries(names).finish()
    }
}

impl fmt::Debug for Scope<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.pool.fmt(f)
    }
}

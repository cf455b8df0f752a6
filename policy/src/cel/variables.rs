//! `variables`: evaluated when they are first read, and then remembered (apiserver `pkg/admission/plugin/cel/composition.go`,
//! `pkg/cel/lazy`).

use std::cell::Cell;
use std::fmt;

use gavel_engine::error::EvalError;
use gavel_engine::golang::quote::quote;
use gavel_engine::value::{Arena, MapView, Value};
use smol_str::SmolStr;

use super::compile::Expression;
use super::declared::VARIABLES;
use super::evaluate::Runner;
use super::inputs::Inputs;

/// A variable of a policy.
#[derive(Debug)]
pub struct Variable {
    /// The name.
    pub name: SmolStr,
    /// What it stands for.
    pub expression: Expression,
}

/// The variables of a policy with what has become of them in the evaluation of one group of expressions.
pub(super) struct Variables<'a> {
    known: &'a [Variable],
    /// What each is known to be.
    memory: &'a [Cell<Memory<'a>>],
    inputs: Inputs<'a>,
    runner: Runner<'a>,
    /// The same as a value; set as soon as there is one.
    this: Cell<Value<'a>>,
    /// The cost units since they were last asked for.
    cost: Cell<u64>,
}

/// What is known of a variable.
#[derive(Debug, Clone, Copy)]
enum Memory<'a> {
    Nothing,
    /// It is being evaluated: what reads it now would wait for itself.
    Reading,
    Value(Value<'a>),
    Failure(&'a str),
}

impl<'a> Variables<'a> {
    /// Nothing is known of them yet.
    pub(super) fn new(
        known: &'a [Variable],
        inputs: Inputs<'a>,
        runner: Runner<'a>,
        arena: &'a Arena,
    ) -> &'a Self {
        let bump = arena.bump();
        let variables: &'a Self = bump.alloc(Variables {
            known,
            memory: bump.alloc_slice_fill_with(known.len(), |_| Cell::new(Memory::Nothing)),
            inputs,
            runner,
            this: Cell::new(Value::Null),
            cost: Cell::new(0),
        });
        variables.this.set(Value::MapView(variables));
        variables
    }

    /// The value of `variables`.
    pub(super) fn value(&self) -> Value<'a> {
        self.this.get()
    }

    /// The cost units of the variables that were evaluated since this was last asked.
    pub(super) fn take_cost(&self) -> u64 {
        self.cost.take()
    }

    fn read(&self, position: usize) -> Option<Result<Value<'a>, EvalError>> {
        let cell = self.memory.get(position)?;
        match cell.get() {
            Memory::Value(value) => return Some(Ok(value)),
            Memory::Failure(message) => return Some(Err(EvalError::new(message.to_owned()))),
            Memory::Nothing | Memory::Reading => {}
        }
        let Variable { name, expression } = self.known.get(position)?;
        let failed = |what: &str, why: &dyn fmt::Display| {
            let name = quote(name);
            EvalError::new(format!("composited variable {name} fails to {what}: {why}"))
        };
        if matches!(cell.get(), Memory::Reading) {
            return Some(Err(failed("evaluate", &"it reads itself")));
        }
        let result = match &expression.program {
            Err(error) => Err(failed("compile", error)),
            Ok(program) => {
                cell.set(Memory::Reading);
                let activation = self.inputs.activation(self.value());
                let evaluation = self
                    .runner
                    .run(expression, Some(name), program, &activation);
                self.cost
                    .set(self.cost.get().saturating_add(evaluation.cost));
                evaluation
                    .result
                    .map_err(|error| failed("evaluate", &error))
            }
        };
        cell.set(match &result {
            Ok(value) => Memory::Value(*value),
            Err(error) => Memory::Failure(self.runner.keep(error.message())),
        });
        Some(result)
    }
}

impl MapView for Variables<'_> {
    fn type_name(&self) -> &str {
        VARIABLES
    }

    fn len(&self) -> usize {
        self.known.len()
    }

    fn get(&self, key: &Value<'_>) -> Result<Option<Value<'_>>, EvalError> {
        let Value::String(wanted) = key else {
            return Err(EvalError::no_such_overload());
        };
        // Of two with one name, the last counts.
        let position = self
            .known
            .iter()
            .rposition(|variable| variable.name == *wanted);
        match position.and_then(|position| self.read(position)) {
            None => Ok(None),
            Some(result) => result.map(Some),
        }
    }

    fn key(&self, position: usize) -> Option<Value<'_>> {
        let variable = self.known.get(position)?;
        Some(Value::String(&variable.name))
    }
}

impl fmt::Debug for Variables<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.known.iter().map(|variable| &variable.name);
        f.debug_set().entries(names).finish()
    }
}

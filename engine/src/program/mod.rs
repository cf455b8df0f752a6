//! Programs: expressions that are planned for evaluation (cel-go `interpreter/`).

use smallvec::SmallVec;
use smol_str::SmolStr;

use crate::error::EvalError;
use crate::value::{Arena, HostTypes, Value};

mod activation;
mod attribute;
mod block;
mod call;
mod elements;
mod fold;
mod frame;
mod invariants;
mod junction;
mod listing;
mod literal;
mod operator;
mod overloads;
mod path;
mod plan;
mod scan;
mod step;
mod tree;
mod well_known;

pub use activation::Activation;
pub use gavel_golang::work::Interrupt;
pub use invariants::Invariants;
pub use plan::{PlanError, plan};

use activation::{Typed, Variables};
use frame::{Cells, Frame};
use path::{MOST_PATHS, PathSet, SlotId};
use tree::Step;

/// The number of slots for which there is room on the stack, if an expression has any.
const FEW_SLOTS: usize = 4;

/// A planned expression. It is immutable and can be evaluated from many threads at once. Its `Debug` output lists the plan, one
/// node per line.
pub struct Program {
    root: Step,
    /// The names of the variables that the program reads.
    variables: SmallVec<[SmolStr; 2]>,
    /// The number of loop variables and accumulators.
    slots: SlotId,
    /// Whether the rules of CEL's specification apply.
    specified: bool,
    /// Whether reading an optional returns its value unchanged. Otherwise the value is converted to a Go value and back, as Kubernetes
    /// does.
    keeps_held_values: bool,
    /// Whether `or` and `orValue` fail if their receiver is not an optional.
    checks_receivers_of_or: bool,
    /// The paths whose values are cached.
    keeps: PathSet,
    /// The number of invariant steps.
    invariants: usize,
}

// Checks that a program can be shared between threads.
const _: () = {
    const fn shared<T: Send + Sync>() {}
    shared::<Program>();
};

/// The limits of an evaluation in cost and time; none by default. The [arena](Arena::set_limit) limits memory.
///
/// ```
/// use std::time::{Duration, Instant};
///
/// use gavel_engine::program::EvalOptions;
///
/// let deadline = Instant::now() + Duration::from_millis(50);
/// let is_over = || Instant::now() >= deadline;
/// let options = EvalOptions { interrupt: Some(&is_over), ..EvalOptions::default() };
/// ```
#[derive(Clone, Copy, Default)]
pub struct EvalOptions<'a> {
    /// The cost limit, in cost units; `None` is no limit.
    pub cost_limit: Option<u64>,
    /// A function for the host's deadline or cancellation flag. An evaluation calls it many times per millisecond of work and fails once it
    /// returns true.
    pub interrupt: Interrupt<'a>,
}

/// The outcome of an evaluation.
#[derive(Debug)]
#[must_use = "the evaluation may have failed"]
pub struct Evaluation<'a> {
    /// The value, or the error of the failed evaluation.
    pub result: Result<Value<'a>, EvalError>,
    /// The cost, in cost units. For a failed evaluation, the cost up to the failure.
    pub cost: u64,
}

impl Program {
    /// Evaluates the expression. Computed values live in the arena.
    pub fn eval<'a>(
        &'a self,
        activation: &Activation<'a>,
        arena: &'a Arena,
        options: &EvalOptions<'a>,
    ) -> Evaluation<'a> {
        self.start(activation, arena, options)
    }

    /// Evaluates the expression with variables that `resolve` looks up by name. `resolve` is called before the evaluation starts, and only
    /// for the variables that the expression reads. A variable for which `resolve` returns `None` is not bound.
    #[inline]
    pub fn eval_with<'a>(
        &'a self,
        resolve: impl Fn(&str) -> Option<Value<'a>>,
        arena: &'a Arena,
        options: &EvalOptions<'a>,
    ) -> Evaluation<'a> {
        self.start(&resolve, arena, options)
    }

    /// Like [`eval_with`](Self::eval_with), for values whose lists and maps have types of the host, and for evaluations that share
    /// `invariants`.
    #[inline]
    pub fn eval_typed<'a>(
        &'a self,
        resolve: impl Fn(&str) -> Option<Value<'a>>,
        types: Option<&'a dyn HostTypes>,
        invariants: Invariants<'a>,
        arena: &'a Arena,
        options: &EvalOptions<'a>,
    ) -> Evaluation<'a> {
        let variables = Typed {
            resolve,
            types,
            invariants,
        };
        self.start(&variables, arena, options)
    }

    /// Evaluates the expression with as much room on the stack as it needs.
    #[inline(always)]
    fn start<'a>(
        &'a self,
        variables: &impl Variables<'a>,
        arena: &'a Arena,
        options: &EvalOptions<'a>,
    ) -> Evaluation<'a> {
        match (self.keeps.places(), self.slots) {
            (0, 0) => self.run::<0, 0>(variables, arena, options),
            (0, _) => self.run::<0, FEW_SLOTS>(variables, arena, options),
            (1..=4, _) => self.run::<4, FEW_SLOTS>(variables, arena, options),
            _ => self.run::<MOST_PATHS, FEW_SLOTS>(variables, arena, options),
        }
    }

    /// Evaluates the expression with room for `KEPT` cached values and `SLOTS` slots on the stack.
    #[inline]
    fn run<'a, const KEPT: usize, const SLOTS: usize>(
        &'a self,
        variables: &impl Variables<'a>,
        arena: &'a Arena,
        options: &EvalOptions<'a>,
    ) -> Evaluation<'a> {
        let mut cells = Cells::<KEPT, SLOTS>::default();
        let mut frame = Frame::new(self, variables, &mut cells, arena, options);
        let result = match self.root.is_bool() {
            true => self.root.eval_bool(&mut frame).map(Value::from),
            false => {
                let mut value = Value::NULL;
                let evaluated = self.root.eval_into(&mut value, &mut frame);
                evaluated.map(|()| value)
            }
        };
        Evaluation {
            result,
            cost: frame.cost(),
        }
    }

    /// Room in the arena for the results of the program's invariant steps, which several evaluations share.
    pub fn invariants<'s>(&self, arena: &'s Arena) -> Invariants<'s> {
        Invariants::new(self.invariants, arena)
    }

    /// The names of the variables that the expression reads.
    pub fn variables(&self) -> &[SmolStr] {
        &self.variables
    }

    /// Whether the expression reads a variable.
    pub fn reads(&self, variable: &str) -> bool {
        self.variables.iter().any(|known| known == variable)
    }
}

impl std::fmt::Debug for EvalOptions<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EvalOptions")
            .field("cost_limit", &self.cost_limit)
            .finish_non_exhaustive()
    }
}

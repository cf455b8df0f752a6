//! Programs: checked expressions in the form in which they are evaluated (cel-go `interpreter/`).

use smol_str::SmolStr;

use crate::error::EvalError;
use crate::value::{Arena, Value};

mod activation;
mod attribute;
mod block;
mod call;
mod fold;
mod frame;
mod literal;
mod node;
mod operator;
mod path;
mod plan;
mod well_known;

pub use activation::Activation;
pub use plan::{PlanError, plan};

use frame::Frame;
use node::Node;

/// A planned expression. It is immutable and may be evaluated from many threads at once.
#[derive(Debug)]
pub struct Program {
    root: Node,
    /// The names of the variables that it reads.
    variables: Box<[SmolStr]>,
    /// The number of loop variables and accumulators.
    slots: usize,
    /// Whether the rules of CEL's specification hold.
    specified: bool,
    /// For each path where its value is kept, if it is.
    cells: Box<[Option<u32>]>,
    /// The number of values of paths that are kept.
    kept: usize,
}

// One program is evaluated from many threads at once.
const _: () = {
    const fn shared<T: Send + Sync>() {}
    shared::<Program>();
};

/// What bounds an evaluation.
#[derive(Clone, Copy, Default)]
pub struct EvalOptions<'a> {
    /// The most cost units that it may take; without a limit it may take any number.
    pub cost_limit: Option<u64>,
    /// Asked every 100 iterations of comprehensions; true ends the evaluation. A deadline or a flag of the host's.
    pub interrupt: Option<&'a (dyn Fn() -> bool + Sync)>,
}

/// The outcome of an evaluation.
#[derive(Debug)]
pub struct Evaluation<'a> {
    /// The value, or why there is none.
    pub result: Result<Value<'a>, EvalError>,
    /// The cost units that it took, up to the failure if it failed.
    pub cost: u64,
}

impl Program {
    /// Evaluates the expression. What it computes lives in the arena.
    pub fn eval<'a>(
        &'a self,
        activation: &Activation<'a>,
        arena: &'a Arena,
        options: &EvalOptions<'a>,
    ) -> Evaluation<'a> {
        self.eval_with(|name| activation.resolve(name), arena, options)
    }

    /// Evaluates the expression with variables that a host looks up by name: before all else, and only those that the
    /// expression reads.
    pub fn eval_with<'a>(
        &'a self,
        resolve: impl Fn(&str) -> Option<Value<'a>>,
        arena: &'a Arena,
        options: &EvalOptions<'a>,
    ) -> Evaluation<'a> {
        let variables = self.variables.iter().map(|name| resolve(name)).collect();
        let mut frame = Frame::new(self, variables, arena, options);
        let result = self.root.eval(&mut frame);
        Evaluation {
            result,
            cost: frame.cost(),
        }
    }

    /// The names of the variables that the expression reads.
    pub fn variables(&self) -> &[SmolStr] {
        &self.variables
    }
}

impl std::fmt::Debug for EvalOptions<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EvalOptions")
            .field("cost_limit", &self.cost_limit)
            .finish_non_exhaustive()
    }
}

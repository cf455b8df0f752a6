//! Results that evaluations share because they do not depend on varying variables.

use std::cell::Cell;

use crate::value::{Arena, Value};

/// The results of a program's invariant steps, shared by evaluations that differ only in the values of varying variables (see
/// [`EnvBuilder::varying`](crate::env::EnvBuilder::varying)). Each evaluation still pays the cost of all steps.
///
/// ```
/// use gavel_engine::env::Env;
/// use gavel_engine::program::EvalOptions;
/// use gavel_engine::stdlib;
/// use gavel_engine::types::Type;
/// use gavel_engine::value::{Arena, Value};
///
/// let builder = Env::builder().variable("a", Type::Int).variable("b", Type::Int).varying("b");
/// let builder = stdlib::TABLES.iter().fold(builder, |builder, rows| builder.overloads(rows));
/// let env = builder.build()?;
/// let program = env.plan(&env.compile("a * 2 < b").expect("an expression")).expect("a program");
/// let arena = Arena::new();
/// let invariants = program.invariants(&arena);
/// // `a * 2` is computed once.
/// for b in [7, 5] {
///     let resolve = |name: &str| Some(Value::from(if name == "b" { b } else { 3 }));
///     let options = EvalOptions::default();
///     let evaluation = program.eval_typed(resolve, None, invariants, &arena, &options);
///     assert_eq!(evaluation.result.expect("a value").as_bool(), Some(b == 7));
/// }
/// # Ok::<(), gavel_engine::types::TypeTextError>(())
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct Invariants<'s>(&'s [Cell<Option<Known>>]);

/// The value of a step, and the cost of evaluating the step in cost units.
type Known = (Value<'static>, u64);

impl<'s> Invariants<'s> {
    /// Room for the results of `count` steps.
    pub(super) fn new(count: usize, arena: &'s Arena) -> Self {
        match count {
            0 => Invariants::default(),
            count => Invariants(arena.bump().alloc_slice_fill_default(count)),
        }
    }

    /// The result of the step at this position, if it is known.
    #[inline]
    pub(super) fn get(self, position: usize) -> Option<Known> {
        self.0.get(position).and_then(Cell::get)
    }

    /// Shares the result of the step at this position, if the value owns its content.
    pub(super) fn share(self, position: usize, value: &Value<'_>, cost: u64) {
        if let (Some(place), Some(value)) = (self.0.get(position), value.as_scalar()) {
            place.set(Some((value, cost)));
        }
    }
}

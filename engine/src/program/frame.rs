//! The state of one evaluation.

use smallvec::SmallVec;

use super::path::PathId;
use super::tree::Step;
use super::{EvalOptions, Program};
use crate::decl::CallContext;
use crate::error::EvalError;
use crate::value::{Arena, Value};

/// After so many cost units the host is asked whether to go on, and the memory is looked at.
const COST_PER_CHECK: u64 = 1000;

/// The units of work that an iteration counts for beside its cost.
const WORK_PER_ITERATION: usize = 64;

/// Variables, cost and limits of an evaluation.
pub(super) struct Frame<'a> {
    /// Where computed values live.
    pub(super) arena: &'a Arena,
    program: &'a Program,
    variables: BoundVariables<'a>,
    slots: SmallVec<[(Slot<'a>, Epoch); 4]>,
    kept: SmallVec<[Option<(Value<'a>, Epoch)>; 8]>,
    cost: u64,
    limit: u64,
    /// The cost beyond which it is time to look, at most the limit.
    next_check: u64,
    context: CallContext<'a>,
}

/// The values of a program's variables, in its order; none of those that are not bound.
pub(super) type BoundVariables<'a> = SmallVec<[Option<Value<'a>>; 4]>;

/// Counts the values of a loop variable, so that what was kept of an earlier one is told apart.
pub(super) type Epoch = u32;

/// A loop variable or accumulator.
#[derive(Debug, Clone)]
pub(super) enum Slot<'a> {
    /// Out of scope.
    Empty,
    /// An accumulator that nothing has read yet: evaluated when it is first read.
    Unread(&'a Step),
    /// A value.
    Value(Value<'a>),
    /// A failure, which reading it brings back.
    Failed(EvalError),
}

impl<'a> From<Result<Value<'a>, EvalError>> for Slot<'a> {
    fn from(result: Result<Value<'a>, EvalError>) -> Self {
        match result {
            Ok(value) => Slot::Value(value),
            Err(error) => Slot::Failed(error),
        }
    }
}

impl<'a> Frame<'a> {
    pub(super) fn new(
        program: &'a Program,
        variables: BoundVariables<'a>,
        arena: &'a Arena,
        options: &EvalOptions<'a>,
    ) -> Self {
        // Slots and what is kept are filled in place: moving them would copy all that they could hold.
        let limit = options.cost_limit.unwrap_or(u64::MAX);
        arena.set_limit(options.memory_limit);
        let mut frame = Frame {
            arena,
            program,
            variables,
            slots: SmallVec::new(),
            kept: SmallVec::new(),
            cost: 0,
            limit,
            next_check: limit.min(COST_PER_CHECK),
            context: CallContext::interruptible(arena, options.interrupt),
        };
        for _ in 0..program.slots {
            frame.slots.push((Slot::Empty, 0));
        }
        for _ in 0..program.kept {
            frame.kept.push(None);
        }
        frame
    }

    /// The cost units so far.
    pub(super) fn cost(&self) -> u64 {
        self.cost
    }

    /// Whether the rules of CEL's specification hold.
    pub(super) fn follows_specification(&self) -> bool {
        self.program.specified
    }

    /// Whether `or` and `orValue` fail where their receiver is no optional.
    pub(super) fn checks_receivers_of_or(&self) -> bool {
        self.program.checks_receivers_of_or
    }

    /// Whether what an optional holds stays as it is when the optional is read.
    pub(super) fn keeps_held_values(&self) -> bool {
        self.program.keeps_held_values
    }

    /// What implementations of functions get to see.
    pub(super) fn context(&self) -> &CallContext<'a> {
        &self.context
    }

    /// Adds to the cost; fails where it passes the limit. Upstream's counter wraps.
    #[inline]
    pub(super) fn charge(&mut self, units: u64) -> Result<(), EvalError> {
        self.cost = self.cost.wrapping_add(units);
        match self.cost > self.next_check {
            true => self.check(),
            false => Ok(()),
        }
    }

    /// Adds so many single units.
    #[inline]
    pub(super) fn charge_each(&mut self, units: u64) -> Result<(), EvalError> {
        let total = self.cost.saturating_add(units);
        if total > self.limit {
            // The unit that passes the limit is the last that is charged.
            self.cost = self.limit.saturating_add(1).max(self.cost);
            return Err(EvalError::cost_limit());
        }
        self.cost = total;
        match total > self.next_check {
            true => self.check(),
            false => Ok(()),
        }
    }

    /// Looks at all limits.
    #[cold]
    fn check(&mut self) -> Result<(), EvalError> {
        if self.cost > self.limit {
            return Err(EvalError::cost_limit());
        }
        self.next_check = self.limit.min(self.cost.saturating_add(COST_PER_CHECK));
        self.context.check()
    }

    /// Takes back a unit that a presence test was charged as an attribute. Upstream's counter wraps here.
    pub(super) fn refund(&mut self) -> Result<(), EvalError> {
        self.cost = self.cost.wrapping_sub(1);
        self.charge(0)
    }

    /// The value of a variable.
    pub(super) fn variable(&self, index: usize) -> Result<Value<'a>, EvalError> {
        match self.bound_variable(index) {
            Some(value) => value.read(self.arena),
            None => Err(self.unbound(index)),
        }
    }

    /// The value of a variable, if it is bound.
    #[inline]
    pub(super) fn bound_variable(&self, index: usize) -> Option<&Value<'a>> {
        self.variables.get(index)?.as_ref()
    }

    #[cold]
    fn unbound(&self, index: usize) -> EvalError {
        let name = self
            .program
            .variables
            .get(index)
            .map_or("", |name| name.as_str());
        EvalError::new(format!("no such attribute(s): {name}"))
    }

    /// The value of a loop variable or accumulator, if it has one already.
    #[inline]
    pub(super) fn held_slot(&self, index: usize) -> Option<(&Value<'a>, Epoch)> {
        match self.slots.get(index) {
            Some((Slot::Value(value), epoch)) => Some((value, *epoch)),
            _ => None,
        }
    }

    /// Whether the program goes along any path more than once.
    #[inline]
    pub(super) fn keeps_paths(&self) -> bool {
        !self.kept.is_empty()
    }

    /// The value at the end of a path, if it was looked up in this epoch of the path's base.
    #[inline]
    pub(super) fn kept(&self, path: Option<PathId>, epoch: Epoch) -> Option<&Value<'a>> {
        let cell = (*self.program.cells.get(path?.index())?)?;
        match self.kept.get(cell as usize) {
            Some(Some((value, kept))) if *kept == epoch => Some(value),
            _ => None,
        }
    }

    /// Keeps the value at the end of a path, if it is of use.
    #[inline(always)]
    pub(super) fn keep(&mut self, path: Option<PathId>, epoch: Epoch, value: Value<'a>) {
        let cell = path.and_then(|path| self.program.cells.get(path.index()).copied().flatten());
        if let Some(cell) = cell
            && let Some(place) = self.kept.get_mut(cell as usize)
        {
            *place = Some((value, epoch));
        }
    }

    /// The value of a loop variable or accumulator.
    pub(super) fn slot(&mut self, index: usize) -> Result<Value<'a>, EvalError> {
        match self.slots.get(index).map(|(slot, _)| slot) {
            Some(Slot::Unread(init)) => {
                let init: &'a Step = init;
                let result = init.eval(self);
                if let Err(error) = &result
                    && error.is_fatal()
                {
                    return result;
                }
                self.set_slot(index, Slot::from(result.clone()));
                result
            }
            Some(Slot::Failed(error)) => Err(error.clone()),
            Some(Slot::Value(value)) => Ok(*value),
            _ => Err(EvalError::internal("a loop variable is out of scope")),
        }
    }

    /// Sets a loop variable or accumulator.
    #[inline(always)]
    pub(super) fn set_slot(&mut self, index: usize, slot: Slot<'a>) {
        if let Some((place, epoch)) = self.slots.get_mut(index) {
            *place = slot;
            *epoch = epoch.wrapping_add(1);
        }
    }

    /// Takes a loop variable or accumulator away.
    pub(super) fn take_slot(&mut self, index: usize) -> Slot<'a> {
        self.slots.get_mut(index).map_or(Slot::Empty, |(place, _)| {
            std::mem::replace(place, Slot::Empty)
        })
    }

    /// Counts an iteration; fails where the host wants to stop.
    #[inline]
    pub(super) fn iterate(&mut self) -> Result<(), EvalError> {
        self.context.work(WORK_PER_ITERATION)
    }
}

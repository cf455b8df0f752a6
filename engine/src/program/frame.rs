//! The state of one evaluation.

use super::activation::Variables;
use super::invariants::Invariants;
use super::path::{PathId, PathSet, SlotId};
use super::tree::Step;
use super::{EvalOptions, Program};
use crate::decl::CallContext;
use crate::error::EvalError;
use crate::value::{Arena, Host, Value};

/// The interval, in cost units, at which the host's interrupt and the memory limit are checked.
const COST_PER_CHECK: u64 = 1000;

/// The units of work of an iteration, in addition to its cost.
const WORK_PER_ITERATION: usize = 64;

/// The variables, cost and limits of an evaluation.
pub(super) struct Frame<'f, 'a> {
    /// The arena that holds computed values.
    pub(super) arena: &'a Arena,
    program: &'a Program,
    cells: CellSlices<'f, 'a>,
    pub(super) invariants: Invariants<'a>,
    keeps: PathSet,
    /// The slots that hold something other than a value. They are few.
    others: Vec<(SlotId, Slot<'a>)>,
    cost: u64,
    limit: u64,
    /// The limits are checked again when the cost exceeds this value, which is at most the cost limit.
    next_check: u64,
    context: CallContext<'a>,
}

/// The memory for the values of variables, slots and cached paths.
#[derive(Default)]
pub(super) struct Cells<'a, const KEPT: usize, const SLOTS: usize> {
    /// The values of the program's variables, in the program's order; `None` for unbound variables.
    variables: Few<Option<Value<'a>>, 4>,
    /// The values of loop variables and accumulators; `None` for slots that hold something other than a value.
    slots: Few<(Option<Value<'a>>, Epoch), SLOTS>,
    /// The cached values of paths that are read more than once, each with the epoch of its base. Empty if no path is cached.
    kept: Few<(Option<Value<'a>>, Epoch), KEPT>,
}

/// Room for `N` values on the stack.
struct Few<T, const N: usize>([T; N]);

impl<T: Copy + Default, const N: usize> Default for Few<T, N> {
    #[inline(always)]
    fn default() -> Self {
        Few([T::default(); N])
    }
}

impl<T: Copy + Default, const N: usize> Few<T, N> {
    /// Returns a slice with `count` values: on the stack if there is room, otherwise in the arena.
    #[inline(always)]
    fn take<'f>(&'f mut self, count: usize, arena: &'f Arena) -> &'f mut [T] {
        match self.0.get_mut(..count) {
            Some(few) => few,
            None => arena.bump().alloc_slice_fill_default(count),
        }
    }
}

/// The variables, slots and cached values of `Cells`, borrowed as slices.
struct CellSlices<'f, 'a> {
    variables: &'f [Option<Value<'a>>],
    slots: &'f mut [(Option<Value<'a>>, Epoch)],
    kept: &'f mut [(Option<Value<'a>>, Epoch)],
}

/// The number of values that a loop variable has had. A cached value with a lower number belongs to an earlier iteration.
pub(super) type Epoch = u64;

/// The epoch of variables that are not loop variables.
pub(super) const ONLY_EPOCH: Epoch = 1;

/// The contents of a slot: a loop variable or accumulator.
#[derive(Debug, Clone)]
pub(super) enum Slot<'a> {
    /// An accumulator that has not been read yet: it is evaluated when it is first read.
    Unread(&'a Step),
    /// A value.
    Value(Value<'a>),
    /// A failure: reading the slot returns it.
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

impl<'f, 'a> Frame<'f, 'a> {
    /// Creates a frame. `cells` must be empty: they are filled in place, because moving them would copy their whole capacity.
    #[inline(always)]
    pub(super) fn new<const KEPT: usize, const SLOTS: usize>(
        program: &'a Program,
        values: &impl Variables<'a>,
        cells: &'f mut Cells<'a, KEPT, SLOTS>,
        arena: &'a Arena,
        options: &EvalOptions<'a>,
    ) -> Self {
        let names = program.variables();
        let variables = cells.variables.take(names.len(), arena);
        for (value, name) in variables.iter_mut().zip(names) {
            values.resolve_into(name, value);
        }
        let limit = options.cost_limit.unwrap_or(u64::MAX);
        Frame {
            arena,
            program,
            cells: CellSlices {
                variables,
                slots: cells.slots.take(program.slots as usize, arena),
                kept: cells.kept.take(program.keeps.places(), arena),
            },
            invariants: values.invariants(),
            keeps: program.keeps,
            others: Vec::new(),
            cost: 0,
            limit,
            next_check: limit.min(COST_PER_CHECK),
            context: CallContext::of_host(arena, Host::new(options.interrupt, values.types())),
        }
    }

    /// The cost units so far.
    pub(super) fn cost(&self) -> u64 {
        self.cost
    }

    /// Whether the rules of CEL's specification apply.
    pub(super) fn follows_specification(&self) -> bool {
        self.program.specified
    }

    /// Whether `or` and `orValue` fail if their receiver is not an optional.
    pub(super) fn checks_receivers_of_or(&self) -> bool {
        self.program.checks_receivers_of_or
    }

    /// Whether reading an optional returns its value unchanged. Otherwise the value is converted to a Go value and back, as Kubernetes
    /// does.
    pub(super) fn keeps_held_values(&self) -> bool {
        self.program.keeps_held_values
    }

    /// The context for implementations of functions.
    pub(super) fn context(&self) -> &CallContext<'a> {
        &self.context
    }

    /// Adds to the cost. The counter wraps around, as upstream's does.
    ///
    /// # Errors
    ///
    /// The cost limit or memory limit is exceeded, or the host interrupts the evaluation.
    #[inline]
    pub(super) fn charge(&mut self, units: u64) -> Result<(), EvalError> {
        self.cost = self.cost.wrapping_add(units);
        match self.cost > self.next_check {
            true => self.check(),
            false => Ok(()),
        }
    }

    /// Charges `units` units, one at a time.
    #[inline]
    pub(super) fn charge_each(&mut self, units: u64) -> Result<(), EvalError> {
        if self.charge_freely(units) {
            return Ok(());
        }
        let total = self.cost.saturating_add(units);
        // The unit that exceeds the limit is the last unit charged.
        self.cost = total.min(self.limit.saturating_add(1)).max(self.cost);
        self.check()
    }

    /// Adds to the cost, unless a limit would have to be checked. Returns whether the units were added.
    #[inline]
    pub(super) fn charge_freely(&mut self, units: u64) -> bool {
        let total = self.cost.saturating_add(units);
        let is_free = total <= self.next_check;
        if is_free {
            self.cost = total;
        }
        is_free
    }

    /// The number of iterations that can run before the next check of the limits. Each iteration costs `units` cost units.
    pub(super) fn free_iterations(&self, units: u64) -> usize {
        let units_left = self.next_check.saturating_sub(self.cost);
        let charged = units_left.checked_div(units).unwrap_or(0);
        let worked = self.context.work_counter().left() / WORK_PER_ITERATION;
        usize::try_from(charged).unwrap_or(usize::MAX).min(worked)
    }

    /// Counts iterations that cost `units` cost units each, without checking the cost limit.
    pub(super) fn iterate_freely(
        &mut self,
        iterations: usize,
        units: u64,
    ) -> Result<(), EvalError> {
        let charged = (iterations as u64).saturating_mul(units);
        self.cost = self.cost.saturating_add(charged);
        self.context
            .work(iterations.saturating_mul(WORK_PER_ITERATION))
    }

    /// Checks all limits.
    #[cold]
    fn check(&mut self) -> Result<(), EvalError> {
        if self.cost > self.limit {
            return Err(EvalError::cost_limit());
        }
        self.next_check = self.limit.min(self.cost.saturating_add(COST_PER_CHECK));
        self.context.check()
    }

    /// Refunds one unit, because a presence test does not pay for its attribute. If the cost is zero, the counter wraps around, as
    /// upstream's does.
    pub(super) fn refund(&mut self) -> Result<(), EvalError> {
        self.cost = self.cost.wrapping_sub(1);
        self.charge(0)
    }

    /// Returns the value; [unread](Value::unread) JSON is converted first, and the work of converting it is announced.
    ///
    /// # Errors
    ///
    /// The JSON cannot be converted through its shape, or the host interrupts the evaluation.
    #[inline]
    pub(super) fn read(&self, value: Value<'a>) -> Result<Value<'a>, EvalError> {
        match value.as_unread() {
            None => Ok(value),
            Some(_) => self.read_json(value),
        }
    }

    #[cold]
    fn read_json(&self, value: Value<'a>) -> Result<Value<'a>, EvalError> {
        self.context.look(&value)?;
        value.read(self.arena)
    }

    /// The value of a variable.
    pub(super) fn variable(&self, index: usize) -> Result<Value<'a>, EvalError> {
        match self.bound_variable(index) {
            Some(value) => self.read(*value),
            None => Err(self.unbound(index)),
        }
    }

    /// The value of a variable, if it is bound.
    #[inline]
    pub(super) fn bound_variable(&self, index: usize) -> Option<&Value<'a>> {
        self.cells.variables.get(index)?.as_ref()
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

    /// The value of a loop variable or accumulator, if it has been evaluated.
    #[inline]
    pub(super) fn held_slot(&self, slot: SlotId) -> Option<(&Value<'a>, Epoch)> {
        let (value, epoch) = self.cells.slots.get(slot as usize)?;
        Some((value.as_ref()?, *epoch))
    }

    /// The epoch of a slot. `None` stands for a variable that is not a loop variable; such a variable has only one epoch.
    pub(super) fn epoch(&self, slot: Option<SlotId>) -> Epoch {
        let slot = slot.and_then(|slot| self.cells.slots.get(slot as usize));
        slot.map_or(ONLY_EPOCH, |(_, epoch)| *epoch)
    }

    /// Whether the program caches the value of this path.
    pub(super) fn keeps(&self, path: PathId) -> bool {
        self.keeps.has(path)
    }

    /// Whether the program caches the value of at least one of these paths.
    #[inline]
    pub(super) fn keeps_any(&self, paths: PathSet) -> bool {
        self.keeps.meets(paths)
    }

    /// The cached value of a path. `None` if no value is cached, or if the cached value belongs to another epoch, and thus to an earlier
    /// iteration of the loop.
    #[inline]
    pub(super) fn kept(&self, path: PathId, epoch: Epoch) -> Option<&Value<'a>> {
        let (value, kept) = self.cells.kept.get(path.index())?;
        value.as_ref().filter(|_| *kept == epoch)
    }

    /// Caches the value of a path.
    #[inline]
    pub(super) fn keep(&mut self, path: PathId, epoch: Epoch, value: &Value<'a>) {
        if let Some((place, kept)) = self.cells.kept.get_mut(path.index()) {
            value.store_in(place.insert(Value::NULL));
            *kept = epoch;
        }
    }

    /// The value of a loop variable or accumulator.
    #[inline]
    pub(super) fn slot(&mut self, slot: SlotId) -> Result<Value<'a>, EvalError> {
        match self.cells.slots.get(slot as usize) {
            Some((Some(value), _)) => Ok(*value),
            _ => self.other_slot(slot),
        }
    }

    #[cold]
    fn other_slot(&mut self, index: SlotId) -> Result<Value<'a>, EvalError> {
        let other = self.others.iter().find(|(other, _)| *other == index);
        match other.map(|(_, slot)| slot) {
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
            None => Err(EvalError::internal("a loop variable is out of scope")),
        }
    }

    /// Sets a loop variable or accumulator to a value.
    #[inline(always)]
    pub(super) fn set_value(&mut self, slot: SlotId, value: Value<'a>) {
        if let Some((place, epoch)) = self.cells.slots.get_mut(slot as usize) {
            *place = Some(value);
            *epoch = epoch.wrapping_add(1);
        }
    }

    /// The place for the next value of a loop variable.
    #[inline(always)]
    pub(super) fn next_value(&mut self, slot: SlotId) -> Option<&mut Value<'a>> {
        let (place, epoch) = self.cells.slots.get_mut(slot as usize)?;
        *epoch = epoch.wrapping_add(1);
        Some(place.insert(Value::NULL))
    }

    /// Sets a loop variable or accumulator to a value, a failure or an unread initial value.
    pub(super) fn set_slot(&mut self, index: SlotId, slot: Slot<'a>) {
        match slot {
            Slot::Value(value) => self.set_value(index, value),
            slot => {
                self.take_slot(index);
                self.others.push((index, slot));
            }
        }
    }

    /// Removes and returns the contents of a slot; `None` if the slot is empty.
    pub(super) fn take_slot(&mut self, index: SlotId) -> Option<Slot<'a>> {
        let value = self
            .cells
            .slots
            .get_mut(index as usize)
            .and_then(|(value, epoch)| {
                *epoch = epoch.wrapping_add(1);
                value.take()
            });
        let other = self.others.iter().position(|(other, _)| *other == index);
        let other = other.map(|place| self.others.swap_remove(place).1);
        value.map(Slot::Value).or(other)
    }

    /// Counts the work of an iteration.
    ///
    /// # Errors
    ///
    /// The host interrupts the evaluation.
    #[inline]
    pub(super) fn iterate(&mut self) -> Result<(), EvalError> {
        self.context.work(WORK_PER_ITERATION)
    }
}

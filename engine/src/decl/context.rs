//! What implementations of functions may use beside their arguments, and what they owe: to tell what they are about to do.

use bumpalo::collections::Vec as ArenaVec;
use gavel_golang::work::{Interrupt, Work};

use crate::error::EvalError;
use crate::value::{Arena, Value};

/// The units of work of adding an element to a list.
const WORK_PER_ELEMENT: usize = 32;

/// What an implementation may use beside its arguments.
///
/// An implementation that can take more than about a millisecond tells of its [`work`](Self::work) piece by piece; one whose
/// result may be much larger than its arguments [reserves](Self::reserve) room before it computes it.
#[derive(Debug)]
pub struct CallContext<'a> {
    /// Where computed values live.
    pub arena: &'a Arena,
    work: Work<'a>,
}

impl<'a> CallContext<'a> {
    /// What is computed in this arena, however long it takes.
    pub fn new(arena: &'a Arena) -> Self {
        CallContext::interruptible(arena, None)
    }

    /// What is computed in this arena until the interrupt stops it.
    pub fn interruptible(arena: &'a Arena, interrupt: Interrupt<'a>) -> Self {
        CallContext {
            arena,
            work: Work::new(interrupt),
        }
    }

    /// Counts units of work that come next, each about a nanosecond.
    ///
    /// # Errors
    /// Where the host wants to stop.
    #[inline]
    pub fn work(&self, units: usize) -> Result<(), EvalError> {
        Ok(self.work.spend(units)?)
    }

    /// The counter itself, for what knows no evaluation.
    pub fn work_counter(&self) -> &Work<'a> {
        &self.work
    }

    /// Counts the work of filling so many bytes.
    ///
    /// # Errors
    /// Where there is no room for them in the arena, or the host wants to stop.
    #[inline]
    pub fn reserve(&self, bytes: usize) -> Result<(), EvalError> {
        self.arena.reserve(bytes)?;
        self.work(bytes)
    }

    /// Counts the work of looking at a value.
    ///
    /// # Errors
    /// Where the host wants to stop.
    #[inline]
    pub fn look(&self, value: &Value<'_>) -> Result<(), EvalError> {
        self.work(value.work())
    }

    /// Adds an element to a list that grows in the arena.
    ///
    /// # Errors
    /// Where there is no room for it, or the host wants to stop.
    #[inline]
    pub fn push<T>(&self, list: &mut ArenaVec<'a, T>, element: T) -> Result<(), EvalError> {
        if list.len() == list.capacity() {
            let grown = list.capacity().max(2).saturating_mul(2);
            self.reserve(grown.saturating_mul(size_of::<T>()))?;
        }
        list.push(element);
        self.work(WORK_PER_ELEMENT)
    }

    /// Asks at once whether to go on.
    ///
    /// # Errors
    /// Where the arena holds too much, or the host wants to stop.
    #[cold]
    pub fn check(&self) -> Result<(), EvalError> {
        self.arena.reserve(0)?;
        Ok(self.work.ask()?)
    }
}

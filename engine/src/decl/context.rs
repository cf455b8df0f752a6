//! What implementations of functions may use beside their arguments, and what they owe: to tell what they are about to do.

use gavel_golang::work::{Interrupt, Work};

use crate::error::EvalError;
use crate::value::Arena;

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

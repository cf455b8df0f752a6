//! The context of a call: the arena for results, and the counter of the implementation's work.

use bumpalo::collections::Vec as ArenaVec;
use gavel_golang::regex::{Regex, RegexError};
use gavel_golang::work::Work;

use crate::error::EvalError;
use crate::value::{Arena, Host, Value};

/// The units of work that are counted for each element added to a list.
const WORK_PER_ELEMENT: usize = 32;

/// The memory that a pattern takes while it is parsed, for each of its bytes.
const BYTES_PER_PATTERN_BYTE: usize = 256;

/// The context of a call. The implementation of the called function receives it.
///
/// An implementation that may take more than about a millisecond announces its [`work`](Self::work) in pieces. An implementation whose
/// result may be much larger than its arguments [reserves](Self::reserve) memory before it computes the result.
#[derive(Debug)]
pub struct CallContext<'a> {
    /// The arena that holds computed values.
    pub arena: &'a Arena,
    host: Host<'a>,
}

impl<'a> CallContext<'a> {
    /// A context for computing in this arena, without a time limit.
    pub fn new(arena: &'a Arena) -> Self {
        CallContext::of_host(arena, Host::default())
    }

    /// A context for computing in this arena for a host.
    pub(crate) fn of_host(arena: &'a Arena, host: Host<'a>) -> Self {
        CallContext { arena, host }
    }

    /// Announces units of work, each about a nanosecond.
    ///
    /// # Errors
    ///
    /// The host interrupts the evaluation.
    #[inline]
    pub fn work(&self, units: usize) -> Result<(), EvalError> {
        Ok(self.host.spend(units)?)
    }

    /// The work counter of the context, for functions that take a [`Work`] instead of a context.
    pub fn work_counter(&self) -> &Work<'a> {
        &self.host
    }

    /// The host of the evaluation, for functions that compare values.
    pub fn host(&self) -> &Host<'a> {
        &self.host
    }

    /// Checks that the arena has room for `bytes` more bytes, and announces the work of filling them.
    ///
    /// # Errors
    ///
    /// The arena has no room for the bytes, or the host interrupts the evaluation.
    #[inline]
    pub fn reserve(&self, bytes: usize) -> Result<(), EvalError> {
        self.arena.reserve(bytes)?;
        self.work(bytes)
    }

    /// Parses a pattern that is only known at run time. The outer error ends the evaluation; the inner error is a fault of the pattern.
    ///
    /// # Errors
    ///
    /// The pattern could take more memory than an evaluation may use, or the host interrupts the evaluation.
    pub fn pattern(&self, pattern: &str) -> Result<Result<Regex, RegexError>, EvalError> {
        self.arena
            .reserve(pattern.len().saturating_mul(BYTES_PER_PATTERN_BYTE))?;
        match Regex::new_within(pattern, &self.host) {
            Err(error) if error.is_interrupted() => Err(EvalError::interrupted()),
            parsed => Ok(parsed),
        }
    }

    /// Announces the work of reading a value once.
    ///
    /// # Errors
    ///
    /// The host interrupts the evaluation.
    #[inline]
    pub fn look(&self, value: &Value<'_>) -> Result<(), EvalError> {
        self.work(value.work())
    }

    /// Adds an element to a list in the arena.
    ///
    /// # Errors
    ///
    /// The arena has no room for the element, or the host interrupts the evaluation.
    #[inline(always)]
    pub fn push<T>(&self, list: &mut ArenaVec<'a, T>, element: T) -> Result<(), EvalError> {
        if list.len() == list.capacity() {
            self.grow(list)?;
        }
        list.push(element);
        self.count_element()
    }

    /// Announces the work of adding an element to a list.
    #[inline(always)]
    pub(crate) fn count_element(&self) -> Result<(), EvalError> {
        self.work(WORK_PER_ELEMENT)
    }

    /// Makes room for more elements.
    #[cold]
    fn grow<T>(&self, list: &mut ArenaVec<'a, T>) -> Result<(), EvalError> {
        let grown = list.capacity().max(2).saturating_mul(2);
        self.reserve(grown.saturating_mul(size_of::<T>()))?;
        list.reserve(1);
        Ok(())
    }

    /// Checks the arena's memory limit, and asks the host at once whether to continue.
    ///
    /// # Errors
    ///
    /// The arena exceeds its limit, or the host interrupts the evaluation.
    #[cold]
    pub fn check(&self) -> Result<(), EvalError> {
        self.arena.reserve(0)?;
        Ok(self.host.ask()?)
    }
}

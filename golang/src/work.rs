//! Counted work, so that a caller can interrupt it, like Go's `context.Context`.

use std::cell::Cell;
use std::fmt;

/// Asks the host whether to stop, for example because a deadline has passed or a flag is set. From then on, every call returns true. `None`
/// never stops the work.
pub type Interrupt<'a> = Option<&'a (dyn Fn() -> bool + Sync)>;

/// The units of work after which the host is asked whether to stop. They take roughly a tenth of a millisecond.
const UNITS_PER_QUESTION: usize = 1 << 17;

/// The error of an operation that the host interrupted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("operation interrupted")]
pub struct Interrupted;

/// Counts the work of long operations, and asks the host from time to time whether to stop. A unit of work, such as reading a byte, takes
/// about a nanosecond.
pub struct Work<'a> {
    left: Cell<usize>,
    interrupt: Interrupt<'a>,
}

impl<'a> Work<'a> {
    /// Work that `interrupt` may stop.
    pub fn new(interrupt: Interrupt<'a>) -> Self {
        Work {
            left: Cell::new(UNITS_PER_QUESTION),
            interrupt,
        }
    }

    /// Work that nothing stops.
    pub fn unbounded() -> Self {
        Work::new(None)
    }

    /// Whether the host can stop the work.
    pub fn is_bounded(&self) -> bool {
        self.interrupt.is_some()
    }

    /// The units of work until the host is next asked whether to stop.
    pub fn left(&self) -> usize {
        self.left.get()
    }

    /// Counts units of work before the caller does them. Asks the host whether to stop if enough units were counted since the last
    /// question.
    ///
    /// # Errors
    ///
    /// The work is interrupted.
    #[inline]
    pub fn spend(&self, units: usize) -> Result<(), Interrupted> {
        match self.left.get().checked_sub(units) {
            Some(left) => {
                self.left.set(left);
                Ok(())
            }
            None => self.ask(),
        }
    }

    /// Asks the host at once whether to stop.
    ///
    /// # Errors
    ///
    /// The work is interrupted.
    #[cold]
    pub fn ask(&self) -> Result<(), Interrupted> {
        // If the caller continues despite an interrupt, the host is asked again at the next unit.
        self.left.set(0);
        if self.interrupt.is_some_and(|stop| stop()) {
            return Err(Interrupted);
        }
        self.left.set(UNITS_PER_QUESTION);
        Ok(())
    }
}

impl fmt::Debug for Work<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Work")
            .field("left", &self.left)
            .field("is_bounded", &self.is_bounded())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn the_interrupt_is_checked_by_work_done_and_stops_all_later_work() {
        let checks = AtomicUsize::new(0);
        let interrupt = || checks.fetch_add(1, Ordering::Relaxed) >= 2;
        let work = Work::new(Some(&interrupt));
        let mut done = 0_usize;
        while work.spend(64).is_ok() {
            done += 64;
        }
        let expected = 3 * UNITS_PER_QUESTION;
        assert!(done.abs_diff(expected) < 1_000, "{done}");
        assert_eq!(checks.load(Ordering::Relaxed), 3);
        assert_eq!(work.spend(1), Err(Interrupted));
    }

    #[test]
    fn work_without_an_interrupt_never_stops() {
        let work = Work::unbounded();
        assert!((0..100).all(|_| work.spend(usize::MAX).is_ok()));
    }
}

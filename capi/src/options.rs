//! The limits of a call: cost, memory, a deadline and a cancellation flag.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::callbacks::GavelCallbacks;
use crate::error::{Failure, GavelError, GavelErrorKind};
use crate::memory;

/// A flag that cancels calls. Soon after the flag is set, every call that uses it ends with an error.
#[derive(Debug, Default)]
pub struct GavelCancel(AtomicBool);

/// The limits of a call, and its callbacks. If all fields are zero, the cost limits of Kubernetes apply, and the call has no deadline, flag
/// or callbacks.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct GavelOptions {
    /// Whether `cost_limit` is set.
    pub has_cost_limit: bool,
    /// The cost limit in cost units. Depending on the function, it limits one evaluation, all rules of an object, or all expressions of a
    /// policy.
    pub cost_limit: i64,
    /// The memory limit of the values that `gavel_program_eval` computes, in bytes. 0 means 64 MiB.
    pub memory_limit: usize,
    /// The time limit of the call, in nanoseconds. 0 means no limit.
    pub timeout_nanos: u64,
    /// A flag that cancels the call. May be null. The flag must live as long as the call.
    pub cancel: *const GavelCancel,
    /// The callbacks.
    pub callbacks: GavelCallbacks,
}

/// The options of one call.
#[derive(Debug)]
pub(crate) struct Limits<'a> {
    /// The cost limit in cost units. `None` if the host set no limit.
    pub(crate) cost: Option<i64>,
    /// The memory limit in bytes. `None` if the host set no limit.
    pub(crate) memory: Option<usize>,
    /// The callbacks.
    pub(crate) callbacks: GavelCallbacks,
    deadline: Option<Instant>,
    cancel: Option<&'a GavelCancel>,
}

impl Limits<'_> {
    /// Reads the options of a call. Null means the defaults.
    ///
    /// # Safety
    ///
    /// `options` must be null or point to options whose flag lives as long as the result.
    pub(crate) unsafe fn read(options: *const GavelOptions) -> Self {
        // SAFETY: the caller vouches for the options.
        let Some(options) = (unsafe { memory::optional(options) }) else {
            return Limits {
                cost: None,
                memory: None,
                callbacks: GavelCallbacks::NONE,
                deadline: None,
                cancel: None,
            };
        };
        let timeout = Some(options.timeout_nanos).filter(|nanos| *nanos > 0);
        let deadline = |nanos| Instant::now().checked_add(Duration::from_nanos(nanos));
        Limits {
            cost: options.has_cost_limit.then_some(options.cost_limit),
            memory: Some(options.memory_limit).filter(|bytes| *bytes > 0),
            callbacks: options.callbacks,
            deadline: timeout.and_then(deadline),
            // SAFETY: the caller vouches for the flag.
            cancel: unsafe { memory::optional(options.cancel) },
        }
    }

    /// The interrupt of the call. `None` if the call has neither a deadline nor a flag.
    pub(crate) fn interrupt<'f>(
        &self,
        is_over: &'f (dyn Fn() -> bool + Sync),
    ) -> Option<&'f (dyn Fn() -> bool + Sync)> {
        self.may_end().then_some(is_over)
    }

    /// Fails if the call was interrupted. The result of an interrupted call is not valid.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        match self.may_end() && self.is_over() {
            true => Err(GavelError::new(
                GavelErrorKind::Interrupted,
                "operation interrupted",
            )),
            false => Ok(()),
        }
    }

    /// Whether the call must end.
    pub(crate) fn is_over(&self) -> bool {
        let cancelled = |cancel: &GavelCancel| cancel.0.load(Ordering::Relaxed);
        self.cancel.is_some_and(cancelled)
            || self
                .deadline
                .is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// Whether the call has a deadline or a flag.
    fn may_end(&self) -> bool {
        self.deadline.is_some() || self.cancel.is_some()
    }
}

/// Creates a flag that is not set.
#[unsafe(no_mangle)]
pub extern "C" fn gavel_cancel_new() -> *mut GavelCancel {
    Box::into_raw(Box::default())
}

/// Sets or clears a flag. Any thread can do so at any time.
///
/// # Safety
///
/// `cancel` must be null or a flag that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gavel_cancel_set(cancel: *const GavelCancel, cancelled: bool) {
    // SAFETY: the caller vouches for the flag.
    if let Some(cancel) = unsafe { memory::optional(cancel) } {
        cancel.0.store(cancelled, Ordering::Relaxed);
    }
}

/// Frees a flag; null is ignored.
///
/// # Safety
///
/// The flag must come from `gavel_cancel_new`, and no call may use it afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gavel_cancel_free(cancel: *mut GavelCancel) {
    // SAFETY: the caller gives up the flag.
    unsafe { memory::free(cancel) };
}

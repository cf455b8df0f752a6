//! Where decisions are computed.
//!
//! Most take microseconds: less than handing them to another thread and back. Those run where the request was read. But
//! policies may ask for much, and whoever sends a large object can make them take long; what has not ended after a
//! millisecond is given up, and begun anew on a thread of its own, of which there is a bounded number. So no request
//! keeps the threads that read and write from the others for longer than that.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::Semaphore;

use crate::config::Limits;
use crate::http::ApiError;

/// The longest that an evaluation may hold a thread that reads and writes.
const INLINE: Duration = Duration::from_millis(1);

/// Bodies up to this many bytes are read in well under a millisecond; with larger ones a thread of its own begins.
const INLINE_BODY: usize = 64 << 10;

/// The threads for long evaluations.
#[derive(Debug)]
pub(crate) struct Evaluations {
    running: Arc<Semaphore>,
    waiting: Semaphore,
}

impl Evaluations {
    pub(crate) fn new(limits: &Limits) -> Self {
        let at_least_one = |count: usize| count.clamp(1, Semaphore::MAX_PERMITS);
        Evaluations {
            running: Arc::new(Semaphore::new(at_least_one(limits.evaluations))),
            waiting: Semaphore::new(at_least_one(limits.waiting)),
        }
    }

    /// Decides about a body of `size` bytes. `decide` is given the time by which it must be done; where it says None it was
    /// not, and is asked again on a thread of its own with more time. The last time it is asked it must decide.
    ///
    /// # Errors
    ///
    /// What `decide` finds; 429 where too many wait already; 500 where anything panics.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        size: usize,
        deadline: Instant,
        decide: impl Fn(Time) -> Result<Option<T>, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        if size <= INLINE_BODY {
            let now = Instant::now();
            let time = Time {
                until: now.checked_add(INLINE).unwrap_or(now),
                last: false,
            };
            if let Some(decided) = caught(|| decide(time))?? {
                return Ok(decided);
            }
        }
        let waiting = self.waiting.try_acquire();
        let waiting = waiting.map_err(|_| ApiError::too_many_requests())?;
        let running = Arc::clone(&self.running).acquire_owned().await;
        drop(waiting);
        let time = Time {
            until: deadline,
            last: true,
        };
        let decided = tokio::task::spawn_blocking(move || {
            let decided = caught(|| decide(time));
            drop(running);
            decided
        });
        let decided = decided.await.map_err(ApiError::internal)???;
        decided.ok_or_else(|| ApiError::internal("no decision was reached"))
    }
}

/// How long an attempt may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Time {
    /// When it must be done.
    until: Instant,
    /// Whether there is no other attempt.
    last: bool,
}

impl Time {
    /// Begins to look at the time.
    pub(crate) fn watch(self) -> Watch {
        Watch {
            time: self,
            was_over: AtomicBool::new(false),
        }
    }
}

/// Looks at the time for an evaluation.
#[derive(Debug)]
pub(crate) struct Watch {
    time: Time,
    was_over: AtomicBool,
}

impl Watch {
    /// Whether the evaluation must end.
    pub(crate) fn is_over(&self) -> bool {
        let is_over = Instant::now() >= self.time.until;
        self.was_over.fetch_or(is_over, Ordering::Relaxed);
        is_over
    }

    /// Whether what was evaluated counts: it was not ended, or will not be asked again.
    pub(crate) fn counts(&self) -> bool {
        self.time.last || !self.was_over.load(Ordering::Relaxed)
    }
}

/// A panic is a bug; it must not take the connection with the requests of others down.
fn caught<T>(run: impl FnOnce() -> T) -> Result<T, ApiError> {
    catch_unwind(AssertUnwindSafe(run)).map_err(|_| ApiError::internal("the evaluation panicked"))
}

//! Schedules decisions: on the thread that read the request, or on another thread with a deadline.
//!
//! Most decisions take microseconds, less than a switch to another thread and back. So a decision is first attempted on the thread that
//! read the request. But policies may be slow, and a large object can make any policy slow. Therefore a decision is attempted up to three
//! times, each time with a longer time limit and fewer concurrent decisions:
//!
//! 1. inline, for a millisecond, if the body is small;
//! 2. on a thread of its own, for [`TURN`]: every request gets this turn, in the order of arrival;
//! 3. on a thread of its own until the deadline, in one of a limited number of slots. No user and no policy can hold more than half of
//!    them, or more than half of the places of the requests that wait for them.
//!
//! A decision stops when its deadline has passed, or when its client is gone.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::Semaphore;

use crate::config::Limits;
use crate::status::ApiError;
use crate::telemetry::Metrics;

mod slots;

use slots::Slots;

/// The time limit of an evaluation on a thread that serves connections.
const INLINE: Duration = Duration::from_millis(1);

/// The size limit, in bytes, of bodies that are read on the thread of their connection. Reading such a body takes well under a millisecond.
/// Larger bodies are read on another thread.
pub(crate) const INLINE_BODY: usize = 128 << 10;

/// The time limit of the second attempt. Reading the body counts, but is not interrupted.
const TURN: Duration = Duration::from_millis(20);

/// The threads for evaluations that take longer than a millisecond.
#[derive(Debug)]
pub(crate) struct Evaluations {
    turns: Arc<Semaphore>,
    slots: Arc<Slots>,
    /// The places of requests that wait for a turn, or have it.
    waiting: Semaphore,
    /// The places of requests that wait for a slot. They are others than those for turns, so that requests that need only a turn get it.
    waiting_long: Arc<Slots>,
    metrics: Arc<Metrics>,
}

impl Evaluations {
    pub(crate) fn new(limits: &Limits, metrics: Arc<Metrics>) -> Self {
        let at_least_one = |count: usize| count.clamp(1, Semaphore::MAX_PERMITS);
        Evaluations {
            turns: Arc::new(Semaphore::new(at_least_one(limits.evaluations))),
            slots: Arc::new(Slots::new(limits.evaluations)),
            waiting: Semaphore::new(at_least_one(limits.waiting)),
            waiting_long: Arc::new(Slots::new(limits.waiting)),
            metrics,
        }
    }

    /// Decides a request. With `inline`, the first attempt is made on this thread. `decide` receives the time by which it must return. If it
    /// returns [`Outcome::Unfinished`], it is called again with more time; the last call must decide. If it lacks an answer of the live source,
    /// this function returns `None`. If this future is dropped, a running attempt stops.
    ///
    /// # Errors
    ///
    /// The error of `decide`; 429 if too many requests wait already, of all users or of this one, or if no thread becomes free in time before
    /// the deadline; 500 if `decide` panics, or if the last attempt does not decide.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        inline: bool,
        deadline: Instant,
        decide: impl Fn(&Turn) -> Result<Outcome<T>, ApiError> + Send + Sync + 'static,
    ) -> Result<Option<T>, ApiError> {
        let client = Client::default();
        if inline {
            let turn = client.turn(INLINE, deadline);
            match caught(|| decide(&turn))?? {
                Outcome::Decided(decided) => return Ok(Some(decided)),
                Outcome::Lacking => return Ok(None),
                Outcome::Unfinished(_) => {}
            }
        }
        let waiting = self.waiting.try_acquire();
        let waiting = waiting.map_err(|_| ApiError::too_many_requests())?;
        let decide = Arc::new(decide);
        let began = Instant::now();
        let queued = self.metrics.queued();
        let slot = within(deadline, Arc::clone(&self.turns).acquire_owned()).await?;
        self.metrics.waited(began.elapsed());
        let flow = match on_thread(slot, &decide, client.turn(TURN, deadline)).await? {
            Outcome::Decided(decided) => return Ok(Some(decided)),
            Outcome::Lacking => return Ok(None),
            Outcome::Unfinished(flow) => flow,
        };
        let place = self.waiting_long.try_acquire(flow);
        let place = place.ok_or_else(ApiError::too_many_requests)?;
        drop(waiting);
        let began = Instant::now();
        let slot = within(deadline, self.slots.acquire(flow)).await?;
        self.metrics.waited(began.elapsed());
        drop((place, queued));
        match on_thread(slot, &decide, client.last_turn(deadline)).await? {
            Outcome::Decided(decided) => Ok(Some(decided)),
            Outcome::Lacking => Ok(None),
            Outcome::Unfinished(_) => Err(ApiError::internal("no decision was reached")),
        }
    }
}

/// Waits for a slot, at most until [`TURN`] before the deadline.
async fn within<T>(deadline: Instant, slot: impl Future<Output = T>) -> Result<T, ApiError> {
    let latest = deadline.checked_sub(TURN).unwrap_or(deadline);
    let slot = tokio::time::timeout_at(latest.into(), slot).await;
    slot.map_err(|_| ApiError::too_many_requests())
}

/// Makes an attempt on another thread. The slot is released when the attempt ends, even if the client is gone earlier.
async fn on_thread<T: Send + 'static, S: Send + 'static>(
    slot: S,
    decide: &Arc<impl Fn(&Turn) -> Result<Outcome<T>, ApiError> + Send + Sync + 'static>,
    turn: Turn,
) -> Result<Outcome<T>, ApiError> {
    let decide = Arc::clone(decide);
    let attempt = tokio::task::spawn_blocking(move || {
        let outcome = caught(|| decide(&turn));
        drop(slot);
        outcome
    });
    attempt.await.map_err(ApiError::internal)??
}

/// The outcome of an attempt.
#[derive(Debug)]
pub(crate) enum Outcome<T> {
    /// The decision.
    Decided(T),
    /// The decision needs an answer of the live source that has not been fetched yet.
    Lacking,
    /// The attempt was interrupted before it decided. The flow names the user and the policy to which the time is charged.
    Unfinished(Flow),
}

/// The user and the policy that a long evaluation is charged to, as hashes, so that names take no memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Flow {
    user: u64,
    policy: u64,
}

impl Flow {
    /// The flow of this user and this policy. The policy is the one whose evaluation took long.
    pub(crate) fn new(user: &str, policy: &str) -> Self {
        let hash = |name: &str| {
            let mut hasher = DefaultHasher::new();
            name.hash(&mut hasher);
            hasher.finish()
        };
        Flow {
            user: hash(user),
            policy: hash(policy),
        }
    }
}

/// The client that waits for a decision. Dropping this value stops the running attempt.
#[derive(Debug, Default)]
struct Client {
    gone: Arc<AtomicBool>,
}

impl Client {
    fn turn(&self, time: Duration, deadline: Instant) -> Turn {
        let end = Instant::now().checked_add(time);
        Turn {
            last: false,
            ..self.last_turn(end.map_or(deadline, |end| end.min(deadline)))
        }
    }

    fn last_turn(&self, until: Instant) -> Turn {
        Turn {
            until,
            last: true,
            gone: Arc::clone(&self.gone),
            was_over: AtomicBool::new(false),
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.gone.store(true, Ordering::Relaxed);
    }
}

/// One attempt: its time limit, and whether it is the last.
#[derive(Debug)]
pub(crate) struct Turn {
    until: Instant,
    /// Whether this is the last attempt.
    last: bool,
    gone: Arc<AtomicBool>,
    was_over: AtomicBool,
}

impl Turn {
    /// Whether the attempt must stop now.
    pub(crate) fn is_over(&self) -> bool {
        let is_over = self.gone.load(Ordering::Relaxed) || Instant::now() >= self.until;
        self.was_over.fetch_or(is_over, Ordering::Relaxed);
        is_over
    }

    /// Whether an evaluation was interrupted.
    pub(crate) fn was_over(&self) -> bool {
        self.was_over.load(Ordering::Relaxed)
    }

    /// Whether the result counts: the client still waits, and either no evaluation was interrupted or this is the last attempt.
    pub(crate) fn counts(&self) -> bool {
        !self.gone.load(Ordering::Relaxed) && (self.last || !self.was_over())
    }
}

/// Runs a function and converts a panic to an error. A panic is a bug, but it must not close a connection that carries other requests.
fn caught<T>(run: impl FnOnce() -> T) -> Result<T, ApiError> {
    catch_unwind(AssertUnwindSafe(run)).map_err(|_| ApiError::internal("the evaluation panicked"))
}

#[cfg(test)]
mod tests {
    use tokio::task::JoinSet;
    use tokio::time::timeout;

    use super::*;

    #[tokio::test]
    async fn a_user_whose_requests_wait_leaves_places_to_others() {
        let limits = Limits {
            evaluations: 1,
            waiting: 2,
            ..Limits::default()
        };
        let evaluations = Arc::new(Evaluations::new(&limits, Arc::new(Metrics::new())));
        let deadline = Instant::now() + Duration::from_secs(3_600);
        let patience = Duration::from_secs(30);
        let began = Arc::new(Semaphore::new(0));
        let mut mallory = JoinSet::new();
        let send = |mallory: &mut JoinSet<_>| {
            let (evaluations, began) = (Arc::clone(&evaluations), Arc::clone(&began));
            let decide = move |turn: &Turn| {
                if !turn.last {
                    return Ok(Outcome::Unfinished(Flow::new("mallory", "slow")));
                }
                began.add_permits(1);
                while !turn.is_over() {
                    std::thread::sleep(Duration::from_millis(1));
                }
                Ok(Outcome::Decided(()))
            };
            mallory.spawn(async move { evaluations.run(false, deadline, decide).await });
        };
        // The first request has a slot, one of the others waits for it, and the other is refused.
        send(&mut mallory);
        let holds = timeout(patience, began.acquire()).await;
        holds.unwrap().unwrap().forget();
        send(&mut mallory);
        send(&mut mallory);
        let refused = timeout(patience, mallory.join_next()).await.unwrap();
        let refused = refused.unwrap().unwrap();
        assert_eq!(refused, Err(ApiError::too_many_requests()));
        let alice = |_: &Turn| Ok(Outcome::Decided("decided"));
        let decided = evaluations.run(false, deadline, alice).await;
        assert_eq!(decided, Ok(Some("decided")));
        assert_eq!(mallory.len(), 2);
    }
}

//! What a connection is doing, so that it can be closed when it does nothing.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

/// The requests of a connection.
#[derive(Debug)]
pub(super) struct Activity {
    opened: Instant,
    served: AtomicBool,
    first: Notify,
    in_flight: AtomicUsize,
    /// When the last request was answered: milliseconds since the connection was opened.
    answered: AtomicU64,
}

impl Activity {
    pub(super) fn new() -> Self {
        Activity {
            opened: Instant::now(),
            served: AtomicBool::new(false),
            first: Notify::new(),
            in_flight: AtomicUsize::new(0),
            answered: AtomicU64::new(0),
        }
    }

    /// A request has arrived, with all of its head.
    pub(super) fn begin(&self) {
        self.in_flight.fetch_add(1, Ordering::Relaxed);
        if !self.served.swap(true, Ordering::Relaxed) {
            self.first.notify_one();
        }
    }

    /// Ends when a request has arrived.
    pub(super) async fn first_request(&self) {
        if !self.served.load(Ordering::Relaxed) {
            self.first.notified().await;
        }
    }

    /// A request has been answered, or its client has gone.
    pub(super) fn end(&self) {
        let age = u64::try_from(self.opened.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.answered.store(age, Ordering::Relaxed);
        self.in_flight.fetch_sub(1, Ordering::Relaxed);
    }

    /// Whether the connection should be closed: no request has come within `first`, or none for the time `idle` since
    /// the last one.
    pub(super) fn is_over(&self, first: Duration, idle: Duration) -> bool {
        if self.in_flight.load(Ordering::Relaxed) > 0 {
            return false;
        }
        let age = self.opened.elapsed();
        match self.served.load(Ordering::Relaxed) {
            false => age >= first,
            true => {
                let answered = Duration::from_millis(self.answered.load(Ordering::Relaxed));
                age.saturating_sub(answered) >= idle
            }
        }
    }
}

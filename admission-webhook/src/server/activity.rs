//! The activity of a connection, by which connections that are idle or slow are found and closed.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

/// How long a client may take to send its first request or a body, or to take an answer, while others wait: new connections at the
/// connection limit, or the shutdown.
pub(super) const PATIENCE: Duration = Duration::from_secs(1);

/// The phase of a connection. In HTTP/1.1, a connection handles one request at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// No request has arrived yet.
    New,
    /// The last request has been answered, and no other has arrived.
    Idle,
    /// The body of a request is arriving.
    Receiving,
    /// The answer to a request is being sent.
    Answering,
    /// A request is being decided.
    Working,
}

impl Phase {
    const ALL: [Phase; 5] = [
        Phase::New,
        Phase::Idle,
        Phase::Receiving,
        Phase::Answering,
        Phase::Working,
    ];
}

/// The rank of a connection that can be closed to make room for another; the lowest rank is closed first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Rank {
    /// No request has arrived within [`PATIENCE`].
    Silent,
    /// The last request has been answered, and no other has arrived.
    Idle,
    /// The connection was opened just now. Its first request may be on its way.
    New,
    /// A body is arriving, or an answer is being sent, for longer than [`PATIENCE`].
    Slow,
}

/// The phase of a connection, and when the phase began.
#[derive(Debug)]
pub(super) struct Activity {
    opened: Instant,
    phase: AtomicU8,
    /// When the phase began, in milliseconds since the connection was opened.
    since: AtomicU64,
    /// The number of requests that have begun.
    requests: AtomicU64,
    first: Notify,
    close: Notify,
}

impl Activity {
    pub(super) fn new() -> Self {
        Activity {
            opened: Instant::now(),
            phase: AtomicU8::new(Phase::New as u8),
            since: AtomicU64::new(0),
            requests: AtomicU64::new(0),
            first: Notify::new(),
            close: Notify::new(),
        }
    }

    /// Records that the head of a request has arrived. Returns the number of the request.
    pub(super) fn begin(&self) -> u64 {
        if self.phase() == Phase::New {
            self.first.notify_one();
        }
        self.enter(Phase::Receiving);
        let before = self.requests.fetch_add(1, Ordering::Relaxed);
        before.wrapping_add(1)
    }

    /// Records that the body of the request has arrived, or that no handler will read it.
    pub(super) fn received(&self) {
        if self.phase() == Phase::Receiving {
            self.enter(Phase::Working);
        }
    }

    /// Records that the request has been decided, and that its answer is being sent.
    pub(super) fn answer(&self) {
        self.enter(Phase::Answering);
    }

    /// Records that the answer to a request has been sent, or that the client has gone. A client that does not wait for answers may have
    /// begun another request already; then the connection is not idle.
    pub(super) fn end(&self, request: u64) {
        if self.requests.load(Ordering::Relaxed) == request {
            self.enter(Phase::Idle);
        }
    }

    /// Returns when a request has arrived.
    pub(super) async fn first_request(&self) {
        if self.phase() == Phase::New {
            self.first.notified().await;
        }
    }

    /// Asks the connection to close.
    pub(super) fn close(&self) {
        self.close.notify_one();
    }

    /// Returns when the connection is asked to close while it has a rank.
    pub(super) async fn must_close(&self) {
        loop {
            self.close.notified().await;
            if self.rank().is_some() {
                return;
            }
        }
    }

    /// The rank of the connection, and when its phase began. `None` while a request is being decided, and while a body arrives or an answer
    /// is sent fast enough.
    pub(super) fn rank(&self) -> Option<(Rank, Instant)> {
        let since = self.since();
        let is_slow = since.elapsed() >= PATIENCE;
        let rank = match self.phase() {
            Phase::New if is_slow => Rank::Silent,
            Phase::New => Rank::New,
            Phase::Idle => Rank::Idle,
            Phase::Receiving | Phase::Answering if is_slow => Rank::Slow,
            Phase::Receiving | Phase::Answering | Phase::Working => return None,
        };
        Some((rank, since))
    }

    /// Whether the connection should be closed: its client has not sent the first request or not taken an answer within `first`, or it has
    /// been idle for `idle`.
    pub(super) fn is_over(&self, first: Duration, idle: Duration) -> bool {
        let age = self.since().elapsed();
        match self.phase() {
            Phase::New | Phase::Answering => age >= first,
            Phase::Idle => age >= idle,
            Phase::Receiving | Phase::Working => false,
        }
    }

    /// Whether an answer is being sent.
    pub(super) fn is_answering(&self) -> bool {
        self.phase() == Phase::Answering
    }

    /// When the phase began.
    fn since(&self) -> Instant {
        let since = Duration::from_millis(self.since.load(Ordering::Relaxed));
        self.opened.checked_add(since).unwrap_or(self.opened)
    }

    fn phase(&self) -> Phase {
        let phase = self.phase.load(Ordering::Relaxed);
        let mut phases = Phase::ALL.into_iter();
        phases
            .find(|each| *each as u8 == phase)
            .unwrap_or(Phase::Working)
    }

    fn enter(&self, phase: Phase) {
        let age = u64::try_from(self.opened.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.since.store(age, Ordering::Relaxed);
        self.phase.store(phase as u8, Ordering::Relaxed);
    }
}

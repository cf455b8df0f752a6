//! The activity of a connection, so that it can be closed when it is idle.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

/// The activity of a connection. HTTP/1.1 handles one request at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Phase {
    /// No request has arrived yet.
    New,
    /// The last request is answered, and no other has arrived.
    Idle,
    /// The body of a request is arriving.
    Receiving,
    /// A request is being decided.
    Working,
}

impl Phase {
    const ALL: [Phase; 4] = [Phase::New, Phase::Idle, Phase::Receiving, Phase::Working];
}

/// The phase of a connection, and since when it is in that phase.
#[derive(Debug)]
pub(super) struct Activity {
    opened: Instant,
    phase: AtomicU8,
    /// When the phase began: milliseconds since the connection was opened.
    since: AtomicU64,
    first: Notify,
    close: Notify,
}

impl Activity {
    pub(super) fn new() -> Self {
        Activity {
            opened: Instant::now(),
            phase: AtomicU8::new(Phase::New as u8),
            since: AtomicU64::new(0),
            first: Notify::new(),
            close: Notify::new(),
        }
    }

    /// A request has arrived, with all of its head.
    pub(super) fn begin(&self) {
        if self.phase() == Phase::New {
            self.first.notify_one();
        }
        self.enter(Phase::Receiving);
    }

    /// The body of the request has arrived, or nobody wants it.
    pub(super) fn received(&self) {
        if self.phase() == Phase::Receiving {
            self.enter(Phase::Working);
        }
    }

    /// The request has been answered, or its client has gone.
    pub(super) fn end(&self) {
        self.enter(Phase::Idle);
    }

    /// Ends when a request has arrived.
    pub(super) async fn first_request(&self) {
        if self.phase() == Phase::New {
            self.first.notified().await;
        }
    }

    /// Tells the connection to make room for another.
    pub(super) fn close(&self) {
        self.close.notify_one();
    }

    /// Returns when the connection was asked to make room for another and has no request in progress.
    pub(super) async fn must_close(&self) {
        loop {
            self.close.notified().await;
            if self.phase() != Phase::Working {
                return;
            }
        }
    }

    /// How soon the connection should make room for another: connections that never sent a request first, then idle ones, then
    /// those that are still sending; among equals the one that has been so for longest. `None` while it decides a request.
    pub(super) fn rank(&self) -> Option<(Phase, Instant)> {
        let phase = self.phase();
        let since = Duration::from_millis(self.since.load(Ordering::Relaxed));
        let since = self.opened.checked_add(since).unwrap_or(self.opened);
        (phase != Phase::Working).then_some((phase, since))
    }

    /// Whether the connection should be closed: no request has come within `first`, or none for the time `idle` since
    /// the last one.
    pub(super) fn is_over(&self, first: Duration, idle: Duration) -> bool {
        match self.rank() {
            Some((Phase::New, since)) => since.elapsed() >= first,
            Some((Phase::Idle, since)) => since.elapsed() >= idle,
            _ => false,
        }
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

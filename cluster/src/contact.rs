//! Whether the API server is heard of, and since when it is not.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long a failure counts that does not come again: longer than kube's longest pause between tries. A watch that resumes where
/// it was reports nothing before an object changes.
const EXPIRES: Duration = Duration::from_secs(120);

/// Since when which watch has failed, and why. Shared by all watches.
#[derive(Debug, Default)]
pub(crate) struct Contact {
    failing: Mutex<BTreeMap<String, Failing>>,
}

/// A watch that fails.
#[derive(Debug)]
struct Failing {
    since: Instant,
    last: Instant,
    error: String,
}

impl Contact {
    /// Something was heard of what is watched.
    pub(crate) fn heard(&self, what: &str) {
        let lost = self.lock().remove(what);
        if let Some(lost) = lost {
            let seconds = lost.since.elapsed().as_secs();
            tracing::info!(what, seconds, "watched again");
        }
    }

    /// A watch has failed; it will be tried again.
    pub(crate) fn failed(&self, what: &str, error: &str) {
        let mut failing = self.lock();
        let now = Instant::now();
        if let Some(known) = failing.get_mut(what) {
            known.last = now;
            error.clone_into(&mut known.error);
            return;
        }
        tracing::warn!(what, error, "not watched; the last known state is served");
        let error = error.to_owned();
        let new = Failing {
            since: now,
            last: now,
            error,
        };
        failing.insert(what.to_owned(), new);
    }

    /// Nothing is watched any more under this name.
    pub(crate) fn forget(&self, what: &str) {
        self.lock().remove(what);
    }

    /// How long the longest failing watch has failed.
    pub(crate) fn age(&self) -> Option<Duration> {
        let failing = self.lock();
        let since = failing.values().map(|watch| watch.since).min()?;
        Some(since.elapsed())
    }

    /// Which watches fail.
    pub(crate) fn notes(&self) -> Vec<String> {
        let failing = self.lock();
        let notes = failing.iter().map(|(what, Failing { since, error, .. })| {
            let seconds = since.elapsed().as_secs();
            format!("{what} has not been heard of for {seconds} s: {error}")
        });
        notes.collect()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Failing>> {
        let mut failing = self.failing.lock().unwrap_or_else(PoisonError::into_inner);
        failing.retain(|_, watch| watch.last.elapsed() < EXPIRES);
        failing
    }
}

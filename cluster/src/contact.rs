//! Whether the API server is heard of, and since when it is not.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Since when which watch has failed, and why. Shared by all watches.
#[derive(Debug, Default)]
pub(crate) struct Contact {
    failing: Mutex<BTreeMap<String, (Instant, String)>>,
}

impl Contact {
    /// Something was heard of what is watched.
    pub(crate) fn heard(&self, what: &str) {
        let lost = self.lock().remove(what);
        if let Some((since, _)) = lost {
            let seconds = since.elapsed().as_secs();
            tracing::info!(what, seconds, "watched again");
        }
    }

    /// A watch has failed; it will be tried again.
    pub(crate) fn failed(&self, what: &str, error: &str) {
        let mut failing = self.lock();
        if let Some((_, last)) = failing.get_mut(what) {
            error.clone_into(last);
            return;
        }
        tracing::warn!(what, error, "not watched; the last known state is served");
        failing.insert(what.to_owned(), (Instant::now(), error.to_owned()));
    }

    /// Nothing is watched any more under this name.
    pub(crate) fn forget(&self, what: &str) {
        self.lock().remove(what);
    }

    /// How long the longest failing watch has failed.
    pub(crate) fn age(&self) -> Option<Duration> {
        let failing = self.lock();
        let since = failing.values().map(|(since, _)| *since).min()?;
        Some(since.elapsed())
    }

    /// Which watches fail.
    pub(crate) fn notes(&self) -> Vec<String> {
        let failing = self.lock();
        let notes = failing.iter().map(|(what, (since, error))| {
            let seconds = since.elapsed().as_secs();
            format!("{what} has not been heard of for {seconds} s: {error}")
        });
        notes.collect()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, (Instant, String)>> {
        self.failing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

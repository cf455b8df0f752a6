//! Whether the API server is reachable, and since when it has been unreachable.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use kube::Client;

/// The failing watches, each with its error and the time of its first failure. All watches share this value.
#[derive(Debug, Default)]
pub(crate) struct Contact {
    failing: Mutex<BTreeMap<String, Failing>>,
}

/// A failing watch.
#[derive(Debug)]
struct Failing {
    since: Instant,
    error: String,
}

impl Contact {
    /// Records that a watch has received an answer.
    pub(crate) fn heard(&self, what: &str) {
        let lost = self.lock().remove(what);
        if let Some(lost) = lost {
            let seconds = lost.since.elapsed().as_secs();
            tracing::info!(what, seconds, "watch restored");
        }
    }

    /// Records that a watch has failed; it will be tried again.
    pub(crate) fn failed(&self, what: &str, error: &str) {
        let mut failing = self.lock();
        if let Some(known) = failing.get_mut(what) {
            error.clone_into(&mut known.error);
            return;
        }
        tracing::warn!(what, error, "watch failed; the last known state is served");
        let error = error.to_owned();
        let new = Failing {
            since: Instant::now(),
            error,
        };
        failing.insert(what.to_owned(), new);
    }

    /// Records that a watch has ended.
    pub(crate) fn forget(&self, what: &str) {
        self.lock().remove(what);
    }

    /// How long the longest failing watch or check of the API server has failed; `None` if nothing fails.
    pub(crate) fn age(&self) -> Option<Duration> {
        let failing = self.lock();
        let since = failing.values().map(|watch| watch.since).min()?;
        Some(since.elapsed())
    }

    /// The failing watches with their errors.
    pub(crate) fn notes(&self) -> Vec<String> {
        let failing = self.lock();
        let notes = failing.iter().map(|(what, Failing { since, error, .. })| {
            let seconds = since.elapsed().as_secs();
            format!("{what} has not been heard of for {seconds} s: {error}")
        });
        notes.collect()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Failing>> {
        self.failing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A client for one watch. The client records every successful answer of the API server in `contact`. Recording only events would not
/// suffice: a resumed watch receives no event until an object changes, although the API server has answered.
pub(crate) fn heard_by(client: &Client, contact: &Arc<Contact>, what: &str) -> Client {
    let namespace = client.default_namespace().to_owned();
    let (client, contact, what) = (client.clone(), Arc::clone(contact), what.to_owned());
    let service = tower::service_fn(move |request| {
        let (client, contact, what) = (client.clone(), Arc::clone(&contact), what.clone());
        async move {
            let answered = client.send(request).await;
            if answered
                .as_ref()
                .is_ok_and(|answer| answer.status().is_success())
            {
                contact.heard(&what);
            }
            answered
        }
    });
    Client::new(service, namespace)
}

//! Whether the API server is reachable, and since when it has been unreachable.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use kube::Client;

/// What fails (watches and other requests), each with its error and the time of its first failure. All watches share this value.
#[derive(Debug, Default)]
pub(crate) struct Contact {
    failing: Mutex<BTreeMap<String, Failing>>,
    /// The watches and kinds of params of kinds that the API server does not serve.
    unserved: Mutex<BTreeSet<String>>,
}

/// A failing watch or request.
#[derive(Debug)]
struct Failing {
    since: Instant,
    error: String,
}

impl Contact {
    /// Records that a watch or request has received an answer.
    pub(crate) fn heard(&self, what: &str) {
        self.lock_unserved().remove(what);
        let lost = self.lock().remove(what);
        if let Some(lost) = lost {
            let seconds = lost.since.elapsed().as_secs();
            tracing::info!(what, seconds, "restored");
        }
    }

    /// Records that a watch has failed; it will be tried again.
    pub(crate) fn failed(&self, what: &str, error: &str) {
        let effect = "watch failed, and is retried; the objects that were read last stay in force";
        self.failed_with(what, error, effect);
    }

    /// Records that a request has failed. The first failure is logged with its effect.
    pub(crate) fn failed_with(&self, what: &str, error: &str, effect: &'static str) {
        let mut failing = self.lock();
        if let Some(known) = failing.get_mut(what) {
            error.clone_into(&mut known.error);
            return;
        }
        tracing::warn!(what, error, "{effect}");
        let error = error.to_owned();
        let new = Failing {
            since: Instant::now(),
            error,
        };
        failing.insert(what.to_owned(), new);
    }

    /// Records that the API server does not serve the kind of a watch. The API server counts as reachable.
    pub(crate) fn unserved(&self, what: &str) {
        self.lock().remove(what);
        if self.lock_unserved().insert(what.to_owned()) {
            tracing::warn!(
                what,
                "the cluster does not serve this kind; is its CustomResourceDefinition installed?"
            );
        }
    }

    /// Records that a watch has ended.
    pub(crate) fn forget(&self, what: &str) {
        self.lock_unserved().remove(what);
        self.lock().remove(what);
    }

    /// Whether requests of this name fail.
    pub(crate) fn fails(&self, what: &str) -> bool {
        self.lock().contains_key(what)
    }

    /// How long the longest failing watch or request has failed; `None` if nothing fails.
    pub(crate) fn age(&self) -> Option<Duration> {
        let failing = self.lock();
        let since = failing.values().map(|watch| watch.since).min()?;
        Some(since.elapsed())
    }

    /// The watches that have not listed their objects yet, those of kinds that the API server does not serve, and the failing watches with
    /// their errors. `awaited` names all watches that have not listed their objects yet.
    pub(crate) fn notes(&self, awaited: &BTreeSet<String>) -> Vec<String> {
        let (failing, unserved) = (self.lock(), self.lock_unserved());
        let awaited = awaited
            .iter()
            .filter(|what| !failing.contains_key(*what) && !unserved.contains(*what))
            .map(|what| format!("{what}: not listed yet"));
        let unserved = unserved
            .iter()
            .map(|what| format!("{what}: the cluster does not serve this kind"));
        let failures = failing.iter().map(|(what, Failing { since, error })| {
            let seconds = since.elapsed().as_secs();
            format!("{what}: failing for {seconds} s: {error}")
        });
        awaited.chain(unserved).chain(failures).collect()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Failing>> {
        self.failing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_unserved(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.unserved.lock().unwrap_or_else(PoisonError::into_inner)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_watch_has_one_note() {
        let contact = Contact::default();
        contact.failed("namespaces", "forbidden");
        let awaited = BTreeSet::from(["namespaces", "roles"].map(str::to_owned));
        let notes = contact.notes(&awaited);
        let [unlisted, failing] = &notes[..] else {
            panic!("{notes:?}");
        };
        assert_eq!(unlisted, "roles: not listed yet");
        assert!(failing.starts_with("namespaces: failing for "), "{failing}");
        assert!(failing.ends_with(" s: forbidden"), "{failing}");
        contact.heard("namespaces");
        assert_eq!(contact.notes(&BTreeSet::new()), [""; 0]);
    }

    #[test]
    fn a_kind_that_the_cluster_does_not_serve_is_no_failure() {
        let contact = Contact::default();
        let awaited = BTreeSet::from(["limits".to_owned()]);
        contact.unserved("limits");
        let expected = ["limits: the cluster does not serve this kind"];
        assert_eq!(contact.notes(&awaited), expected);
        assert_eq!(contact.notes(&BTreeSet::new()), expected);
        assert_eq!(contact.age(), None);
        contact.heard("limits");
        assert_eq!(contact.notes(&awaited), ["limits: not listed yet"]);
    }
}

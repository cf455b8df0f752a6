//! The policies that are served: read from manifests, and read again when these change.

use std::sync::{Arc, Mutex};

use arc_swap::{ArcSwap, Guard};

use crate::config::PolicySource;
use crate::telemetry::Metrics;

mod definitions;
mod manifests;
mod state;

pub(crate) use definitions::Findings;
use manifests::Manifests;
pub(crate) use state::State;

/// The state that requests are decided by, and where it comes from.
#[derive(Debug)]
pub(crate) struct Policies {
    source: PolicySource,
    current: ArcSwap<State>,
    /// What the manifests were when they were last read, whether they could be used or not; None where they could not even
    /// be read.
    seen: Mutex<Option<u64>>,
}

/// What came of reading manifests again.
#[derive(Debug)]
pub(crate) enum Reload {
    /// They are as they were.
    Unchanged,
    /// They are served now.
    Done,
    /// They cannot be used; what was served before still is.
    Failed(Vec<String>),
}

impl Policies {
    /// Reads the policies.
    ///
    /// # Errors
    ///
    /// What is wrong with them, each with file, line and column.
    pub(crate) fn load(source: PolicySource, metrics: &Metrics) -> Result<Self, Vec<String>> {
        let manifests = manifests(&source)?;
        let state = State::new(manifests.objects()?)?;
        state.announce(metrics);
        Ok(Policies {
            source,
            current: ArcSwap::from_pointee(state),
            seen: Mutex::new(Some(manifests.fingerprint())),
        })
    }

    /// The state of now. Whoever holds it keeps it while others already see the next.
    pub(crate) fn current(&self) -> Guard<Arc<State>> {
        self.current.load()
    }

    /// Serves a state that comes from elsewhere.
    #[cfg(test)]
    pub(crate) fn serve(&self, state: State) {
        self.current.store(Arc::new(state));
    }

    /// Reads the manifests again, and serves them if they have changed and can be used.
    pub(crate) fn reload(&self, metrics: &Metrics) -> Reload {
        let manifests = manifests(&self.source);
        let now = manifests.as_ref().ok().map(Manifests::fingerprint);
        // A lock that a panic has left holds a number all the same.
        let mut seen = self
            .seen
            .lock()
            .unwrap_or_else(|broken| broken.into_inner());
        let before = std::mem::replace(&mut *seen, now);
        drop(seen);
        if now.is_some() && now == before {
            return Reload::Unchanged;
        }
        let objects = manifests.and_then(|manifests| manifests.objects());
        match objects.and_then(State::new) {
            Ok(state) => {
                state.announce(metrics);
                self.current.store(Arc::new(state));
                Reload::Done
            }
            Err(problems) => Reload::Failed(problems),
        }
    }
}

fn manifests(source: &PolicySource) -> Result<Manifests, Vec<String>> {
    match source {
        PolicySource::Manifests { paths, recursive } => Manifests::read(paths, *recursive),
        PolicySource::Demo => Ok(Manifests::built_in("demo.yaml", DEMO)),
    }
}

/// Samples of policies.
const DEMO: &str = include_str!("../../demo/policies.yaml");

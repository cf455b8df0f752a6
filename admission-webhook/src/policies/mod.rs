//! The policies that are served. They come from manifests, which are read again when they change, or from a live source.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use arc_swap::{ArcSwap, ArcSwapOption, Guard};
use gavel_libraries::Server;
use gavel_manifest::Problem;
use gavel_state::{Event, Live, Object, ObjectKey, Origin, Published, State, Store};

use crate::config::PolicySource;
use crate::telemetry::{Metrics, bounded};

mod manifests;

use manifests::{Manifests, objects, origin};

/// The state that decides requests, and its source.
#[derive(Debug)]
pub(crate) struct Policies {
    loader: Mutex<Loader>,
    current: ArcSwap<State>,
    /// The API server's own policies, if Gavel's decisions are compared with those of the API server; otherwise `None`.
    shadow: ArcSwapOption<State>,
    live: Option<Arc<dyn Live>>,
    is_synced: AtomicBool,
}

/// The result of reading manifests again.
#[derive(Debug)]
pub(crate) enum Reload {
    /// Nothing changed.
    Unchanged,
    /// The valid changes are in force.
    Done(Vec<Rejected>),
}

/// A problem of an object or a file whose newest version is not in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rejected {
    pub(crate) problem: String,
    /// Whether an earlier version is in force.
    pub(crate) in_force: bool,
}

impl Rejected {
    /// The problems of the objects of a state.
    pub(crate) fn of(state: &State) -> impl Iterator<Item = (&Problem, Self)> {
        state.rejections().iter().flat_map(|each| {
            let rejected = |problem: &Problem| Rejected {
                problem: problem.to_string(),
                in_force: each.in_force,
            };
            (each.problems.iter()).map(move |problem| (problem, rejected(problem)))
        })
    }

    /// The first line of the problem; the other lines show its position in the expression.
    pub(crate) fn first_line(&self) -> &str {
        self.problem.lines().next().unwrap_or_default()
    }

    pub(crate) fn log(&self) {
        let problem = bounded(self.first_line());
        match self.in_force {
            true => tracing::error!(%problem, "rejected; the last good version is served"),
            false => tracing::error!(%problem, "rejected; it is not in force"),
        }
    }
}

impl Policies {
    /// Reads the policies.
    ///
    /// # Errors
    ///
    /// The problems of the manifests, each with its file.
    pub(crate) fn load(
        source: PolicySource,
        server: Server,
        metrics: &Metrics,
    ) -> Result<Self, Vec<String>> {
        let live = match &source {
            PolicySource::Live(source) => Some(Arc::clone(&source.live)),
            PolicySource::Manifests { .. } | PolicySource::Demo => None,
        };
        let mut loader = Loader::new(source, server)?;
        let state = match loader.load() {
            _ if live.is_some() => loader.store.publish(),
            Some(Loaded { state, problems }) if problems.is_empty() => {
                announce(&state, metrics);
                state
            }
            Some(Loaded { problems, .. }) => {
                let problems = problems.into_iter().map(|rejected| rejected.problem);
                return Err(problems.collect());
            }
            None => return Err(loader.seen.err().unwrap_or_default()),
        };
        Ok(Policies {
            loader: Mutex::new(loader),
            current: ArcSwap::from_pointee(state),
            shadow: ArcSwapOption::empty(),
            is_synced: AtomicBool::new(live.is_none()),
            live,
        })
    }

    /// The live source, which answers questions while a request waits; `None` if the policies come from manifests.
    pub(crate) fn live(&self) -> Option<Arc<dyn Live>> {
        self.live.clone()
    }

    /// Whether a state is in force. With a live source there is none before the first sync.
    pub(crate) fn is_synced(&self) -> bool {
        self.is_synced.load(Ordering::Acquire)
    }

    /// The API server's own policies; `None` if its decisions are not compared with Gavel's.
    pub(crate) fn shadow(&self) -> Option<Arc<State>> {
        self.shadow.load_full()
    }

    /// Puts in force a state that a live source has published.
    pub(crate) fn take(&self, published: Published, metrics: &Metrics) {
        metrics.serve(&published.state);
        self.current.store(published.state);
        self.shadow.store(published.shadow);
        self.is_synced.store(true, Ordering::Release);
    }

    /// The current state. A caller can go on using it after another state was published.
    pub(crate) fn current(&self) -> Guard<Arc<State>> {
        self.current.load()
    }

    /// Serves a state that a test has built.
    #[cfg(test)]
    pub(crate) fn serve(&self, state: State) {
        self.current.store(Arc::new(state));
    }

    /// Reads the manifests again, and puts valid changes in force.
    pub(crate) fn reload(&self, metrics: &Metrics) -> Reload {
        // Even if a panic poisoned the lock, the objects under it are valid.
        let mut loader = self
            .loader
            .lock()
            .unwrap_or_else(|broken| broken.into_inner());
        let Some(Loaded { state, problems }) = loader.load() else {
            return Reload::Unchanged;
        };
        announce(&state, metrics);
        self.current.store(Arc::new(state));
        Reload::Done(problems)
    }
}

/// Logs the counts of a new state, and records them as metrics.
fn announce(state: &State, metrics: &Metrics) {
    let counts = state.counts();
    metrics.serve(state);
    tracing::info!(
        policies = counts.policies,
        bindings = counts.bindings,
        mutating_policies = counts.mutating_policies,
        mutating_bindings = counts.mutating_bindings,
        definitions = counts.definitions,
        namespaces = counts.namespaces,
        params = counts.params,
        "manifests loaded"
    );
    if counts.policies == 0 && counts.mutating_policies == 0 {
        tracing::warn!("no policy is loaded");
    }
    for unseen in state.unseen() {
        tracing::warn!("{unseen}");
    }
}

/// Reads manifests and applies the changes to a store.
#[derive(Debug)]
struct Loader {
    source: PolicySource,
    store: Store,
    /// The contents that were read last, or why they could not be read.
    seen: Result<Manifests, Vec<String>>,
    /// For each origin, the text that was last applied to the store.
    used: BTreeMap<Origin, String>,
}

/// The result of reading the manifests once.
struct Loaded {
    state: State,
    problems: Vec<Rejected>,
}

impl Loader {
    fn new(source: PolicySource, server: Server) -> Result<Self, Vec<String>> {
        Ok(Loader {
            source,
            store: Store::new(server).map_err(|error| vec![error])?,
            seen: Ok(Manifests::default()),
            used: BTreeMap::new(),
        })
    }

    /// Reads the manifests; `None` if they have not changed, or if the policies come from a live source.
    fn load(&mut self) -> Option<Loaded> {
        let now = match &self.source {
            PolicySource::Manifests {
                paths, recursive, ..
            } => Manifests::read(paths, *recursive),
            PolicySource::Demo => Ok(Manifests::built_in("demo.yaml", DEMO)),
            PolicySource::Live(_) => return None,
        };
        if now == self.seen {
            return None;
        }
        let mut problems = match &now {
            Ok(manifests) => self.take(manifests),
            Err(problems) => rejected(problems.clone(), true).collect(),
        };
        self.seen = now;
        let state = self.store.publish();
        let found = Rejected::of(&state).filter(|(problem, _)| !self.is_outdated(problem));
        problems.extend(found.map(|(_, rejected)| rejected));
        Some(Loaded { state, problems })
    }

    /// Whether a problem is of an earlier text of its file, because the change to the current text was rejected.
    fn is_outdated(&self, problem: &Problem) -> bool {
        let (Ok(manifests), Some(file)) = (&self.seen, &problem.file) else {
            return false;
        };
        let origin = origin(file);
        let text = manifests.texts.get(&origin);
        let text = text.and_then(|text| text.as_ref().ok());
        self.used.get(&origin) != text
    }

    /// Applies the changes to the store. Returns the problems of the files that were rejected.
    fn take(&mut self, manifests: &Manifests) -> Vec<Rejected> {
        let mut problems = Vec::new();
        let mut changed: Vec<(Origin, &str, Vec<Object>)> = Vec::new();
        for (origin, text) in &manifests.texts {
            let found = match text {
                Ok(text) if self.used.get(origin) == Some(text) => continue,
                Ok(text) => objects(origin, text).map(|found| (origin.clone(), &**text, found)),
                Err(problem) => Err(vec![problem.clone()]),
            };
            match found {
                Ok(found) => changed.push(found),
                Err(found) => problems.extend(rejected(found, self.uses(origin))),
            }
        }
        let gone = self
            .used
            .keys()
            .filter(|used| !manifests.texts.contains_key(used));
        changed.extend(gone.map(|gone| (gone.clone(), "", Vec::new())));
        let kept = self.deciding_after(&changed);
        for (origin, text, objects) in changed {
            if let Some(problem) = self.refusal(&origin, text, &objects, &kept) {
                problems.extend(rejected(vec![problem], true));
                continue;
            }
            match manifests.texts.contains_key(&origin) {
                true => self.used.insert(origin.clone(), text.to_owned()),
                false => self.used.remove(&origin),
            };
            self.store.handle(Event::ReplacedAll(origin, objects));
        }
        problems
    }

    /// Whether an earlier text of a file, or of a file in a folder, is in use.
    fn uses(&self, path: &Origin) -> bool {
        let path = path.to_string();
        let mut used = self.used.keys().map(ToString::to_string);
        used.any(|used| Path::new(&used).starts_with(&path))
    }

    /// The policies and bindings that would be in force if all changes were applied.
    fn deciding_after(&self, changed: &[(Origin, &str, Vec<Object>)]) -> HashSet<ObjectKey> {
        let is_changed = |origin: &&Origin| changed.iter().any(|(other, ..)| other == *origin);
        let unchanged = self.store.origins().filter(|origin| !is_changed(origin));
        let mut keys: HashSet<ObjectKey> = unchanged
            .flat_map(|origin| self.store.deciding(origin).cloned())
            .collect();
        keys.extend(changed.iter().flat_map(|(_, _, objects)| deciding(objects)));
        keys
    }

    /// Why a change of a file is not applied although the file can be read; `None` if the change is applied. A file that lost all its
    /// policies and bindings, or that is truncated, may be incomplete: without its policies, requests would be admitted that are denied
    /// now.
    fn refusal(
        &self,
        origin: &Origin,
        text: &str,
        objects: &[Object],
        kept: &HashSet<ObjectKey>,
    ) -> Option<String> {
        let PolicySource::Manifests {
            allow_removal: false,
            ..
        } = self.source
        else {
            return None;
        };
        let is_lost = self.store.deciding(origin).any(|key| !kept.contains(key));
        if !is_lost {
            return None;
        }
        let before = self
            .used
            .get(origin)
            .map(String::as_str)
            .unwrap_or_default();
        if deciding(objects).next().is_none() {
            return Some(format!(
                "{origin}: the file contains no policies or bindings any more; the previous ones stay in force until a restart, or with --allow-removal"
            ));
        }
        before.starts_with(text.trim_end()).then(|| {
            format!(
                "{origin}: the file has been truncated; its previous content stays in force until a restart, or with --allow-removal"
            )
        })
    }
}

fn rejected(problems: Vec<String>, in_force: bool) -> impl Iterator<Item = Rejected> {
    let problems = problems.into_iter();
    problems.map(move |problem| Rejected { problem, in_force })
}

fn deciding(objects: &[Object]) -> impl Iterator<Item = ObjectKey> {
    let keys = objects.iter().filter_map(|object| object.key().ok());
    keys.filter(ObjectKey::decides)
}

/// The sample policies of `gavel serve --demo`.
const DEMO: &str = include_str!("../../demo/policies.yaml");

//! Follows a cluster: starts and stops watches as the policies need them, and publishes every change as a new state.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use gavel_libraries::Server;
use gavel_state::{Event, Published};
use kube::core::ApiResource;
use serde_json::Value as Json;
use tokio::sync::{mpsc, watch};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{Instant, timeout};

use self::params::{Kind, Watched};
use crate::api_server::{ApiServer, heartbeat};
use crate::discovery::{self, Served};
use crate::election::Candidate;
use crate::informer::{Informer, KindEvent, name};
use crate::kinds::{self, resource};
use crate::options::{Authorizing, Options};
use crate::status;
use crate::stores::{Destination, Stores};

/// The time without events after which changes are published. Changes wait for such a pause, because several objects are often written
/// together.
const QUIET: Duration = Duration::from_millis(5);
/// The longest time that changes wait for a pause between events. After this time, changes are published even if events still arrive.
const IMPATIENT: Duration = Duration::from_millis(50);
/// The limit of changes that are published together.
const MOST: usize = 4096;
/// How long new states wait for the params of a new kind to be listed. After this time, states are published, and bindings that select
/// params of this kind fail, as in API servers.
const PATIENCE: Duration = Duration::from_secs(1);
/// How often the API server is asked again for kinds that it did not serve. It is also asked after each change of a
/// CustomResourceDefinition.
const LOOK_AGAIN: Duration = Duration::from_secs(2);

mod params;
#[cfg(test)]
mod tests;

/// Follows a cluster until the task is aborted.
pub(crate) async fn follow(
    options: Options,
    api_server: Arc<ApiServer>,
    published: watch::Sender<Option<Published>>,
) -> Result<(), String> {
    let (sender, mut events) = mpsc::channel(MOST);
    let server = api_server.version().await;
    let stores = Stores::new(server, options.native)?;
    let mut follower = Follower::new(api_server, stores, published, sender);
    follower.start(&options).await;
    if options.leads {
        follower.run_for_leader(server);
    }
    loop {
        let mut batch = tokio::select! {
            Some(found) = follower.lookups.join_next() => {
                follower.found(found).await;
                continue;
            }
            event = timeout(LOOK_AGAIN, events.recv()) => match event {
                Ok(Some(event)) => vec![event],
                // Unreachable: the follower itself holds a sender.
                Ok(None) => return Ok(()),
                Err(_) => Vec::new(),
            },
        };
        let until = Instant::now().checked_add(IMPATIENT);
        while !batch.is_empty()
            && batch.len() < MOST
            && until.is_none_or(|until| Instant::now() < until)
        {
            match timeout(QUIET, events.recv()).await {
                Ok(Some(event)) => batch.push(event),
                Ok(None) | Err(_) => break,
            }
        }
        follower.take(batch).await;
    }
}

struct Follower {
    api_server: Arc<ApiServer>,
    stores: Arc<Mutex<Stores>>,
    published: watch::Sender<Option<Published>>,
    sender: mpsc::Sender<KindEvent>,
    informers: JoinSet<()>,
    /// The kinds that must be listed before the first state is published.
    awaited: BTreeSet<String>,
    /// The kinds that are always watched, by name.
    fixed: BTreeMap<String, (ApiResource, Destination)>,
    /// The kinds of params that policies name; `None` for kinds that no API serves, as far as is known.
    params: BTreeMap<Kind, Option<Watched>>,
    /// The kinds of params that have not been looked up yet.
    new: BTreeSet<Kind>,
    /// The look-ups of kinds of params that have not ended.
    lookups: JoinSet<(Kind, kube::Result<Option<Served>>)>,
    /// When the API server was last asked again for kinds that it did not serve.
    looked: Instant,
    /// When the wait for params of new kinds ends; `None` if there is no such wait.
    patience: Option<Instant>,
}

impl Follower {
    fn new(
        api_server: Arc<ApiServer>,
        stores: Stores,
        published: watch::Sender<Option<Published>>,
        sender: mpsc::Sender<KindEvent>,
    ) -> Self {
        Follower {
            api_server,
            stores: Arc::new(Mutex::new(stores)),
            published,
            sender,
            informers: JoinSet::new(),
            awaited: BTreeSet::new(),
            fixed: BTreeMap::new(),
            params: BTreeMap::new(),
            new: BTreeSet::new(),
            lookups: JoinSet::new(),
            looked: Instant::now(),
            patience: None,
        }
    }

    /// Starts the watches of the kinds that are always watched.
    async fn start(&mut self, options: &Options) {
        for own in kinds::own() {
            // With `native`, the cluster need not serve Gavel's own kinds.
            if !options.native || self.is_served(&own).await {
                self.always(own, Destination::Own, kinds::as_built_in);
            }
        }
        self.always(
            resource("", "v1", "Namespace", "namespaces"),
            Destination::Both,
            |object| object,
        );
        let definitions = resource(
            "apiextensions.k8s.io",
            "v1",
            "CustomResourceDefinition",
            "customresourcedefinitions",
        );
        self.always(definitions, Destination::Both, |object| object);
        if matches!(options.authorizing, Authorizing::Rbac) {
            for (kind, plural) in [
                ("ClusterRole", "clusterroles"),
                ("ClusterRoleBinding", "clusterrolebindings"),
                ("Role", "roles"),
                ("RoleBinding", "rolebindings"),
            ] {
                let roles = resource("rbac.authorization.k8s.io", "v1", kind, plural);
                self.always(roles, Destination::Both, |object| object);
            }
        }
        if options.native {
            for native in kinds::native() {
                if self.is_served(&native).await {
                    self.always(native, Destination::Shadow, kinds::as_built_in);
                }
            }
        }
        self.note_awaited();
        self.informers
            .spawn(heartbeat(Arc::clone(&self.api_server)));
    }

    /// Whether the cluster has a kind. If discovery fails, the answer is yes.
    async fn is_served(&self, resource: &ApiResource) -> bool {
        let ApiResource {
            api_version, kind, ..
        } = resource;
        let found = discovery::find(&self.api_server.client, api_version, kind).await;
        let is_missing = matches!(found, Ok(None));
        if is_missing {
            tracing::info!(api_version, kind, "the cluster does not serve this kind");
        }
        !is_missing
    }

    /// Competes for leadership, and writes the status of policies while leading.
    fn run_for_leader(&mut self, server: Server) {
        let (client, contact) = (
            self.api_server.client.clone(),
            Arc::clone(&self.api_server.contact),
        );
        let namespace = client.default_namespace().to_owned();
        let (leads, leading) = watch::channel(false);
        let candidate = Candidate::new(client.clone(), Arc::clone(&contact), &namespace);
        self.informers.spawn(candidate.run(leads));
        self.informers
            .spawn(status::run(client, server, contact, leading));
    }

    fn always(&mut self, resource: ApiResource, to: Destination, convert: fn(Json) -> Json) {
        let name = name(&resource);
        self.awaited.insert(name.clone());
        self.fixed.insert(name, (resource.clone(), to));
        self.inform(resource, convert);
    }

    fn inform(&mut self, resource: ApiResource, convert: fn(Json) -> Json) -> AbortHandle {
        let informer = Informer {
            client: self.api_server.client.clone(),
            resource,
            convert,
            contact: Arc::clone(&self.api_server.contact),
            sender: self.sender.clone(),
        };
        self.informers.spawn(informer.run())
    }

    /// Applies events and publishes the new states.
    async fn take(&mut self, batch: Vec<KindEvent>) {
        let mut asks_again = self.looked.elapsed() >= LOOK_AGAIN;
        let mut events = Vec::new();
        for KindEvent { kind, event } in batch {
            if matches!(event, Event::ReplacedAll(..)) {
                self.synced(&kind, &mut events);
            }
            let to = match self.fixed.get(&kind) {
                Some((resource, to)) => {
                    asks_again |= resource.plural == "customresourcedefinitions";
                    *to
                }
                // The event comes from an informer that was stopped.
                None if !self.watches(&kind) => continue,
                None => Destination::Both,
            };
            events.push((event, to));
        }
        let had_events = !events.is_empty();
        let wanted = self.handle(events).await;
        let changed = self.reconcile(wanted, asks_again);
        self.handle_and_publish(changed, had_events).await;
    }

    /// Applies events. Publishes the new state if there are any, or if `had_events`.
    async fn handle_and_publish(&mut self, changed: Vec<(Event, Destination)>, had_events: bool) {
        let changes = !changed.is_empty();
        self.handle(changed).await;
        if (had_events || changes || self.patience.is_some()) && self.is_ready() {
            self.publish().await;
        }
    }

    /// Whether a state can be published: all kinds that are always watched have been listed, and the wait for params of new kinds is over.
    fn is_ready(&mut self) -> bool {
        if !self.awaited.is_empty() {
            return false;
        }
        let is_late = self.patience.is_some_and(|until| Instant::now() >= until);
        let mut served = self.params.values().flatten();
        if is_late || (self.new.is_empty() && served.all(|served| served.is_synced)) {
            self.patience = None;
        }
        self.patience.is_none()
    }

    /// Removes the tasks that have ended.
    fn clear(&mut self) {
        while let Some(ended) = self.informers.try_join_next() {
            if let Err(error) = ended
                && !error.is_cancelled()
            {
                tracing::error!(%error, "a watch has ended unexpectedly");
            }
        }
    }

    /// Applies events without blocking decisions. Returns the kinds of params that the policies name.
    async fn handle(&self, events: Vec<(Event, Destination)>) -> BTreeSet<Kind> {
        let stores = Arc::clone(&self.stores);
        let handled = tokio::task::spawn_blocking(move || {
            let mut stores = stores.lock().unwrap_or_else(PoisonError::into_inner);
            for (event, to) in events {
                stores.handle(event, to);
            }
            stores.param_kinds()
        });
        handled.await.unwrap_or_else(|error| {
            tracing::error!(%error, "changes could not be applied");
            self.params.keys().cloned().collect()
        })
    }

    async fn publish(&self) {
        let stores = Arc::clone(&self.stores);
        let published = tokio::task::spawn_blocking(move || {
            let mut stores = stores.lock().unwrap_or_else(PoisonError::into_inner);
            stores.publish()
        });
        match published.await {
            Ok(published) => drop(self.published.send_replace(Some(published))),
            Err(error) => tracing::error!(%error, "changes could not be published"),
        }
    }

    fn note_awaited(&self) {
        let awaited = &self.api_server.awaited;
        let mut awaited = awaited.lock().unwrap_or_else(PoisonError::into_inner);
        awaited.clone_from(&self.awaited);
    }
}

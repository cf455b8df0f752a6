//! The kinds of params: looks them up, and watches their objects while policies name them.

use std::collections::BTreeSet;

use gavel_policy::ParamFault;
use gavel_policy::api::ParamKind;
use gavel_state::{Event, Origin};
use tokio::task::{AbortHandle, JoinError};
use tokio::time::Instant;

use super::{Follower, PATIENCE};
use crate::access::message;
use crate::discovery::{self, Served};
use crate::informer::name;
use crate::kinds;
use crate::stores::Destination;

/// The `apiVersion` and name of a kind of params.
pub(super) type Kind = (String, String);

/// A kind that is watched.
pub(super) struct Watched {
    pub(super) name: String,
    /// Stops the watch; `None` for kinds that are always watched, because their watches are never stopped.
    pub(super) informer: Option<AbortHandle>,
    pub(super) is_synced: bool,
    pub(super) namespaced: bool,
}

impl Follower {
    /// Records that all objects of a kind have been listed.
    pub(super) fn synced(&mut self, name: &str, events: &mut Vec<(Event, Destination)>) {
        if self.awaited.remove(name) {
            self.note_awaited();
        }
        for (key, params) in &mut self.params {
            if let Some(served) = params
                && served.name == name
                && !served.is_synced
            {
                served.is_synced = true;
                events.push(param_kind(key, Some(served.namespaced), None));
            }
        }
    }

    pub(super) fn watches(&self, name: &str) -> bool {
        let mut served = self.params.values().flatten();
        served.any(|served| served.name == name)
    }

    /// Starts look-ups and stops watches, so that exactly the `wanted` kinds of params are watched. Returns events for the stores: which kinds
    /// of params are new, and which are no longer watched. With `asks_again`, also looks up kinds that were not served.
    pub(super) fn reconcile(
        &mut self,
        wanted: BTreeSet<Kind>,
        asks_again: bool,
    ) -> Vec<(Event, Destination)> {
        let mut events = Vec::new();
        self.params.retain(|key, params| {
            if wanted.contains(key) {
                return true;
            }
            self.new.remove(key);
            self.api_server.contact.forget(&title(key));
            if let Some(Watched {
                name,
                informer: Some(informer),
                ..
            }) = params
            {
                informer.abort();
                self.api_server.contact.forget(name);
                let gone = Event::ReplacedAll(Origin::new(name), Vec::new());
                events.push((gone, Destination::Both));
            }
            false
        });
        self.clear();
        if asks_again {
            self.looked = Instant::now();
        }
        for key in wanted {
            match self.params.get(&key) {
                Some(None) if asks_again && !self.new.contains(&key) => {}
                Some(_) => continue,
                None => {
                    let fault = Some(ParamFault::NotSynced);
                    events.push(param_kind(&key, None, fault));
                    self.params.insert(key.clone(), None);
                    self.new.insert(key.clone());
                    self.wait();
                }
            }
            let client = self.api_server.client.clone();
            self.lookups.spawn(async move {
                let found = discovery::find(&client, &key.0, &key.1).await;
                (key, found)
            });
        }
        events
    }

    /// Handles the result of a look-up: watches the kind, if an API serves it.
    pub(super) async fn found(
        &mut self,
        found: Result<(Kind, kube::Result<Option<Served>>), JoinError>,
    ) {
        let (key, found) = match found {
            Ok(found) => found,
            Err(error) => return tracing::error!(%error, "a look-up has ended unexpectedly"),
        };
        let is_new = self.new.remove(&key);
        // The kind is no longer wanted, or another look-up has found it.
        if !matches!(self.params.get(&key), Some(None)) {
            return;
        }
        let (contact, title) = (&self.api_server.contact, title(&key));
        let found = match found {
            // The stores would take objects of these kinds for policies to enforce.
            Ok(Some(served)) if !kinds::is_native(&served.resource) => {
                contact.heard(&title);
                Some(served)
            }
            Ok(_) => {
                contact.unserved(&title);
                None
            }
            Err(error) => {
                let effect = "look-up failed, and is retried; the policies with these params fail";
                contact.failed_with(&title, &message(error), effect);
                None
            }
        };
        let served = found.map(|served| self.watch(served));
        let mut events = Vec::new();
        if is_new || served.is_some() {
            events.push(match &served {
                None => param_kind(&key, None, Some(ParamFault::NotFound)),
                Some(served) => {
                    let fault = (!served.is_synced).then_some(ParamFault::NotSynced);
                    param_kind(&key, Some(served.namespaced), fault)
                }
            });
        }
        self.params.insert(key, served);
        self.handle_and_publish(events, false).await;
    }

    /// Lets new states wait for the params of new kinds. The wait is not restarted. Otherwise, policies whose kinds of params change all the
    /// time could delay other policies.
    pub(super) fn wait(&mut self) {
        if self.patience.is_none() {
            self.patience = Instant::now().checked_add(PATIENCE);
        }
    }

    pub(super) fn watch(&mut self, served: Served) -> Watched {
        let Served {
            resource,
            namespaced,
        } = served;
        let name = name(&resource);
        if self.fixed.contains_key(&name) {
            return Watched {
                is_synced: !self.awaited.contains(&name),
                informer: None,
                name,
                namespaced,
            };
        }
        self.wait();
        tracing::info!(kind = name, "watching params");
        Watched {
            informer: Some(self.inform(resource, |object| object)),
            is_synced: false,
            name,
            namespaced,
        }
    }
}

/// The name of a kind of params in messages.
fn title((api_version, kind): &Kind) -> String {
    format!("paramKind {api_version} {kind}")
}

fn param_kind(
    (api_version, kind): &Kind,
    namespaced: Option<bool>,
    fault: Option<ParamFault>,
) -> (Event, Destination) {
    let kind = ParamKind {
        api_version: api_version.clone(),
        kind: kind.clone(),
    };
    let event = Event::ParamKind {
        kind,
        namespaced,
        fault,
    };
    (event, Destination::Both)
}

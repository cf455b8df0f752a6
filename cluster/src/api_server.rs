//! Asks the API server questions while requests wait, and checks that the API server is reachable.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use gavel_libraries::Server;
use gavel_libraries::authorizer::{AuthorizerAttributes, Decision};
use gavel_policy::{GroupVersionKind, GroupVersionResource};
use gavel_state::{Answer, Found, Live};
use kube::Client;
use kube::runtime::watcher::DefaultBackoff;
use tokio::time::timeout;

use crate::access::{Access, message};
use crate::client::{self, get};
use crate::contact::Contact;
use crate::discovery;

/// The name of the server in messages.
pub(crate) const SERVER: &str = "the API server";

/// The interval and the timeout of checks that the server is reachable.
pub(crate) const HEARTBEAT: Duration = Duration::from_secs(5);

/// Answers questions about the cluster while requests wait.
pub(crate) struct ApiServer {
    pub(crate) client: Client,
    pub(crate) access: Option<Access>,
    pub(crate) contact: Arc<Contact>,
    /// The kinds that have not been listed yet.
    pub(crate) awaited: Mutex<BTreeSet<String>>,
}

impl std::fmt::Debug for ApiServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ApiServer").finish_non_exhaustive()
    }
}

impl ApiServer {
    /// Waits until the API server answers, and returns its version.
    pub(crate) async fn version(&self) -> Server {
        let mut delays = DefaultBackoff::default();
        loop {
            match client::version(&self.client).await {
                Ok(server) => {
                    self.contact.heard(SERVER);
                    tracing::info!(%server, "following the cluster");
                    return server;
                }
                Err(error) => self.contact.failed(SERVER, &message(error)),
            }
            tokio::time::sleep(delays.next().unwrap_or(HEARTBEAT)).await;
        }
    }
}

/// Checks regularly that the server is reachable, because a watch without events does not show whether the server is reachable.
pub(crate) async fn heartbeat(client: Client, contact: Arc<Contact>) {
    loop {
        match timeout(HEARTBEAT, client.apiserver_version()).await {
            Ok(Ok(_)) => contact.heard(SERVER),
            Ok(Err(error)) => contact.failed(SERVER, &message(error)),
            Err(_) => contact.failed(SERVER, "it does not answer"),
        }
        tokio::time::sleep(HEARTBEAT).await;
    }
}

impl Live for ApiServer {
    fn decides_access(&self) -> bool {
        self.access.is_some()
    }

    fn known(&self, question: &AuthorizerAttributes) -> Option<Decision> {
        self.access.as_ref()?.known(question)
    }

    fn authorize<'a>(&'a self, question: &'a AuthorizerAttributes) -> Answer<'a, Decision> {
        Box::pin(async move {
            match &self.access {
                Some(access) => access.ask(question).await,
                None => Decision::default(),
            }
        })
    }

    fn object<'a>(
        &'a self,
        resource: &'a GroupVersionResource,
        name: &'a str,
    ) -> Answer<'a, Found> {
        Box::pin(async move {
            let GroupVersionResource {
                group,
                version,
                resource,
            } = resource;
            let path = match group.as_str() {
                "" => format!("/api/{version}/{resource}"),
                group => format!("/apis/{group}/{version}/{resource}"),
            };
            let found = get(&self.client, &path, name).await;
            found.map(|object| object.map(Arc::new)).map_err(message)
        })
    }

    fn resource<'a>(
        &'a self,
        kind: &'a GroupVersionKind,
    ) -> Answer<'a, Result<Option<String>, String>> {
        Box::pin(async move {
            let found = discovery::find(&self.client, &kind.api_version(), &kind.kind).await;
            let found = found.map_err(message)?;
            Ok(found.map(|served| served.resource.plural))
        })
    }

    fn age(&self) -> Option<Duration> {
        self.contact.age()
    }

    fn notes(&self) -> Vec<String> {
        let awaited = self.awaited.lock().unwrap_or_else(PoisonError::into_inner);
        self.contact.notes(&awaited)
    }
}

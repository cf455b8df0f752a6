//! What is asked of the API server while requests wait, and whether it answers.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use gavel_libraries::authorizer::{AuthorizerAttributes, Decision};
use gavel_state::{Answer, Live};
use kube::Client;
use serde_json::Value as Json;
use tokio::time::timeout;

use crate::access::{Access, message};
use crate::contact::Contact;

/// What the server is called in messages.
pub(crate) const SERVER: &str = "the API server";

/// How often the server is asked whether it is there, and how long it may take.
pub(crate) const HEARTBEAT: Duration = Duration::from_secs(5);

/// What is asked of the cluster while requests wait.
pub(crate) struct Asked {
    pub(crate) client: Client,
    pub(crate) access: Option<Access>,
    pub(crate) contact: Arc<Contact>,
    /// What has not come yet.
    pub(crate) awaited: Mutex<BTreeSet<String>>,
}

impl std::fmt::Debug for Asked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Asked").finish_non_exhaustive()
    }
}

/// Asks the server now and then whether it is there: a watch of which nothing comes does not tell.
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

impl Live for Asked {
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

    fn namespace<'a>(&'a self, name: &'a str) -> Answer<'a, Result<Option<Arc<Json>>, String>> {
        Box::pin(async move {
            let request = kube::core::Request::new("/api/v1/namespaces");
            let request = request.get(name, &kube::api::GetParams::default());
            let request = request.map_err(|error| error.to_string())?;
            match self.client.request::<Json>(request).await {
                Ok(namespace) => Ok(Some(Arc::new(namespace))),
                Err(kube::Error::Api(status)) if status.code == 404 => Ok(None),
                Err(error) => Err(message(error)),
            }
        })
    }

    fn age(&self) -> Option<Duration> {
        self.contact.age()
    }

    fn notes(&self) -> Vec<String> {
        let awaited = self.awaited.lock().unwrap_or_else(PoisonError::into_inner);
        let awaited = awaited
            .iter()
            .map(|name| format!("{name} have not come yet"));
        awaited.chain(self.contact.notes()).collect()
    }
}

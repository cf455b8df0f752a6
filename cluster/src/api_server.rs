//! Asks the API server questions while requests wait, and checks that the API server is reachable.

use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::Duration;

use gavel_libraries::Server;
use gavel_libraries::authorizer::{AuthorizerAttributes, AuthorizerRequest, Decision, UserInfo};
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

/// The name of permission checks in messages.
const REVIEWS: &str = "subjectaccessreviews.authorization.k8s.io/v1";

/// The interval and the timeout of checks that the server is reachable.
pub(crate) const HEARTBEAT: Duration = Duration::from_secs(5);

/// A permission check that any API server answers.
static PROBE: LazyLock<AuthorizerAttributes> = LazyLock::new(|| AuthorizerAttributes {
    user: Arc::new(UserInfo {
        name: "system:anonymous".to_owned(),
        ..UserInfo::default()
    }),
    verb: "get".to_owned(),
    request: AuthorizerRequest::Path("/readyz".to_owned()),
});

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

/// Checks regularly that the server is reachable, because a watch without events does not show whether the server is reachable. If permission
/// checks fail, asks a question until one is answered, because policies may ask none.
pub(crate) async fn heartbeat(server: Arc<ApiServer>) {
    let ApiServer {
        client, contact, ..
    } = &*server;
    loop {
        match timeout(HEARTBEAT, client.apiserver_version()).await {
            Ok(Ok(_)) => contact.heard(SERVER),
            Ok(Err(error)) => contact.failed(SERVER, &message(error)),
            Err(_) => contact.failed(SERVER, "it does not answer"),
        }
        if contact.fails(REVIEWS) {
            let _ = timeout(HEARTBEAT, server.authorize(&PROBE)).await;
        }
        tokio::time::sleep(HEARTBEAT).await;
    }
}

/// A permission check, whose outcome is recorded when it is dropped. The caller drops it without an answer when the request that waits for it
/// has ended.
struct Check<'c> {
    contact: &'c Contact,
    error: Option<String>,
}

impl Drop for Check<'_> {
    fn drop(&mut self) {
        let effect = "checks of authorizer fail; to policies, nobody is allowed anything";
        match &self.error {
            None => self.contact.heard(REVIEWS),
            Some(error) => self.contact.failed_with(REVIEWS, error, effect),
        }
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
            let Some(access) = &self.access else {
                return Decision::default();
            };
            let mut check = Check {
                contact: &self.contact,
                error: Some("no answer in time".to_owned()),
            };
            match access.ask(question).await {
                Ok(decision) => {
                    check.error = None;
                    decision
                }
                Err(error) => {
                    // The answer to an invalid question says nothing about other questions.
                    let is_invalid = matches!(&error, kube::Error::Api(status) if matches!(status.code, 400 | 422));
                    let error = message(error);
                    check.error = (!is_invalid).then(|| error.clone());
                    Decision {
                        error: Some(error),
                        ..Decision::default()
                    }
                }
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

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::sync::atomic::{AtomicU16, Ordering};

    use http::{Request, Response};
    use kube::client::Body;
    use serde_json::json;

    use super::*;
    use crate::access::AuthorizerCache;

    #[tokio::test]
    async fn failing_permission_checks_are_noted_until_one_is_answered() {
        let code = Arc::new(AtomicU16::new(0));
        let answers = Arc::clone(&code);
        let service = tower::service_fn(move |_: Request<Body>| {
            let code = answers.load(Ordering::Relaxed);
            let body = match code {
                201 => json!({"status": {"allowed": true}}),
                _ => {
                    json!({"status": "Failure", "reason": "", "message": "forbidden", "code": code})
                }
            };
            let answer = Response::builder().status(code.max(200));
            let answer = answer.body(Body::from(body.to_string().into_bytes()));
            async move {
                if code == 0 {
                    std::future::pending::<()>().await;
                }
                Ok::<_, Infallible>(answer.unwrap())
            }
        });
        let client = Client::new(service, "default");
        let server = ApiServer {
            access: Some(Access::new(client.clone(), AuthorizerCache::default())),
            client,
            contact: Arc::default(),
            awaited: Mutex::default(),
        };
        let check = async |answer: u16, expected: Option<&str>| {
            code.store(answer, Ordering::Relaxed);
            let asked = server.authorize(&PROBE);
            let _ = timeout(Duration::from_millis(100), asked).await;
            let notes = server.notes();
            let found = notes.first().map(|note| note.rsplit_once(": ").unwrap().1);
            assert_eq!(found, expected, "{answer}");
            assert_eq!(server.age().is_some(), expected.is_some());
        };
        check(0, Some("no answer in time")).await;
        check(403, Some("forbidden")).await;
        check(422, None).await;
        check(403, Some("forbidden")).await;
        check(201, None).await;
    }
}

//! Leader election among the replicas: the leader is the holder of a Lease (client-go `tools/leaderelection`). All replicas serve; only the
//! leader writes.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use kube::Client;
use kube::api::PostParams;
use kube::core::Request;
use serde_json::{Value as Json, json};
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};

use crate::access::message;
use crate::client::{bytes, get, put};
use crate::contact::Contact;

/// How long a lease is valid after it was last renewed.
const DURATION: Duration = Duration::from_secs(15);
/// How long the holder tries to renew the lease before it stops leading.
const DEADLINE: Duration = Duration::from_secs(10);
/// The interval between attempts to acquire or renew the lease.
const RETRY: Duration = Duration::from_secs(2);
/// The name of the lease.
const NAME: &str = "gavel";
/// The name of the lease in messages.
const WHAT: &str = "the Lease gavel";

/// A replica that competes for the lease.
pub(crate) struct Candidate {
    client: Client,
    contact: Arc<Contact>,
    path: String,
    /// The identity of this replica.
    identity: String,
    /// The `spec` of the lease as last read, and the local time at which this `spec` was first read.
    seen: Option<(Json, Instant)>,
}

impl Candidate {
    /// A candidate for the lease of a namespace.
    pub(crate) fn new(client: Client, contact: Arc<Contact>, namespace: &str) -> Self {
        let host = std::env::var("HOSTNAME").unwrap_or_else(|_| "gavel".to_owned());
        let (process, now) = (std::process::id(), Timestamp::now().as_nanosecond());
        Candidate {
            client,
            contact,
            path: format!("/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases"),
            identity: format!("{host}_{process}_{now:x}"),
            seen: None,
        }
    }

    /// Competes for the lease until this future is dropped. Sends `true` when the lease is acquired, and `false` when it is lost.
    pub(crate) async fn run(mut self, leads: watch::Sender<bool>) {
        let mut renewed = Instant::now();
        loop {
            let held = match timeout(DEADLINE, self.try_hold()).await {
                Ok(Ok(held)) => {
                    self.contact.heard(WHAT);
                    renewed = Instant::now();
                    held
                }
                Ok(Err(error)) => {
                    self.failed(&message(error));
                    *leads.borrow() && renewed.elapsed() < DEADLINE
                }
                Err(_) => {
                    self.failed("no answer in time");
                    false
                }
            };
            let changed = leads.send_if_modified(|leads| std::mem::replace(leads, held) != held);
            if changed {
                let identity = &self.identity;
                match held {
                    true => tracing::info!(identity, "leading"),
                    false => tracing::warn!(identity, "leadership lost"),
                }
            }
            sleep(RETRY).await;
        }
    }

    fn failed(&self, error: &str) {
        let effect =
            "the lease cannot be renewed; without a leader, no status of policies is written";
        self.contact.failed_with(WHAT, error, effect);
    }

    /// Acquires or renews the lease. Returns false if another replica holds it, or writes it first.
    async fn try_hold(&mut self) -> kube::Result<bool> {
        let Some(lease) = get(&self.client, &self.path, NAME).await? else {
            return self.create().await;
        };
        let spec = lease.get("spec").cloned().unwrap_or_default();
        let text = |field: &str| spec.get(field).and_then(Json::as_str).unwrap_or_default();
        let is_own = text("holderIdentity") == self.identity;
        let is_new = self.seen.as_ref().is_none_or(|(seen, _)| *seen != spec);
        if is_new {
            self.seen = Some((spec.clone(), Instant::now()));
        }
        let since = self.seen.as_ref().map(|(_, since)| since.elapsed());
        let is_free =
            text("holderIdentity").is_empty() || since.is_some_and(|since| since > DURATION);
        if !is_own && !is_free {
            return Ok(false);
        }
        let transitions = spec
            .get("leaseTransitions")
            .and_then(Json::as_i64)
            .unwrap_or(0);
        let (acquired, transitions) = match is_own {
            true => (text("acquireTime").to_owned(), transitions),
            false => (now(), transitions.saturating_add(1)),
        };
        let mut renewed = lease.clone();
        if let Some(fields) = renewed.as_object_mut() {
            fields.insert("spec".to_owned(), self.spec(&acquired, transitions));
        }
        let params = PostParams::default();
        let request = Request::new(&self.path).replace(NAME, &params, bytes(&renewed)?);
        put(&self.client, request).await
    }

    async fn create(&self) -> kube::Result<bool> {
        let lease = json!({
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {"name": NAME},
            "spec": self.spec(&now(), 0),
        });
        let request = Request::new(&self.path).create(&PostParams::default(), bytes(&lease)?);
        put(&self.client, request).await
    }

    fn spec(&self, acquired: &str, transitions: i64) -> Json {
        json!({
            "holderIdentity": self.identity,
            "leaseDurationSeconds": DURATION.as_secs(),
            "acquireTime": acquired,
            "renewTime": now(),
            "leaseTransitions": transitions,
        })
    }
}

/// The time as Kubernetes writes it in leases.
fn now() -> String {
    Timestamp::now()
        .strftime("%Y-%m-%dT%H:%M:%S%.6fZ")
        .to_string()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::convert::Infallible;

    use http::{Request, Response};
    use kube::client::Body;

    use super::*;

    #[tokio::test]
    async fn a_lease_that_may_not_be_read_is_noted() {
        let service = tower::service_fn(|_: Request<Body>| async {
            let body =
                json!({"status": "Failure", "reason": "", "message": "forbidden", "code": 403});
            let answer = Response::builder().status(403);
            Ok::<_, Infallible>(
                answer
                    .body(Body::from(body.to_string().into_bytes()))
                    .unwrap(),
            )
        });
        let contact = Arc::new(Contact::default());
        let client = Client::new(service, "default");
        let candidate = Candidate::new(client, Arc::clone(&contact), "default");
        let (leads, _) = watch::channel(false);
        let competing = tokio::spawn(candidate.run(leads));
        while contact.age().is_none() {
            tokio::task::yield_now().await;
        }
        competing.abort();
        let notes = contact.notes(&BTreeSet::new()).join("\n");
        assert!(
            notes.starts_with("the Lease gavel: failing for "),
            "{notes}"
        );
        assert!(notes.ends_with(": forbidden"), "{notes}");
    }
}

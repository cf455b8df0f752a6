//! Audits the objects of a cluster.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use gavel_apimachinery::meta::MetadataView;
use gavel_libraries::authorizer::{Authorizer, AuthorizerAttributes, Decision, UserInfo};
use gavel_state::{Live, State};
use serde_json::Value as Json;
use tokio::runtime::Handle;
use tokio::time::{sleep, timeout};

use super::object::{Audited, Finding, Outcome, audit_object};
use super::pages::{Page, Pages};
use super::plan::plan;
use super::shard::Shard;
use crate::access::message;
use crate::cluster::Cluster;
use crate::{discovery, kinds};

/// The longest wait until the cluster's first state is complete.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long a run waits for the first state before it tells the observer.
const SHORT_WAIT: Duration = Duration::from_secs(2);

/// The options of an audit.
#[derive(Debug, Clone)]
pub struct Audit {
    /// The shard whose objects are audited.
    pub shard: Shard,
    /// The number of objects per page.
    pub page: u32,
    /// The user who is assumed to have created the objects.
    pub user: UserInfo,
    /// Whether Kubernetes' built-in policies are evaluated instead of policies of Gavel's own group.
    pub native: bool,
}

/// Why a run ends early.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct AuditError(String);

/// Receives the findings of a run.
pub trait Observer {
    /// Called once, if the cluster's first state takes more than a moment. `notes` tell what is missing.
    fn waits(&mut self, notes: &[String]);

    /// Called when the audit of a resource begins.
    fn resource(&mut self, resource: &Audited);

    /// Called after each page. `objects` is the number of objects that the run has audited so far; `remaining` is the number of objects of
    /// the resource that are not read yet, if the API server reports it.
    fn progress(&mut self, objects: u64, remaining: Option<u64>);

    /// Called after the audit of an object. `findings` is empty if the object violates no policy.
    fn found(
        &mut self,
        resource: &Audited,
        object: &Json,
        findings: &[Finding],
    ) -> impl Future<Output = Result<(), String>>;
}

/// The summary of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Summary {
    /// The number of objects that were audited.
    pub objects: u64,
    /// How often each policy had each outcome.
    pub findings: BTreeMap<(String, Outcome), u64>,
    /// The resources that could not be read, with the errors.
    pub unread: Vec<String>,
}

impl Summary {
    /// Counts the findings about an object.
    pub fn count(&mut self, findings: &[Finding]) {
        self.objects = self.objects.saturating_add(1);
        for finding in findings {
            let key = (finding.policy.clone(), finding.outcome);
            let count = self.findings.entry(key).or_default();
            *count = count.saturating_add(1);
        }
    }

    /// The summary as metrics in the text format of Prometheus.
    pub fn metrics(&self, seconds: f64) -> String {
        use std::fmt::Write;
        let mut text = String::from("# TYPE gavel_audit_violations gauge\n");
        // The results of `writeln!` are ignored: writing to a String does not fail.
        for ((policy, outcome), count) in &self.findings {
            let outcome = outcome.name();
            let _ = writeln!(
                text,
                "gavel_audit_violations{{policy=\"{policy}\",result=\"{outcome}\"}} {count}"
            );
        }
        let gauges = [
            ("gavel_audit_objects", self.objects.to_string()),
            (
                "gavel_audit_unread_resources",
                self.unread.len().to_string(),
            ),
            ("gavel_audit_duration_seconds", format!("{seconds:.3}")),
            (
                "gavel_audit_end_timestamp_seconds",
                jiff::Timestamp::now().as_second().to_string(),
            ),
        ];
        for (name, value) in gauges {
            let _ = writeln!(text, "# TYPE {name} gauge\n{name} {value}");
        }
        text
    }
}

impl Audit {
    /// Audits the objects of a cluster.
    ///
    /// # Errors
    ///
    /// The cluster is unreachable or does not serve the kinds of the policies, or a finding cannot be written. Resources that cannot be read
    /// are listed in the summary.
    pub async fn run(
        &self,
        cluster: &Cluster,
        observer: &mut impl Observer,
    ) -> Result<Summary, AuditError> {
        let mut published = cluster.published();
        let waits = async {
            sleep(SHORT_WAIT).await;
            observer.waits(&cluster.live().notes());
            std::future::pending().await
        };
        let first = tokio::select! {
            first = timeout(PATIENCE, published.wait_for(Option::is_some)) => first,
            first = waits => first,
            unserved = self.unserved(cluster) => return Err(unserved),
        };
        let first = first.map_err(|_| {
            let (address, notes) = (cluster.address(), cluster.live().notes().join("; "));
            AuditError(format!("the cluster at {address} cannot be read: {notes}"))
        })?;
        let first = first.ok().and_then(|first| first.clone());
        let first = first.ok_or_else(|| AuditError("the cluster is not followed".to_owned()))?;
        let state = match (self.native, first.shadow) {
            (true, Some(shadow)) => shadow,
            _ => first.state,
        };
        let auditor = Arc::new(Auditor {
            authorizer: authorizer(&state, cluster.live()),
            state,
            user: Arc::new(self.user.clone()),
            shard: self.shard,
        });
        let plan = plan(cluster.client(), &auditor.state).await;
        let (plan, unread) = plan.map_err(|error| AuditError(message(error)))?;
        let mut summary = Summary {
            unread,
            ..Summary::default()
        };
        for resource in plan {
            observer.resource(&resource);
            let pages = Pages::new(cluster.client().clone(), &resource, self.page);
            let resource = Arc::new(resource);
            let read = auditor.read(&resource, pages, observer, &mut summary).await;
            if let Err(error) = read? {
                let name = &resource.plural;
                summary.unread.push(format!("{name}: {}", message(error)));
            }
        }
        Ok(summary)
    }

    /// Ends with an error if the cluster does not serve Gavel's own kinds, for which the first state would wait in vain. Does not end if the
    /// cluster serves them, if the audit does not need them, or if discovery fails.
    async fn unserved(&self, cluster: &Cluster) -> AuditError {
        for own in kinds::own().filter(|_| !self.native) {
            let (api_version, kind) = (&own.api_version, &own.kind);
            let found = discovery::find(cluster.client(), api_version, kind).await;
            if matches!(found, Ok(None)) {
                return AuditError(format!(
                    "the cluster at {} does not serve the kind {kind} of {api_version}: install Gavel's kinds \
                     (deploy/components/cluster/definitions.yaml), or use --native to evaluate the cluster's built-in policies, or --policies \
                     to name files of policies",
                    cluster.address()
                ));
            }
        }
        std::future::pending().await
    }
}

/// The policies that an audit evaluates, and the user who is assumed to have created the objects.
struct Auditor {
    state: Arc<State>,
    authorizer: Arc<dyn Authorizer>,
    user: Arc<UserInfo>,
    shard: Shard,
}

impl Auditor {
    /// Audits the objects of a resource page by page, and fetches the next page meanwhile. The inner error means that the API server did
    /// not return a page; the outer error ends the run.
    async fn read(
        self: &Arc<Self>,
        resource: &Arc<Audited>,
        mut pages: Pages,
        observer: &mut impl Observer,
        summary: &mut Summary,
    ) -> Result<kube::Result<()>, AuditError> {
        let mut page = match pages.next().await {
            Ok(page) => page,
            Err(error) => return Ok(Err(error)),
        };
        while let Some(Page { objects, remaining }) = page {
            let (auditor, resource_of_page) = (Arc::clone(self), Arc::clone(resource));
            let audited =
                tokio::task::spawn_blocking(move || auditor.page(&resource_of_page, objects));
            let (audited, next) = tokio::join!(audited, pages.next());
            let audited = audited.map_err(|error| AuditError(error.to_string()))?;
            for (object, findings) in &audited {
                summary.count(findings);
                let reported = observer.found(resource, object, findings).await;
                reported.map_err(AuditError)?;
            }
            observer.progress(summary.objects, remaining);
            page = match next {
                Ok(page) => page,
                Err(error) => return Ok(Err(error)),
            };
        }
        Ok(Ok(()))
    }

    fn page(&self, resource: &Audited, objects: Vec<Json>) -> Vec<(Json, Vec<Finding>)> {
        let group = &resource.kind.group;
        let qualified = format!("{}.{group}", resource.plural);
        let objects = objects.into_iter().filter(|object| {
            let metadata = MetadataView::of(object);
            self.shard
                .has(&qualified, metadata.namespace(), metadata.name())
        });
        let audited = objects.map(|object| {
            let Auditor {
                state,
                authorizer,
                user,
                ..
            } = self;
            let findings = audit_object(state, authorizer, user, resource, &object);
            (object, findings)
        });
        audited.collect()
    }
}

fn authorizer(state: &State, live: Arc<dyn Live>) -> Arc<dyn Authorizer> {
    match live.decides_access() {
        true => Arc::new(Waiting {
            live,
            runtime: Handle::current(),
        }),
        false => Arc::clone(state.authorizer()),
    }
}

/// An authorizer that asks the cluster and blocks until the cluster answers. It is used only on threads that may block.
#[derive(Debug)]
struct Waiting {
    live: Arc<dyn Live>,
    runtime: Handle,
}

impl Authorizer for Waiting {
    fn authorize(&self, question: &AuthorizerAttributes) -> Decision {
        let known = self.live.known(question);
        known.unwrap_or_else(|| self.runtime.block_on(self.live.authorize(question)))
    }
}

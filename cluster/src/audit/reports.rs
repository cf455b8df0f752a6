//! Writes findings to the cluster as report objects: PolicyReport and ClusterPolicyReport (wgpolicyk8s.io/v1alpha2), or their successors of
//! openreports.io if the cluster has them. A report covers the objects of one resource in one namespace, so that memory holds only the
//! results for one resource and namespace.

use std::collections::BTreeMap;

use gavel_apimachinery::meta::MetadataView;
use jiff::Timestamp;
use kube::Client;
use kube::api::{Api, DeleteParams, DynamicObject, ListParams, Patch, PatchParams};
use kube::{Error, ResourceExt};
use serde_json::{Value as Json, json};

use super::object::{Audited, Finding, Outcome};
use super::shard::Shard;
use crate::access::message;
use crate::cluster::Cluster;
use crate::kinds::resource;

/// A report is written when it has this many results. This keeps reports below 1.5 MB, the size limit of objects in a cluster.
const MOST: usize = 500;
/// The size limit of a message in bytes.
const LONGEST: usize = 1024;
/// The writer's name in `managedFields` and in the label.
const MANAGER: &str = "gavel-audit";
const SHARD: &str = "gavel.example.com/shard";
const RUN: &str = "gavel.example.com/run";

/// Writes the results of an audit to the cluster as policy reports.
pub struct Reports {
    client: Client,
    api: Kinds,
    shard: Shard,
    run: String,
    open: Option<Open>,
}

impl std::fmt::Debug for Reports {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reports").finish_non_exhaustive()
    }
}

/// The kinds of policy reports, in the API group and version that the cluster serves.
#[derive(Debug, Clone, Copy)]
struct Kinds {
    group: &'static str,
    version: &'static str,
    /// The kind and plural name of reports about objects in a namespace. The field `cluster` has the kind and plural name of reports about
    /// cluster-scoped objects.
    namespaced: (&'static str, &'static str),
    cluster: (&'static str, &'static str),
}

const KNOWN: [Kinds; 2] = [
    Kinds {
        group: "openreports.io",
        version: "v1alpha1",
        namespaced: ("Report", "reports"),
        cluster: ("ClusterReport", "clusterreports"),
    },
    Kinds {
        group: "wgpolicyk8s.io",
        version: "v1alpha2",
        namespaced: ("PolicyReport", "policyreports"),
        cluster: ("ClusterPolicyReport", "clusterpolicyreports"),
    },
];

/// A report that is not written yet.
#[derive(Debug)]
struct Open {
    namespace: String,
    resource: String,
    part: u32,
    results: Vec<Json>,
    summary: BTreeMap<&'static str, u64>,
}

impl Reports {
    /// Starts writing reports of the newest kinds that a cluster serves.
    ///
    /// # Errors
    ///
    /// The cluster serves no kinds of reports, or is unreachable.
    pub async fn new(cluster: &Cluster, shard: Shard) -> Result<Self, String> {
        let client = cluster.client().clone();
        let groups = client.list_api_groups().await.map_err(message)?;
        let served = |known: &&Kinds| {
            let mut groups = groups
                .groups
                .iter()
                .filter(|group| group.name == known.group);
            groups.any(|group| {
                group
                    .versions
                    .iter()
                    .any(|each| each.version == known.version)
            })
        };
        let api = KNOWN.iter().find(served);
        let api = api.ok_or("the cluster has no reports: install the definitions of openreports.io or wgpolicyk8s.io")?;
        Ok(Reports {
            client,
            api: *api,
            shard,
            run: Timestamp::now().as_millisecond().to_string(),
            open: None,
        })
    }

    /// Adds the findings about an object. The objects of a resource must be sorted by namespace.
    ///
    /// # Errors
    ///
    /// A report cannot be written.
    pub async fn add(
        &mut self,
        resource: &Audited,
        object: &Json,
        findings: &[Finding],
    ) -> Result<(), String> {
        let metadata = MetadataView::of(object);
        let namespace = metadata.namespace();
        let name = match resource.kind.group.as_str() {
            "" => resource.plural.clone(),
            group => format!("{}.{group}", resource.plural),
        };
        let is_other = |open: &Open| open.namespace != namespace || open.resource != name;
        if self.open.as_ref().is_some_and(is_other) {
            self.close().await?;
        }
        let open = self.open.get_or_insert_with(|| Open {
            namespace: namespace.to_owned(),
            resource: name,
            part: 0,
            results: Vec::new(),
            summary: BTreeMap::new(),
        });
        if findings.is_empty() {
            count(&mut open.summary, "pass");
        }
        let mut subject = json!({
            "apiVersion": resource.kind.api_version(), "kind": &*resource.kind.kind,
            "namespace": namespace, "name": metadata.name(), "uid": metadata.uid(),
        });
        if let Some(fields) = subject.as_object_mut() {
            fields.retain(|_, value| value != "");
        }
        for finding in findings {
            count(&mut open.summary, finding.outcome.name());
            open.results.push(result(finding, &subject));
        }
        if open.results.len() >= MOST {
            self.write().await?;
        }
        Ok(())
    }

    /// Writes the remaining reports and, if all objects were read, deletes the reports of earlier runs.
    ///
    /// # Errors
    ///
    /// A report cannot be written, or an old report cannot be deleted.
    pub async fn finish(mut self, is_complete: bool) -> Result<(), String> {
        self.close().await?;
        if !is_complete {
            return Ok(());
        }
        for kind in [self.api.namespaced, self.api.cluster] {
            self.sweep(kind).await.map_err(message)?;
        }
        Ok(())
    }

    async fn close(&mut self) -> Result<(), String> {
        self.write().await?;
        self.open = None;
        Ok(())
    }

    /// Writes the collected results as a report. Further results go into a report with the next number.
    async fn write(&mut self) -> Result<(), String> {
        let Some(open) = &mut self.open else {
            return Ok(());
        };
        let results = std::mem::take(&mut open.results);
        let summary = std::mem::take(&mut open.summary);
        if results.is_empty() {
            return Ok(());
        }
        let (kind, plural) = match open.namespace.is_empty() {
            true => self.api.cluster,
            false => self.api.namespaced,
        };
        let (part, index) = (open.part, self.shard.index());
        open.part = part.saturating_add(1);
        let name = format!("gavel-{}-{index}-{part}", open.resource);
        let resource = resource(self.api.group, self.api.version, kind, plural);
        let of = |outcome: &str| summary.get(outcome).copied().unwrap_or_default();
        let report = json!({
            "apiVersion": resource.api_version,
            "kind": kind,
            "metadata": {
                "name": name,
                "labels": {"app.kubernetes.io/managed-by": MANAGER, SHARD: index.to_string()},
                "annotations": {RUN: self.run},
            },
            "summary": {"pass": of("pass"), "fail": of("fail"), "warn": of("warn"), "error": of("error"), "skip": 0},
            "results": results,
        });
        let client = self.client.clone();
        let api: Api<DynamicObject> = match open.namespace.as_str() {
            "" => Api::all_with(client, &resource),
            namespace => Api::namespaced_with(client, namespace, &resource),
        };
        let params = PatchParams::apply(MANAGER).force();
        match api.patch(&name, &params, &Patch::Apply(&report)).await {
            Ok(_) => Ok(()),
            // The namespace was deleted, with its objects.
            Err(Error::Api(status)) if status.code == 404 => Ok(()),
            Err(error) => Err(message(error)),
        }
    }

    /// Deletes the reports of this shard from earlier runs. The first shard also deletes the reports of shards that no longer exist.
    async fn sweep(&self, (kind, plural): (&str, &str)) -> kube::Result<()> {
        let resource = resource(self.api.group, self.api.version, kind, plural);
        let all: Api<DynamicObject> = Api::all_with(self.client.clone(), &resource);
        let others: Vec<String> = (1..self.shard.count()).map(|n| n.to_string()).collect();
        let own = match (self.shard.index(), others.is_empty()) {
            (0, true) => String::new(),
            (0, false) => format!(",{SHARD} notin ({})", others.join(",")),
            (index, _) => format!(",{SHARD}={index}"),
        };
        let labels = format!("app.kubernetes.io/managed-by={MANAGER}{own}");
        let mut params = ListParams::default().labels(&labels).limit(500);
        loop {
            let page = all.list_metadata(&params).await?;
            for report in &page.items {
                if report.annotations().get(RUN) == Some(&self.run) {
                    continue;
                }
                let client = self.client.clone();
                let api: Api<DynamicObject> = match report.namespace() {
                    None => Api::all_with(client, &resource),
                    Some(namespace) => Api::namespaced_with(client, &namespace, &resource),
                };
                match api
                    .delete(&report.name_any(), &DeleteParams::default())
                    .await
                {
                    Err(Error::Api(status)) if status.code == 404 => {}
                    deleted => drop(deleted?),
                }
            }
            match page.metadata.continue_.filter(|token| !token.is_empty()) {
                Some(token) => params.continue_token = Some(token),
                None => return Ok(()),
            }
        }
    }
}

/// Formats a violation as a result in a report.
fn result(finding: &Finding, subject: &Json) -> Json {
    let Finding {
        policy,
        binding,
        outcome,
        message,
    } = finding;
    let now = Timestamp::now();
    json!({
        "source": "gavel",
        "policy": policy,
        "rule": binding,
        "result": outcome.name(),
        "scored": *outcome != Outcome::Warn,
        "message": bounded(message),
        "resources": [subject],
        "timestamp": {"seconds": now.as_second(), "nanos": 0},
    })
}

/// The beginning of a message, within the size limit.
fn bounded(message: &str) -> &str {
    let end = message.floor_char_boundary(LONGEST);
    message.get(..end).unwrap_or(message)
}

fn count(summary: &mut BTreeMap<&'static str, u64>, outcome: &'static str) {
    let count = summary.entry(outcome).or_default();
    *count = count.saturating_add(1);
}

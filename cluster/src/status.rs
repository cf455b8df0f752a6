//! The status of policies with the type errors of their expressions, as kube-controller-manager writes it for built-in policies (kubernetes
//! `pkg/controller/validatingadmissionpolicystatus`).

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use gavel_libraries::Server;
use gavel_policy::api::{Registration, ValidatingAdmissionPolicy};
use kube::api::{Api, ApiResource, DynamicObject, Patch, PatchParams};
use kube::runtime::WatchStreamExt;
use kube::runtime::watcher::{self, watcher};
use kube::{Client, ResourceExt};
use serde_json::{Value as Json, json};
use tokio::sync::watch;
use tokio::time::timeout;

use crate::access::message;
use crate::contact::{Contact, heard_by};
use crate::informer::failed;
use crate::kinds;
use crate::schemas::Schemas;

/// The writer's name in `managedFields`.
const MANAGER: &str = "gavel-status";
/// The name of this watch in messages.
const WHAT: &str = "policies for their status";
/// The time without events after which the schemas are dropped. If a policy could not be checked or a status could not be written, all
/// policies are read again at that time instead.
const IDLE: Duration = Duration::from_secs(10);

/// Writes the status of policies while this replica leads.
pub(crate) async fn run(
    client: Client,
    server: Server,
    contact: Arc<Contact>,
    mut leads: watch::Receiver<bool>,
) {
    let Some(resource) = kinds::own().next() else {
        return;
    };
    loop {
        if leads.wait_for(|leads| *leads).await.is_err() {
            return;
        }
        tokio::select! {
            _ = leads.wait_for(|leads| !*leads) => contact.forget(WHAT),
            () = write(&client, server, &contact, &resource) => {}
        }
    }
}

/// Writes the status of each policy that changes. Returns after a pause if the types of a policy could not be checked or a status could not
/// be written; the caller then starts again, so that all policies are checked again.
async fn write(client: &Client, server: Server, contact: &Arc<Contact>, resource: &ApiResource) {
    let api: Api<DynamicObject> = Api::all_with(client.clone(), resource);
    let config = watcher::Config::default();
    let watched = Api::all_with(heard_by(client, contact, WHAT), resource);
    let mut events = watcher::<DynamicObject>(watched, config)
        .default_backoff()
        .boxed();
    let mut schemas = Schemas::new(client.clone(), server);
    let mut is_complete = true;
    loop {
        let event = match timeout(IDLE, events.next()).await {
            Ok(event) => event,
            Err(_) if is_complete => {
                schemas.clear();
                events.next().await
            }
            Err(_) => return,
        };
        let Some(event) = event else { return };
        let policy = match event {
            Ok(watcher::Event::Apply(policy) | watcher::Event::InitApply(policy)) => policy,
            Ok(_) => continue,
            Err(error) => {
                failed(contact, WHAT, error);
                continue;
            }
        };
        let name = policy.name_any();
        let generation = policy.metadata.generation.unwrap_or_default();
        let observed = policy.data.pointer("/status/observedGeneration");
        if observed.and_then(Json::as_i64) == Some(generation) {
            continue;
        }
        let warnings = match warnings(&mut schemas, &policy).await {
            Ok(Some(warnings)) => warnings,
            Ok(None) => continue,
            Err(error) => {
                tracing::warn!(
                    policy = name,
                    error = message(error),
                    "types could not be checked"
                );
                is_complete = false;
                continue;
            }
        };
        let checking = match warnings.is_empty() {
            true => json!({}),
            false => json!({"expressionWarnings": warnings}),
        };
        let status = json!({
            "apiVersion": resource.api_version,
            "kind": resource.kind,
            "metadata": {"name": name},
            "status": {"observedGeneration": generation, "typeChecking": checking},
        });
        let params = PatchParams::apply(MANAGER).force();
        let status = Patch::Apply(&status);
        match api.patch_status(&name, &params, &status).await {
            Ok(_) => {}
            // The policy has been deleted.
            Err(kube::Error::Api(status)) if status.code == 404 => {}
            Err(error) => {
                tracing::warn!(
                    policy = name,
                    error = message(error),
                    "status could not be written"
                );
                is_complete = false;
            }
        }
    }
}

/// The warnings that kube-controller-manager would write into the status of a policy; `None` if the policy cannot be read.
async fn warnings(
    schemas: &mut Schemas,
    policy: &DynamicObject,
) -> kube::Result<Option<Vec<Json>>> {
    let policy = serde_json::to_value(policy).map(kinds::as_built_in);
    let policy = policy
        .ok()
        .and_then(|policy| ValidatingAdmissionPolicy::from_json(&policy).ok());
    let Some(policy) = policy else {
        return Ok(None);
    };
    let warnings = schemas.check(policy).await?.into_iter();
    let warnings =
        warnings.map(|warning| json!({"fieldRef": warning.field_ref, "warning": warning.warning}));
    Ok(Some(warnings.collect()))
}

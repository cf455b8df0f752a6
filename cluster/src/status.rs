//! The status of policies, as kube-controller-manager writes that of the built-in ones: the type errors of their expressions
//! (kubernetes `pkg/controller/validatingadmissionpolicystatus`).

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use gavel_libraries::Server;
use gavel_policy::GroupVersionKind;
use gavel_policy::api::{Registration, ValidatingAdmissionPolicy};
use gavel_policy::typecheck::TypeChecker;
use gavel_schema::openapi;
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

/// The writer's name in `managedFields`.
const MANAGER: &str = "gavel-status";
/// The name of this watch in messages.
const WHAT: &str = "policies for their status";
/// If a status could not be written, all policies are read again this long after the last event.
const AGAIN: Duration = Duration::from_secs(10);
/// The most groups and versions that one policy has types of.
const MOST_VERSIONS: usize = 10;

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

/// Returns if a status could not be written, so that all policies are checked again.
async fn write(client: &Client, server: Server, contact: &Arc<Contact>, resource: &ApiResource) {
    let api: Api<DynamicObject> = Api::all_with(client.clone(), resource);
    let config = watcher::Config::default();
    let watched = Api::all_with(heard_by(client, contact, WHAT), resource);
    let mut events = watcher::<DynamicObject>(watched, config)
        .default_backoff()
        .boxed();
    let mut is_complete = true;
    loop {
        let next = events.next();
        let event = match is_complete {
            true => next.await,
            false => timeout(AGAIN, next).await.unwrap_or_default(),
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
        let Some(warnings) = warnings(client, server, &policy).await else {
            continue;
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
        if let Err(error) = api
            .patch_status(&name, &params, &Patch::Apply(&status))
            .await
        {
            tracing::warn!(policy = name, error = message(error), "status not written");
            is_complete = false;
        }
    }
}

/// Upstream's warnings; `None` if the policy cannot be read.
async fn warnings(client: &Client, server: Server, policy: &DynamicObject) -> Option<Vec<Json>> {
    let object = kinds::as_built_in(serde_json::to_value(policy).ok()?);
    let policy = ValidatingAdmissionPolicy::from_json(&object).ok()?;
    let mut documents = Vec::new();
    for version in versions(&policy) {
        let path = match version.contains('/') {
            true => format!("/openapi/v3/apis/{version}"),
            false => format!("/openapi/v3/api/{version}"),
        };
        let request = http::Request::get(path).body(Vec::new()).ok()?;
        match client.request::<Json>(request).await {
            Ok(document) => documents.push(document),
            Err(error) => tracing::debug!(version, error = message(error), "no schemas"),
        }
    }
    // Checking takes its time.
    let checked = tokio::task::spawn_blocking(move || {
        let mut types = TypeChecker::new(server).ok()?;
        for document in &documents {
            read(document, &mut types);
        }
        let warnings = types.check(&policy).into_iter();
        let warnings = warnings
            .map(|warning| json!({"fieldRef": warning.field_ref, "warning": warning.warning}));
        Some(warnings.collect())
    });
    checked.await.ok().flatten()
}

/// The groups and versions that a policy names, its params' among them.
fn versions(policy: &ValidatingAdmissionPolicy) -> BTreeSet<String> {
    let spec = &policy.spec;
    let mut versions = BTreeSet::new();
    let constraints = spec.match_constraints.iter();
    for rule in constraints.flat_map(|constraints| &constraints.resource_rules) {
        let rule = &rule.rule;
        for group in &rule.api_groups {
            for version in &rule.api_versions {
                if group == "*" || version == "*" || versions.len() >= MOST_VERSIONS {
                    continue;
                }
                versions.insert(match group.as_str() {
                    "" => version.clone(),
                    group => format!("{group}/{version}"),
                });
            }
        }
    }
    versions.extend(spec.param_kind.iter().map(|kind| kind.api_version.clone()));
    versions
}

/// The key that names the kind of a schema or path in an OpenAPI document.
const KIND: &str = "x-kubernetes-group-version-kind";

/// Adds the kinds of an OpenAPI document that are resources.
fn read(document: &Json, types: &mut TypeChecker) {
    let Some(schemas) = document
        .pointer("/components/schemas")
        .and_then(Json::as_object)
    else {
        return;
    };
    let paths = document.get("paths").and_then(Json::as_object);
    for (path, operations) in paths.into_iter().flatten() {
        let (_, name) = path.rsplit_once('/').unwrap_or_default();
        let kind = operations.pointer(&format!("/get/{KIND}"));
        // Subresources follow the name of an object.
        if let (Some(kind), false) = (kind, name.is_empty() || path.contains("{name}")) {
            types.add_resource(name.to_owned(), GroupVersionKind::read(kind.into()));
        }
    }
    for schema in schemas.values() {
        // What belongs to several kinds is none of them, such as the options of requests.
        let Some([kind]) = schema.get(KIND).and_then(Json::as_array).map(Vec::as_slice) else {
            continue;
        };
        if let Ok(schema) = openapi::resolve(schema, &|name| schemas.get(name)) {
            types.add_kind(GroupVersionKind::read(kind.into()), &schema);
        }
    }
}

//! The policies of a run, with all that they look at.

use std::collections::BTreeSet;

use gavel_crd::definition::Definition;
use gavel_engine::value::{Arena, Json};
use gavel_libraries::{EnvSet, Server};
use gavel_policy::api::GROUP;
use gavel_policy::mutating::{ObjectSchemas, mutate};
use gavel_policy::{AdmissionRequest, GroupVersionKind, Options, PolicyIndex};
use serde_json::json;

use crate::requests::Requests;

/// The policies, and what they look at beside the objects.
pub(super) struct Policies {
    index: PolicyIndex,
    schemas: ObjectSchemas,
    requests: Requests,
    namespaces: BTreeSet<String>,
    bound: BTreeSet<String>,
}

impl Policies {
    /// No policies yet; `requests` says who asks.
    pub(super) fn new(server: Server, requests: Requests) -> Result<Self, String> {
        let environments = EnvSet::new(server).map_err(|error| error.to_string())?;
        Ok(Policies {
            index: PolicyIndex::new(environments.stored_expressions()),
            schemas: ObjectSchemas::default().typed(),
            requests,
            namespaces: BTreeSet::new(),
            bound: BTreeSet::new(),
        })
    }

    /// Takes in a policy, a binding, a namespace, a definition, or an object that policies may use as params.
    ///
    /// # Errors
    ///
    /// An object that is not of the type that its kind names.
    pub(super) fn add(&mut self, object: &Json) -> Result<(), String> {
        let text = |key: &str| object.get(key).and_then(Json::as_str).unwrap_or_default();
        let group = text("apiVersion").split_once('/').map(|(group, _)| group);
        match (group, text("kind")) {
            (_, "CustomResourceDefinition") => return self.define(object),
            (None, "Namespace") => {
                let name = object.pointer("/metadata/name").and_then(Json::as_str);
                self.namespaces.extend(name.map(str::to_owned));
            }
            (_, "MutatingAdmissionPolicyBinding") => {
                let policy = object.pointer("/spec/policyName").and_then(Json::as_str);
                self.bound.extend(policy.map(str::to_owned));
            }
            (Some(GROUP), _) => {}
            _ => {
                self.index.apply_param(object.clone());
                return Ok(());
            }
        }
        let applied = self.index.apply(object.clone());
        applied.map_err(|error| error.to_string())
    }

    fn define(&mut self, object: &Json) -> Result<(), String> {
        let definition = Definition::read(object).map_err(|error| error.to_string())?;
        self.requests.define(object);
        let spec = definition.spec;
        for version in spec.versions {
            let kind = GroupVersionKind {
                group: spec.group.as_str().into(),
                version: version.name.as_str().into(),
                kind: spec.names.kind.as_str().into(),
            };
            let schema = version.schema.and_then(|validation| validation.schema);
            self.schemas.insert(kind, schema.unwrap_or_default());
        }
        Ok(())
    }

    /// Whether there is no policy.
    pub(super) fn is_empty(&self) -> bool {
        self.index.snapshot().mutating_policies().next().is_none()
    }

    /// What is to be said of policies that have no binding, which therefore do nothing.
    pub(super) fn unbound(&self) -> Vec<String> {
        let snapshot = self.index.snapshot();
        let policies = snapshot.mutating_policies().map(|policy| policy.name());
        policies
            .filter(|name| !self.bound.contains(*name))
            .map(|name| format!("MutatingAdmissionPolicy {name:?} has no binding: it does nothing"))
            .collect()
    }

    /// The object after all mutations; none where no policy changed it.
    ///
    /// # Errors
    ///
    /// Why the object would be denied.
    pub(super) fn mutate(&mut self, object: &Json) -> Result<Option<Json>, String> {
        let mut object = object.clone();
        self.schemas.fill_defaults(&mut object);
        let request = self.requests.create(&object);
        let namespace = request.get("namespace").and_then(Json::as_str);
        self.assume(namespace.unwrap_or_default())?;
        let arena = Arena::new();
        let request = AdmissionRequest::read((&request).into(), &arena);
        let request = request.map_err(|error| error.to_string())?;
        let (snapshot, options) = (self.index.snapshot(), Options::default());
        let mutated = mutate(&snapshot, &request, &self.schemas, &options);
        match mutated.status {
            Some(status) => Err(status.message),
            None => Ok(mutated.object.filter(|after| *after != object)),
        }
    }

    /// Makes a namespace known of which no manifest tells, with the label that every namespace has.
    fn assume(&mut self, name: &str) -> Result<(), String> {
        if name.is_empty() || !self.namespaces.insert(name.to_owned()) {
            return Ok(());
        }
        let namespace = json!({
            "metadata": {"name": name, "labels": {"kubernetes.io/metadata.name": name}},
            "spec": {"finalizers": ["kubernetes"]},
            "status": {"phase": "Active"},
        });
        let applied = self.index.apply_namespace(&namespace);
        applied.map_err(|error| error.to_string())
    }
}

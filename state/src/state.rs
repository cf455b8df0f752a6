//! The state that decides requests.

use std::collections::BTreeMap;
use std::sync::Arc;

use gavel_libraries::Server;
use gavel_libraries::authorizer::Authorizer;
use gavel_manifest::Problem;
use gavel_policy::mutating::ObjectSchemas;
use gavel_policy::{AdmissionRequest, CompiledPolicy, Snapshot};
use serde_json::Value as Json;

use crate::definitions::Definitions;
use crate::prepare::Sort;
use crate::registrations::Registrations;
use crate::unseen::Unseen;

/// All compiled objects that decide requests. A state never changes.
#[derive(Debug)]
pub struct State {
    pub(crate) server: Server,
    pub(crate) registrations: Option<Registrations>,
    pub(crate) snapshot: Snapshot,
    pub(crate) definitions: Arc<Definitions>,
    /// The schemas for merging objects and setting their defaults.
    pub(crate) schemas: ObjectSchemas,
    pub(crate) authorizer: Arc<dyn Authorizer>,
    /// The `validationActions` of each binding, by the name of the binding.
    pub(crate) actions: Arc<BTreeMap<String, Vec<String>>>,
    pub(crate) rejections: Vec<Rejection>,
    pub(crate) unseen: Vec<Unseen>,
    pub(crate) compile_errors: Arc<BTreeMap<(Sort, String), usize>>,
    pub(crate) counts: Counts,
}

/// An object whose newest version is invalid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejection {
    /// The kind; empty if absent.
    pub kind: String,
    /// Whether an earlier, valid version of the object is in force. Otherwise the state does not contain the object.
    pub in_force: bool,
    /// The problems of the newest version.
    pub problems: Vec<Problem>,
}

/// The number of objects of each kind.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Counts {
    /// The number of ValidatingAdmissionPolicies.
    pub policies: usize,
    /// The number of ValidatingAdmissionPolicyBindings.
    pub bindings: usize,
    /// The number of MutatingAdmissionPolicies.
    pub mutating_policies: usize,
    /// The number of MutatingAdmissionPolicyBindings.
    pub mutating_bindings: usize,
    /// The number of CustomResourceDefinitions.
    pub definitions: usize,
    /// The number of namespaces.
    pub namespaces: usize,
    /// The number of objects whose kind is the `paramKind` of a policy.
    pub params: usize,
}

impl State {
    /// The request's namespace, if the state does not contain it. `None` if the namespace is known, if the request has none, or if the
    /// request is about a namespace itself.
    pub fn unknown_namespace<'r>(&self, request: &AdmissionRequest<'r>) -> Option<&'r str> {
        let name = request.namespace;
        let is_namespace = request.kind.group.is_empty() && request.kind.kind == "Namespace";
        let is_known = name.is_empty() || self.snapshot.has_namespace(name) || is_namespace;
        (!is_known).then_some(name)
    }

    /// Returns the snapshot for a request: the policies and the objects that they read.
    ///
    /// If the request's namespace is unknown, the snapshot contains an assumed namespace, with only the label
    /// `kubernetes.io/metadata.name`. If the request updates or deletes this unknown namespace itself, the snapshot contains the old object
    /// instead.
    pub fn snapshot(&self, request: &AdmissionRequest<'_>) -> Snapshot {
        let name = request.namespace;
        if name.is_empty() || self.snapshot.has_namespace(name) {
            return self.snapshot.clone();
        }
        let is_namespace = request.kind.group.is_empty() && request.kind.kind == "Namespace";
        if is_namespace
            && let Some(namespace @ Json::Object(_)) = request.old_object.to_json()
            && let Ok(snapshot) = self.snapshot.with_namespace(&namespace)
        {
            return snapshot;
        }
        self.snapshot.with_assumed_namespace(name)
    }

    /// Returns the snapshot for a request whose namespace the caller has looked up. `namespace` is the JSON of the Namespace; `None` if it
    /// does not exist.
    pub fn snapshot_with(&self, namespace: Option<&Json>) -> Snapshot {
        let with = namespace.and_then(|object| self.snapshot.with_namespace(object).ok());
        with.unwrap_or_else(|| self.snapshot.clone())
    }

    /// The API server whose decisions are reproduced.
    pub fn server(&self) -> Server {
        self.server
    }

    /// The validator for policies that requests create or update; `None` if such policies are not validated.
    pub fn registrations(&self) -> Option<&Registrations> {
        self.registrations.as_ref()
    }

    /// The validating policies, sorted by name.
    pub fn policies(&self) -> impl Iterator<Item = &CompiledPolicy> {
        self.snapshot.policies()
    }

    /// The CustomResourceDefinitions.
    pub fn definitions(&self) -> &Definitions {
        &self.definitions
    }

    /// The schemas for merging objects and setting their defaults.
    pub fn schemas(&self) -> &ObjectSchemas {
        &self.schemas
    }

    /// The authorizer that answers permission checks by the RBAC objects.
    pub fn authorizer(&self) -> &Arc<dyn Authorizer> {
        &self.authorizer
    }

    /// The `validationActions` of a binding: `Deny`, `Warn` and `Audit`.
    pub fn actions(&self, binding: &str) -> &[String] {
        self.actions
            .get(binding)
            .map(Vec::as_slice)
            .unwrap_or_default()
    }

    /// The objects whose newest versions are invalid, sorted by their positions. If an object has an earlier valid version, this version
    /// stays in force.
    pub fn rejections(&self) -> &[Rejection] {
        &self.rejections
    }

    /// The problems of all objects.
    pub fn problems(&self) -> impl Iterator<Item = &Problem> {
        self.rejections.iter().flat_map(|each| &each.problems)
    }

    /// The objects that policies or bindings need but that no origin contains: bindings, policies, params, namespaces and roles.
    pub fn unseen(&self) -> &[Unseen] {
        &self.unseen
    }

    /// The number of problems in the newest version of each policy; 0 if it has none. The keys say whether the policy is validating or
    /// mutating, and its name.
    pub fn compile_errors(&self) -> &BTreeMap<(Sort, String), usize> {
        &self.compile_errors
    }

    /// The bindings of validating policies, as pairs of the policy's name and the binding's name.
    pub fn bound(&self) -> impl Iterator<Item = (&str, &str)> {
        self.snapshot.bound()
    }

    /// Whether any policy has a binding, validating or mutating.
    pub fn has_bindings(&self) -> bool {
        self.snapshot.has_bindings()
    }

    /// The numbers of objects in the state.
    pub fn counts(&self) -> Counts {
        self.counts
    }
}

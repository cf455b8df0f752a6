//! States, which decide requests.

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

/// The state that decides requests. It never changes.
#[derive(Debug)]
pub struct State {
    pub(crate) server: Server,
    pub(crate) registrations: Option<Registrations>,
    pub(crate) snapshot: Snapshot,
    pub(crate) definitions: Arc<Definitions>,
    /// The schemas for merging objects and setting their defaults.
    pub(crate) schemas: ObjectSchemas,
    pub(crate) authorizer: Arc<dyn Authorizer>,
    /// The actions of each binding, by the name of the binding.
    pub(crate) actions: Arc<BTreeMap<String, Vec<String>>>,
    pub(crate) problems: Vec<Problem>,
    pub(crate) unseen: Vec<Unseen>,
    pub(crate) compile_errors: Arc<BTreeMap<(Sort, String), usize>>,
    pub(crate) counts: Counts,
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
    /// The number of objects of the kinds that policies use as params.
    pub params: usize,
}

impl State {
    /// The name of a request's namespace, if the state does not have this namespace. `None` also for requests without a namespace, and for
    /// requests about a namespace itself.
    pub fn unknown_namespace<'r>(&self, request: &AdmissionRequest<'r>) -> Option<&'r str> {
        let name = request.namespace;
        let is_namespace = request.kind.group.is_empty() && request.kind.kind == "Namespace";
        let is_known = name.is_empty() || self.snapshot.has_namespace(name) || is_namespace;
        (!is_known).then_some(name)
    }

    /// Returns the policies with all objects that they read. An API server would look up an unknown namespace; here such a namespace is
    /// assumed to have only the label `kubernetes.io/metadata.name`. For a request that deletes a namespace, the deleted object is
    /// used as the namespace. The state itself does not change.
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

    /// The policies with all objects that they read. `namespace` is the namespace of the request, which the caller has looked up; `None` if
    /// it does not exist.
    pub fn snapshot_with(&self, namespace: Option<&Json>) -> Snapshot {
        let with = namespace.and_then(|object| self.snapshot.with_namespace(object).ok());
        with.unwrap_or_else(|| self.snapshot.clone())
    }

    /// The API server whose decisions are reproduced.
    pub fn server(&self) -> Server {
        self.server
    }

    /// The validator for policies that requests write; `None` if such policies are not validated.
    pub fn registrations(&self) -> Option<&Registrations> {
        self.registrations.as_ref()
    }

    /// The policies, by name.
    pub fn policies(&self) -> impl Iterator<Item = &CompiledPolicy> {
        self.snapshot.policies()
    }

    /// The definitions of custom resources.
    pub fn definitions(&self) -> &Definitions {
        &self.definitions
    }

    /// The schemas for merging objects and setting their defaults.
    pub fn schemas(&self) -> &ObjectSchemas {
        &self.schemas
    }

    /// The authorizer that decides by the RBAC objects.
    pub fn authorizer(&self) -> &Arc<dyn Authorizer> {
        &self.authorizer
    }

    /// The actions of a binding: `Deny`, `Warn`, `Audit`.
    pub fn actions(&self, binding: &str) -> &[String] {
        self.actions
            .get(binding)
            .map(Vec::as_slice)
            .unwrap_or_default()
    }

    /// The problems of objects. The last valid versions of such objects stay in force.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// The objects that policies or bindings read but that no origin has: params, labels of namespaces, roles.
    pub fn unseen(&self) -> &[Unseen] {
        &self.unseen
    }

    /// All policies by sort and name, with the number of problems of their newest versions.
    pub fn compile_errors(&self) -> &BTreeMap<(Sort, String), usize> {
        &self.compile_errors
    }

    /// The names of the bound policies, each with the name of a binding.
    pub fn bound(&self) -> impl Iterator<Item = (&str, &str)> {
        self.snapshot.bound()
    }

    /// The number of known objects.
    pub fn counts(&self) -> Counts {
        self.counts
    }
}

//! What requests are decided by.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use gavel_libraries::authorizer::{Authorizer, Rbac};
use gavel_policy::api::ParamKind;
use gavel_policy::mutating::ObjectSchemas;
use gavel_policy::{
    AdmissionRequest, CompiledPolicy, EquivalentResources, GroupVersionKind, GroupVersionResource,
    PolicyIndex, Snapshot,
};
use serde_json::Value as Json;

use crate::definitions::{Compiled, Definitions};
use crate::object::Object;
use crate::prepare::{Good, Prepared};
use crate::unseen::unseen;

/// Everything that requests are decided by. It never changes.
#[derive(Debug)]
pub struct State {
    snapshot: Snapshot,
    definitions: Definitions,
    /// By what objects are merged, and their defaults.
    schemas: ObjectSchemas,
    authorizer: Arc<dyn Authorizer>,
    /// What each binding does with denials.
    actions: BTreeMap<String, Vec<String>>,
    problems: Vec<String>,
    unseen: Vec<String>,
    compile_errors: BTreeMap<String, usize>,
    counts: Counts,
}

/// How many objects of each kind are known.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Counts {
    /// ValidatingAdmissionPolicies.
    pub policies: usize,
    /// ValidatingAdmissionPolicyBindings.
    pub bindings: usize,
    /// MutatingAdmissionPolicies.
    pub mutating_policies: usize,
    /// MutatingAdmissionPolicyBindings.
    pub mutating_bindings: usize,
    /// CustomResourceDefinitions.
    pub definitions: usize,
    /// Namespaces.
    pub namespaces: usize,
    /// Objects that policies use as params.
    pub params: usize,
}

impl State {
    /// What an index knows, and nothing else.
    pub fn of_index(index: PolicyIndex) -> Self {
        let empty = build(
            index.clone(),
            std::iter::empty(),
            Vec::new(),
            BTreeMap::new(),
        );
        State {
            snapshot: index.snapshot(),
            ..empty
        }
    }

    /// Returns the policies with everything that they read. An API server would look a namespace up that nothing
    /// describes; here such a namespace is assumed to have only the label that every namespace has, its name. In a request
    /// that deletes a namespace, the namespace is the deleted one. Nothing outlives the request.
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

    /// The policies, by name.
    pub fn policies(&self) -> impl Iterator<Item = &CompiledPolicy> {
        self.snapshot.policies()
    }

    /// The definitions of custom resources.
    pub fn definitions(&self) -> &Definitions {
        &self.definitions
    }

    /// By what objects are merged, and their defaults.
    pub fn schemas(&self) -> &ObjectSchemas {
        &self.schemas
    }

    /// Who answers `authorizer`: the RBAC objects.
    pub fn authorizer(&self) -> &Arc<dyn Authorizer> {
        &self.authorizer
    }

    /// What a binding does with denials: `Deny`, `Warn`, `Audit`.
    pub fn actions(&self, binding: &str) -> &[String] {
        self.actions
            .get(binding)
            .map(Vec::as_slice)
            .unwrap_or_default()
    }

    /// What is wrong with objects that are therefore not used; their last good versions are.
    pub fn problems(&self) -> &[String] {
        &self.problems
    }

    /// What policies read and nothing tells, by policy or binding: params, labels of namespaces, roles.
    pub fn unseen(&self) -> &[String] {
        &self.unseen
    }

    /// The names of all policies, with the number of problems of their newest versions.
    pub fn compile_errors(&self) -> &BTreeMap<String, usize> {
        &self.compile_errors
    }

    /// The policies that are bound, with their bindings.
    pub fn bound(&self) -> impl Iterator<Item = (&str, &str)> {
        self.snapshot.bound()
    }

    /// How many objects are known.
    pub fn counts(&self) -> Counts {
        self.counts
    }
}

/// Puts objects together that can be used.
pub(crate) fn build<'g>(
    index: PolicyIndex,
    objects: impl Iterator<Item = &'g Good>,
    problems: Vec<String>,
    broken: BTreeMap<String, usize>,
) -> State {
    let objects: Vec<&Good> = objects.collect();
    let mut building = Building {
        index,
        definitions: Definitions::default(),
        schemas: ObjectSchemas::default().typed(),
        equivalents: built_in_equivalents(),
        param_kinds: HashSet::new(),
        actions: BTreeMap::new(),
        counts: Counts::default(),
        problems,
        compile_errors: BTreeMap::new(),
    };
    for good in &objects {
        building.take(&good.prepared);
    }
    // Which objects are params is known now.
    for good in &objects {
        building.other(good);
    }
    building.compile_errors.extend(broken);
    let roles: Vec<&Json> = objects
        .iter()
        .filter(|good| matches!(good.prepared, Prepared::Rbac))
        .map(|good| good.object.value())
        .collect();
    let unseen = unseen(&objects, !roles.is_empty());
    // Each object was read before.
    let rbac = Rbac::from_manifests(roles).unwrap_or_else(|error| {
        building.problems.push(error.to_string());
        Rbac::default()
    });
    building.finish(Arc::new(rbac), unseen)
}

struct Building {
    index: PolicyIndex,
    definitions: Definitions,
    schemas: ObjectSchemas,
    equivalents: EquivalentResources,
    /// The kinds that policies have params of.
    param_kinds: HashSet<(String, String)>,
    actions: BTreeMap<String, Vec<String>>,
    counts: Counts,
    problems: Vec<String>,
    compile_errors: BTreeMap<String, usize>,
}

impl Building {
    fn take(&mut self, prepared: &Prepared) {
        match prepared {
            Prepared::Policy(policy) => {
                self.note_params(policy.policy().spec.param_kind.as_ref());
                let errors = policy.errors().len();
                self.compile_errors.insert(policy.name().to_owned(), errors);
                count(&mut self.counts.policies);
                self.index.insert_policy(Arc::clone(policy));
            }
            Prepared::Binding(binding) => {
                let actions = binding.binding().spec.validation_actions.clone();
                self.actions.insert(binding.name().to_owned(), actions);
                count(&mut self.counts.bindings);
                self.index.insert_binding(Arc::clone(binding));
            }
            Prepared::MutatingPolicy(policy) => {
                self.note_params(policy.policy().spec.param_kind.as_ref());
                let errors = policy.errors().len();
                self.compile_errors.insert(policy.name().to_owned(), errors);
                count(&mut self.counts.mutating_policies);
                self.index.insert_mutating_policy(Arc::clone(policy));
            }
            Prepared::MutatingBinding(binding) => {
                count(&mut self.counts.mutating_bindings);
                self.index.insert_mutating_binding(Arc::clone(binding));
            }
            Prepared::Definition(definition) => self.define(definition),
            Prepared::Rbac | Prepared::Namespace | Prepared::Other => {}
        }
    }

    /// Objects of this kind are params.
    fn note_params(&mut self, kind: Option<&ParamKind>) {
        if let Some(ParamKind { api_version, kind }) = kind {
            self.param_kinds.insert((api_version.clone(), kind.clone()));
        }
    }

    fn define(&mut self, definition: &Arc<Compiled>) {
        let spec = &definition.definition().spec;
        for version in &spec.versions {
            let gvk = GroupVersionKind {
                group: spec.group.as_str().into(),
                version: version.name.as_str().into(),
                kind: spec.names.kind.as_str().into(),
            };
            let schema = version.schema.as_ref();
            let schema = schema.and_then(|validation| validation.schema.clone());
            self.schemas.insert(gvk.clone(), schema.unwrap_or_default());
            let param_kind = ParamKind {
                api_version: gvk.api_version(),
                kind: spec.names.kind.clone(),
            };
            let namespaced = spec.scope == "Namespaced";
            self.index.set_namespaced(&param_kind, namespaced);
            if version.served {
                let gvr = GroupVersionResource {
                    group: gvk.group.clone(),
                    version: gvk.version.clone(),
                    resource: spec.names.plural.as_str().into(),
                };
                self.equivalents
                    .register("", gvr.clone(), "status", gvk.clone());
                self.equivalents.register("", gvr, "", gvk);
            }
        }
        count(&mut self.counts.definitions);
        self.definitions.insert(Arc::clone(definition));
    }

    /// Takes in an object that is no policy, where a policy may look at it.
    fn other(&mut self, good: &Good) {
        let object: &Object = &good.object;
        let key = (object.text("apiVersion"), object.text("kind"));
        let is_namespace = matches!(good.prepared, Prepared::Namespace);
        let is_param = self
            .param_kinds
            .contains(&(key.0.to_owned(), key.1.to_owned()));
        if is_namespace {
            count(&mut self.counts.namespaces);
        }
        if is_namespace && let Err(error) = self.index.apply_namespace(object.value()) {
            self.problems.push(object.problem("", error));
        }
        if is_param {
            count(&mut self.counts.params);
            self.index.apply_param(object.value().clone());
        }
    }

    fn finish(mut self, authorizer: Arc<dyn Authorizer>, unseen: Vec<String>) -> State {
        self.index.set_equivalents(self.equivalents);
        State {
            snapshot: self.index.snapshot(),
            definitions: self.definitions,
            schemas: self.schemas,
            authorizer,
            actions: self.actions,
            problems: self.problems,
            unseen,
            compile_errors: self.compile_errors,
            counts: self.counts,
        }
    }
}

fn count(counter: &mut usize) {
    *counter = counter.saturating_add(1);
}

/// The resources of Kubernetes itself that an API server serves under several names.
fn built_in_equivalents() -> EquivalentResources {
    const EVENTS: [(&str, &str, &str, &str); 2] = [
        ("", "v1", "events", "Event"),
        ("events.k8s.io", "v1", "events", "Event"),
    ];
    const AUTOSCALERS: [(&str, &str, &str, &str); 2] = [
        (
            "autoscaling",
            "v2",
            "horizontalpodautoscalers",
            "HorizontalPodAutoscaler",
        ),
        (
            "autoscaling",
            "v1",
            "horizontalpodautoscalers",
            "HorizontalPodAutoscaler",
        ),
    ];
    let mut equivalents = EquivalentResources::default();
    let events = EVENTS.map(|served| ("events", served));
    let autoscalers = AUTOSCALERS.map(|served| ("", served));
    for (identity, (group, version, resource, kind)) in events.into_iter().chain(autoscalers) {
        let gvr = GroupVersionResource {
            group: group.into(),
            version: version.into(),
            resource: resource.into(),
        };
        let gvk = GroupVersionKind {
            group: group.into(),
            version: version.into(),
            kind: kind.into(),
        };
        equivalents.register(identity, gvr, "", gvk);
    }
    equivalents
}

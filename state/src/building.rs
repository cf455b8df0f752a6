//! Builds states from valid objects. Most changes of an object are applied without building everything again.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use gavel_libraries::Server;
use gavel_libraries::authorizer::{Authorizer, NoOpinion, Rbac};
use gavel_manifest::Problem;
use gavel_manifest::problem::rule;
use gavel_policy::api::ParamKind;
use gavel_policy::mutating::ObjectSchemas;
use gavel_policy::{EquivalentResources, GroupVersionKind, ParamFault, PolicyIndex};
use serde_json::Value as Json;

use crate::definitions::{Compiled, Definitions};
use crate::equivalents::{built_in, register};
use crate::object::Object;
use crate::prepare::{Good, Prepared, Sort};
use crate::state::{Counts, Rejection, State};
use crate::unseen::Unseen;

/// The contents of the next state, which are updated with each change.
pub(crate) struct Building {
    server: Server,
    index: PolicyIndex,
    definitions: Arc<Definitions>,
    schemas: ObjectSchemas,
    equivalents: EquivalentResources,
    /// The kinds of params, each with the number of policies that use it.
    param_kinds: BTreeMap<(String, String), usize>,
    actions: Arc<BTreeMap<String, Vec<String>>>,
    compile_errors: Arc<BTreeMap<(Sort, String), usize>>,
    counts: Counts,
    authorizer: Arc<dyn Authorizer>,
    /// The objects whose problems were found after they had been validated.
    rejections: Vec<Rejection>,
}

impl Building {
    /// The contents of a state with this index and without other objects.
    pub(crate) fn new(index: PolicyIndex, server: Server) -> Self {
        Building {
            server,
            index,
            definitions: Arc::default(),
            schemas: ObjectSchemas::new(server).typed(),
            equivalents: built_in(),
            param_kinds: BTreeMap::new(),
            actions: Arc::default(),
            compile_errors: Arc::default(),
            counts: Counts::default(),
            authorizer: Arc::new(NoOpinion),
            rejections: Vec::new(),
        }
    }

    /// Builds the contents of a state from these objects. `index` is empty.
    pub(crate) fn of<'g>(
        index: PolicyIndex,
        server: Server,
        objects: impl Iterator<Item = &'g Good>,
    ) -> Self {
        let objects: Vec<&Good> = objects.collect();
        let mut building = Building::new(index, server);
        for good in &objects {
            building.note_params(&good.prepared, usize::saturating_add);
        }
        // All kinds of params must be known before objects are added, because they determine which objects are params. Definitions come
        // first, because they contain the defaults of params.
        let (definitions, others): (Vec<&Good>, Vec<&Good>) = objects
            .iter()
            .partition(|good| matches!(good.prepared, Prepared::Definition(_)));
        for good in definitions.into_iter().chain(others) {
            building.put(good);
        }
        let equivalents = building.equivalents.clone();
        building.index.set_equivalents(equivalents);
        for (api_version, kind) in building.param_kinds.keys() {
            if building.definitions.serves(api_version, kind) == Some(false) {
                let (api_version, kind) = (api_version.clone(), kind.clone());
                let (kind, fault) = (ParamKind { api_version, kind }, ParamFault::NotFound);
                building.index.set_param_fault(&kind, Some(fault));
            }
        }
        building.set_roles(objects.into_iter().filter(|good| good.is_role()));
        building
    }

    /// Replaces the old version of an object. Returns false if the change affects other objects: the caller must then build everything
    /// again.
    pub(crate) fn replace(&mut self, old: Option<&Good>, new: Option<&Good>) -> bool {
        let mut both = old.into_iter().chain(new);
        if both.any(|good| matches!(good.prepared, Prepared::Definition(_))) {
            return false;
        }
        let kinds = self.param_kinds.len();
        if let Some(old) = old {
            self.note_params(&old.prepared, usize::saturating_sub);
        }
        if let Some(new) = new {
            self.note_params(&new.prepared, usize::saturating_add);
        }
        if self.param_kinds.len() != kinds || self.param_kinds.values().any(|count| *count == 0) {
            return false;
        }
        if let Some(old) = old {
            self.remove(old, new.is_none());
        }
        if let Some(new) = new {
            self.put(new);
        }
        true
    }

    /// Builds the authorizer from the roles and role bindings.
    pub(crate) fn set_roles<'g>(&mut self, roles: impl Iterator<Item = &'g Good>) {
        let roles: Vec<Cow<'_, Json>> = roles.map(|good| good.object.value()).collect();
        let rbac = Rbac::from_manifests(roles.iter().map(|role| &**role));
        // Preparation has read each of these objects, so an error is not expected.
        let rbac = rbac.unwrap_or_else(|error| {
            let problem = Problem::new(rule::OBJECT, error.to_string());
            self.reject("Role", problem);
            Rbac::default()
        });
        self.authorizer = Arc::new(rbac);
    }

    /// Sets whether a kind of params is namespaced and, if its params are unavailable, the reason.
    pub(crate) fn set_param_kind(
        &mut self,
        kind: &ParamKind,
        namespaced: Option<bool>,
        fault: Option<ParamFault>,
    ) {
        if let Some(namespaced) = namespaced {
            self.index.set_namespaced(kind, namespaced);
        }
        self.index.set_param_fault(kind, fault);
    }

    /// A state with the current contents and with the given rejected objects, missing objects and compile errors.
    pub(crate) fn state(
        &self,
        mut rejections: Vec<Rejection>,
        unseen: Vec<Unseen>,
        broken: BTreeMap<(Sort, String), usize>,
    ) -> State {
        rejections.extend(self.rejections.iter().cloned());
        let mut compile_errors = Arc::clone(&self.compile_errors);
        if !broken.is_empty() {
            Arc::make_mut(&mut compile_errors).extend(broken);
        }
        State {
            server: self.server,
            registrations: None,
            snapshot: self.index.snapshot(),
            definitions: Arc::clone(&self.definitions),
            schemas: self.schemas.clone(),
            authorizer: Arc::clone(&self.authorizer),
            actions: Arc::clone(&self.actions),
            rejections,
            unseen,
            compile_errors,
            counts: self.counts,
        }
    }

    fn put(&mut self, good: &Good) {
        let counts = &mut self.counts;
        match &good.prepared {
            Prepared::Policy(policy) => {
                let key = (Sort::Validating, policy.name().to_owned());
                Arc::make_mut(&mut self.compile_errors).insert(key, policy.errors().len());
                self.index.insert_policy(Arc::clone(policy));
                count(&mut counts.policies);
            }
            Prepared::Binding(binding) => {
                let actions = binding.binding().spec.validation_actions.clone();
                Arc::make_mut(&mut self.actions).insert(binding.name().to_owned(), actions);
                self.index.insert_binding(Arc::clone(binding));
                count(&mut counts.bindings);
            }
            Prepared::MutatingPolicy(policy) => {
                let key = (Sort::Mutating, policy.name().to_owned());
                Arc::make_mut(&mut self.compile_errors).insert(key, policy.errors().len());
                self.index.insert_mutating_policy(Arc::clone(policy));
                count(&mut counts.mutating_policies);
            }
            Prepared::MutatingBinding(binding) => {
                self.index.insert_mutating_binding(Arc::clone(binding));
                count(&mut counts.mutating_bindings);
            }
            Prepared::Definition(definition) => self.define(definition),
            Prepared::Namespace(namespace) => {
                count(&mut counts.namespaces);
                self.index.insert_namespace(Arc::clone(namespace));
            }
            Prepared::Rbac | Prepared::Other => {}
        }
        let versions = self.param_versions(&good.object);
        if !versions.is_empty() {
            count(&mut self.counts.params);
        }
        for version in versions {
            match good.object.kept(&version, &self.schemas) {
                Ok(param) => self.index.insert_param(param),
                Err(error) => self.reject(good.object.kind(), good.object.problem("", error)),
            }
        }
    }

    fn reject(&mut self, kind: &str, problem: Problem) {
        self.rejections.push(Rejection {
            kind: kind.to_owned(),
            in_force: false,
            problems: vec![problem],
        });
    }

    /// Removes an object. `is_gone` is false if a new version with the same name replaces it.
    fn remove(&mut self, good: &Good, is_gone: bool) {
        let versions = self.param_versions(&good.object);
        if !versions.is_empty() {
            uncount(&mut self.counts.params);
        }
        if let Some(((sort, name), _)) = good.prepared.policy() {
            Arc::make_mut(&mut self.compile_errors).remove(&(sort, name.to_owned()));
        }
        let counts = &mut self.counts;
        match &good.prepared {
            Prepared::Policy(_) => uncount(&mut counts.policies),
            Prepared::Binding(binding) => {
                Arc::make_mut(&mut self.actions).remove(binding.name());
                uncount(&mut counts.bindings);
            }
            Prepared::MutatingPolicy(_) => uncount(&mut counts.mutating_policies),
            Prepared::MutatingBinding(_) => uncount(&mut counts.mutating_bindings),
            Prepared::Namespace(_) => uncount(&mut counts.namespaces),
            Prepared::Definition(_) | Prepared::Rbac | Prepared::Other => {}
        }
        if is_gone {
            let object = &good.object;
            self.index.delete(&object.value());
            for version in versions {
                let (kind, namespace, name) = (object.kind(), object.namespace(), object.name());
                self.index.forget(&version, kind, namespace, name);
            }
        }
    }

    /// If the object is a policy, updates the number of policies with its `paramKind`. `change` adds or subtracts 1.
    fn note_params(&mut self, prepared: &Prepared, change: fn(usize, usize) -> usize) {
        let kind = prepared.policy().and_then(|(_, kind)| kind);
        if let Some(ParamKind { api_version, kind }) = kind {
            let key = (api_version.clone(), kind.clone());
            let policies = self.param_kinds.entry(key).or_default();
            *policies = change(*policies, 1);
        }
    }

    /// Whether an object can affect decisions. The kustomization of a folder cannot, and a ConfigMap can only if ConfigMaps are the params
    /// of a policy.
    pub(crate) fn uses(&self, object: &Object) -> bool {
        object.has_own_form() || !self.param_versions(object).is_empty()
    }

    /// The `apiVersion` of each `paramKind` with which policies can read an object. Custom resources of manifests are converted to the
    /// version of the `paramKind`, unless only a webhook can convert them; a cluster sends objects in this version.
    pub(crate) fn param_versions(&self, object: &Object) -> Vec<String> {
        let kinds = self.param_kinds.keys();
        let kinds = kinds.filter(|(api_version, kind)| {
            kind == object.kind()
                && (api_version == object.api_version()
                    || object.is_of_manifest()
                        && (self.definitions).converts(kind, object.api_version(), api_version))
        });
        kinds.map(|(api_version, _)| api_version.clone()).collect()
    }

    fn define(&mut self, definition: &Arc<Compiled>) {
        let spec = &definition.definition().spec;
        for version in spec.versions.iter().filter(|version| version.served) {
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
        }
        register(&mut self.equivalents, spec);
        count(&mut self.counts.definitions);
        Arc::make_mut(&mut self.definitions).insert(Arc::clone(definition));
    }
}

impl State {
    /// A state that contains only an index. `server` is the API server for which the index compiles policies. Defaults of objects are not
    /// set.
    pub fn of_index(index: PolicyIndex, server: Server) -> Self {
        let building = Building::new(index, server);
        State {
            schemas: ObjectSchemas::new(server),
            ..building.state(Vec::new(), Vec::new(), BTreeMap::new())
        }
    }
}

fn count(counter: &mut usize) {
    *counter = counter.saturating_add(1);
}

fn uncount(counter: &mut usize) {
    *counter = counter.saturating_sub(1);
}

//! One state of the policies: what manifests hold, compiled.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, LazyLock, Mutex};

use gavel_apimachinery::field::{Error, ErrorType};
use gavel_apimachinery::json;
use gavel_crd::definition::{Definition, written_field};
use gavel_crd::rule::RuleEnvs;
use gavel_engine::env::Env;
use gavel_golang::quote::quote;
use gavel_libraries::authorizer::{Authorizer, Rbac};
use gavel_libraries::{EnvSet, Server};
use gavel_policy::api::{GROUP, ParamKind, Resource};
use gavel_policy::validation::Validator;
use gavel_policy::{
    AdmissionRequest, EquivalentResources, GroupVersionKind, GroupVersionResource, PolicyIndex,
    Snapshot,
};
use serde_json::Value as Json;

use super::definitions::Definitions;
use super::manifests::Object;
use crate::telemetry::Metrics;

/// Everything that requests are decided by. It never changes.
#[derive(Debug)]
pub(crate) struct State {
    snapshot: Snapshot,
    definitions: Definitions,
    authorizer: Arc<dyn Authorizer>,
    /// What each binding does with denials.
    actions: BTreeMap<String, Vec<String>>,
    /// The namespaces that manifests describe.
    namespaces: HashSet<String>,
    /// What is not as it should be, although it is served.
    warnings: Vec<String>,
    counts: Counts,
}

#[derive(Debug, Default, Clone, Copy)]
struct Counts {
    policies: usize,
    bindings: usize,
    definitions: usize,
    params: usize,
}

impl State {
    /// Compiles objects. Policies whose expressions do not compile are taken in, and decided by their failurePolicy.
    ///
    /// # Errors
    ///
    /// What is wrong with the objects: each with file, line and column.
    pub(super) fn new(objects: Vec<Object>) -> Result<Self, Vec<String>> {
        let mut building = Building::new().map_err(|error| vec![error])?;
        building.problems = unique(&objects);
        for object in &objects {
            match (group(object), object.text("kind")) {
                (GROUP, _) => building.register(object),
                ("apiextensions.k8s.io", "CustomResourceDefinition") => building.define(object),
                _ => {}
            }
        }
        // Which objects are params is known now.
        for object in &objects {
            building.other(object);
        }
        let rbac = Rbac::from_manifests(objects.iter().map(Object::value));
        let rbac = rbac.map_err(|error| building.problems.push(error.to_string()));
        match (building.problems.is_empty(), rbac) {
            (true, Ok(rbac)) => Ok(building.finish(Arc::new(rbac))),
            _ => Err(building.problems),
        }
    }

    /// An index that knows of nothing.
    #[cfg(test)]
    pub(crate) fn empty_index() -> PolicyIndex {
        Building::new().unwrap().index
    }

    /// What an index knows.
    #[cfg(test)]
    pub(crate) fn of(index: PolicyIndex) -> Self {
        let state = Building::new().unwrap().finish(Arc::new(Rbac::default()));
        State {
            snapshot: index.snapshot(),
            ..state
        }
    }

    /// Returns the policies with everything that they read. An API server would look a namespace up that no manifest
    /// describes; here such a namespace is assumed to have only the label that every namespace has, its name. In a request
    /// that deletes a namespace, the namespace is the deleted one. Nothing outlives the request.
    pub(crate) fn snapshot(&self, request: &AdmissionRequest<'_>) -> Snapshot {
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

    /// The definitions of custom resources.
    pub(crate) fn definitions(&self) -> &Definitions {
        &self.definitions
    }

    /// Who answers `authorizer`: the RBAC objects.
    pub(crate) fn authorizer(&self) -> &Arc<dyn Authorizer> {
        &self.authorizer
    }

    /// What a binding does with denials: `Deny`, `Warn`, `Audit`.
    pub(crate) fn actions(&self, binding: &str) -> &[String] {
        self.actions
            .get(binding)
            .map(Vec::as_slice)
            .unwrap_or_default()
    }

    /// What is not as it should be, although it is served.
    pub(crate) fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Tells logs and metrics what is served from now on.
    pub(super) fn announce(&self, metrics: &Metrics) {
        let Counts {
            policies,
            bindings,
            definitions,
            params,
        } = self.counts;
        let namespaces = self.namespaces.len();
        metrics.set_objects("ValidatingAdmissionPolicy", policies);
        metrics.set_objects("ValidatingAdmissionPolicyBinding", bindings);
        metrics.set_objects("CustomResourceDefinition", definitions);
        metrics.set_objects("Namespace", namespaces);
        metrics.set_objects("params", params);
        tracing::info!(
            policies,
            bindings,
            definitions,
            namespaces,
            params,
            "manifests loaded"
        );
        for warning in &self.warnings {
            tracing::warn!("{warning}");
        }
    }
}

struct Building {
    index: PolicyIndex,
    definitions: Definitions,
    equivalents: EquivalentResources,
    /// The kinds that policies have params of.
    param_kinds: HashSet<(String, String)>,
    actions: BTreeMap<String, Vec<String>>,
    namespaces: HashSet<String>,
    counts: Counts,
    warnings: Vec<String>,
    problems: Vec<String>,
}

impl Building {
    fn new() -> Result<Self, String> {
        Ok(Building {
            index: PolicyIndex::new(&environments()?.stored),
            definitions: Definitions::default(),
            equivalents: built_in_equivalents(),
            param_kinds: HashSet::new(),
            actions: BTreeMap::new(),
            namespaces: HashSet::new(),
            counts: Counts::default(),
            warnings: Vec::new(),
            problems: Vec::new(),
        })
    }

    fn finish(mut self, authorizer: Arc<dyn Authorizer>) -> State {
        self.index.set_equivalents(self.equivalents);
        State {
            snapshot: self.index.snapshot(),
            definitions: self.definitions,
            authorizer,
            actions: self.actions,
            namespaces: self.namespaces,
            warnings: self.warnings,
            counts: self.counts,
        }
    }

    /// Takes in a policy or a binding. Mutating policies and webhooks are others' work.
    fn register(&mut self, object: &Object) {
        let decoded = match Resource::decode(&json::to_string(object.value())) {
            Ok(decoded) => decoded,
            Err(error) => return self.problems.push(object.problem("", error)),
        };
        for fault in &decoded.strict {
            // The field is quoted in the message.
            let field = fault.split('"').nth(1).unwrap_or_default();
            self.problems.push(object.problem(field, fault));
        }
        match environments() {
            Err(error) => self.problems.push(error),
            Ok(environments) => {
                let report = environments.validator().create(&decoded.object);
                for error in &report.errors {
                    self.fault(object, error);
                }
            }
        }
        match decoded.object {
            Resource::ValidatingAdmissionPolicy(policy) => {
                if let Some(ParamKind { api_version, kind }) = &policy.spec.param_kind {
                    self.param_kinds.insert((api_version.clone(), kind.clone()));
                }
                count(&mut self.counts.policies);
                self.index.apply_policy(*policy);
            }
            Resource::ValidatingAdmissionPolicyBinding(binding) => {
                let actions = binding.spec.validation_actions.clone();
                self.actions.insert(binding.metadata.name.clone(), actions);
                count(&mut self.counts.bindings);
                self.index.apply_binding(*binding);
            }
            other => tracing::debug!(kind = other.kind(), "not served"),
        }
    }

    /// Notes what is wrong with a policy. What does not compile is served nevertheless, as an API server does that has it
    /// from another version: its failurePolicy decides.
    fn fault(&mut self, object: &Object, error: &Error) {
        let does_not_compile = error.kind == ErrorType::Invalid
            && (error.detail.starts_with("compilation failed")
                || error.detail.starts_with("must evaluate to"));
        if !does_not_compile {
            let message = object.problem(&error.field, error);
            return self.problems.push(message);
        }
        let first_line = error.detail.lines().next().unwrap_or_default();
        let message = format!("{}: {first_line}", error.field);
        self.warnings.push(object.problem(&error.field, message));
    }

    /// Takes in the definition of a custom resource.
    fn define(&mut self, object: &Object) {
        let definition = match Definition::read(object.value()) {
            Ok(definition) => definition,
            Err(error) => return self.problems.push(object.problem("spec", error)),
        };
        for field in Definition::unknown_fields(object.value()) {
            let message = format!("unknown field {}", quote(&field));
            self.problems.push(object.problem(&field, message));
        }
        match environments() {
            Err(error) => self.problems.push(error),
            Ok(environments) => {
                for error in definition.validate(&environments.rules) {
                    let problem = object.problem(&written_field(&error.field), &error);
                    self.problems.push(problem);
                }
            }
        }
        let spec = &definition.spec;
        for version in &spec.versions {
            let gvk = GroupVersionKind {
                group: spec.group.as_str().into(),
                version: version.name.as_str().into(),
                kind: spec.names.kind.as_str().into(),
            };
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
        if let Err(error) = self.definitions.insert(&definition) {
            self.problems.push(object.problem("spec", error));
        }
    }

    /// Takes in an object that is no policy, where a policy may look at it.
    fn other(&mut self, object: &Object) {
        let (api_version, kind) = (object.text("apiVersion"), object.text("kind"));
        let key = (api_version.to_owned(), kind.to_owned());
        let is_namespace = (api_version, kind) == ("v1", "Namespace");
        let is_param = self.param_kinds.contains(&key);
        if is_namespace {
            self.namespaces.insert(object.metadata("name").to_owned());
        }
        if is_param {
            count(&mut self.counts.params);
        }
        if (is_namespace || is_param)
            && let Err(error) = self.index.apply(object.value().clone())
        {
            self.problems.push(object.problem("", error));
        }
    }
}

fn count(counter: &mut usize) {
    *counter = counter.saturating_add(1);
}

fn group(object: &Object) -> &str {
    let api_version = object.text("apiVersion");
    api_version.split_once('/').map_or("", |(group, _)| group)
}

/// What is wrong with objects by themselves: no type, no name, or the name of another.
fn unique(objects: &[Object]) -> Vec<String> {
    let mut seen: BTreeMap<[&str; 4], &Object> = BTreeMap::new();
    let mut problems = Vec::new();
    for object in objects {
        let (kind, name) = (object.text("kind"), object.metadata("name"));
        for (missing, field) in [
            (object.text("apiVersion").is_empty(), "apiVersion"),
            (kind.is_empty(), "kind"),
            (name.is_empty(), "metadata.name"),
        ] {
            if missing {
                problems.push(object.problem(field, format_args!("{field} must be set")));
            }
        }
        if kind.is_empty() || name.is_empty() {
            continue;
        }
        let key = [group(object), kind, object.metadata("namespace"), name];
        if let Some(first) = seen.insert(key, object) {
            let message = format!("{kind} {name:?} is defined at {} already", first.place());
            problems.push(object.problem("metadata.name", message));
        }
    }
    problems
}

/// What expressions are compiled in. Building it takes a while, so it is built once.
struct Environments {
    /// Of policies that run.
    stored: Env,
    /// Of rules that are written anew.
    rules: RuleEnvs,
    validator: Mutex<Validator>,
}

impl Environments {
    fn validator(&self) -> std::sync::MutexGuard<'_, Validator> {
        self.validator
            .lock()
            .unwrap_or_else(|broken| broken.into_inner())
    }
}

fn environments() -> Result<&'static Environments, String> {
    static ENVIRONMENTS: LazyLock<Result<Environments, String>> = LazyLock::new(|| {
        let text = |error: &dyn std::error::Error| error.to_string();
        let server = Server::default();
        let set = EnvSet::new(server).map_err(|error| text(&error))?;
        let rules = RuleEnvs::new(server.compatible()).map_err(|error| text(&error))?;
        let validator = Validator::new(server.compatible()).map_err(|error| text(&error))?;
        Ok(Environments {
            stored: set.stored_expressions().clone(),
            rules,
            validator: Mutex::new(validator),
        })
    });
    ENVIRONMENTS.as_ref().map_err(Clone::clone)
}

/// The resources of Kubernetes itself that an API server serves under several names.
fn built_in_equivalents() -> EquivalentResources {
    const SERVED: &[(&str, &str, &str, &str, &str)] = &[
        ("events", "", "v1", "events", "Event"),
        ("events", "events.k8s.io", "v1", "events", "Event"),
        (
            "",
            "autoscaling",
            "v2",
            "horizontalpodautoscalers",
            "HorizontalPodAutoscaler",
        ),
        (
            "",
            "autoscaling",
            "v1",
            "horizontalpodautoscalers",
            "HorizontalPodAutoscaler",
        ),
    ];
    let mut equivalents = EquivalentResources::default();
    for &(identity, group, version, resource, kind) in SERVED {
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

//! One state of the policies: what manifests hold, compiled.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, LazyLock};

use gavel_apimachinery::json;
use gavel_engine::env::Env;
use gavel_libraries::authorizer::{Authorizer, Rbac};
use gavel_libraries::{EnvSet, KubeVersion};
use gavel_policy::api::{GROUP, ParamKind, Resource};
use gavel_policy::{
    EquivalentResources, GroupVersionKind, GroupVersionResource, PolicyIndex, Snapshot,
};

use crate::telemetry::Metrics;

use super::manifests::Object;

/// Everything that requests are decided by. It never changes.
#[derive(Debug)]
pub(crate) struct State {
    snapshot: Snapshot,
    authorizer: Arc<dyn Authorizer>,
    /// What each binding does with denials.
    actions: BTreeMap<String, Vec<String>>,
    /// What is not as it should be, although it is served.
    warnings: Vec<String>,
    counts: Counts,
}

#[derive(Debug, Default, Clone, Copy)]
struct Counts {
    policies: usize,
    bindings: usize,
    namespaces: usize,
    params: usize,
}

impl State {
    /// Compiles objects. Policies whose expressions do not compile are taken in, and decided by their failurePolicy.
    ///
    /// # Errors
    ///
    /// What is wrong with the objects: each with file, line and column.
    pub(super) fn new(objects: Vec<Object>) -> Result<Self, Vec<String>> {
        let mut building = Building {
            index: PolicyIndex::new(stored_expressions().map_err(|error| vec![error])?),
            param_kinds: HashSet::new(),
            actions: BTreeMap::new(),
            counts: Counts::default(),
            problems: unique(&objects),
        };
        building.index.set_equivalents(built_in_equivalents());
        let of_group = |object: &&Object| group(object) == GROUP;
        for object in objects.iter().filter(of_group) {
            building.register(object);
        }
        let warnings = compile_warnings(&building.index.snapshot(), &objects);
        let rbac = Rbac::from_manifests(objects.iter().map(Object::value));
        let rbac = rbac.map_err(|error| building.problems.push(error.to_string()));
        for object in &objects {
            building.other(object);
        }
        match (building.problems.is_empty(), rbac) {
            (true, Ok(rbac)) => Ok(State {
                snapshot: building.index.snapshot(),
                authorizer: Arc::new(rbac),
                actions: building.actions,
                warnings,
                counts: building.counts,
            }),
            _ => Err(building.problems),
        }
    }

    /// The policies with all that they look at.
    pub(crate) fn snapshot(&self) -> &Snapshot {
        &self.snapshot
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
            namespaces,
            params,
        } = self.counts;
        metrics.set_objects("ValidatingAdmissionPolicy", policies);
        metrics.set_objects("ValidatingAdmissionPolicyBinding", bindings);
        metrics.set_objects("Namespace", namespaces);
        metrics.set_objects("params", params);
        tracing::info!(policies, bindings, namespaces, params, "manifests loaded");
        for warning in &self.warnings {
            tracing::warn!("{warning}");
        }
    }
}

struct Building {
    index: PolicyIndex,
    /// The kinds that policies have params of.
    param_kinds: HashSet<(String, String)>,
    actions: BTreeMap<String, Vec<String>>,
    counts: Counts,
    problems: Vec<String>,
}

impl Building {
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

    /// Takes in an object that is no policy, where a policy may look at it.
    fn other(&mut self, object: &Object) {
        let (api_version, kind) = (object.text("apiVersion"), object.text("kind"));
        let key = (api_version.to_owned(), kind.to_owned());
        let is_namespace = (api_version, kind) == ("v1", "Namespace");
        let is_param = self.param_kinds.contains(&key);
        if is_namespace {
            count(&mut self.counts.namespaces);
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

/// The expressions that do not compile.
fn compile_warnings(snapshot: &Snapshot, objects: &[Object]) -> Vec<String> {
    let mut warnings = Vec::new();
    for policy in snapshot.policies() {
        let is_its = |object: &&Object| {
            object.text("kind") == "ValidatingAdmissionPolicy"
                && object.metadata("name") == policy.name()
        };
        let Some(object) = objects.iter().find(is_its) else {
            continue;
        };
        for error in policy.errors() {
            let text = error.error.to_string();
            let first_line = text.lines().next().unwrap_or_default();
            let message = format!("{}: {first_line}", error.field);
            warnings.push(object.problem(&error.field, message));
        }
    }
    warnings
}

/// The environment in which an API server evaluates policies.
fn stored_expressions() -> Result<&'static Env, String> {
    static ENVIRONMENT: LazyLock<Result<Env, String>> = LazyLock::new(|| {
        let set = EnvSet::new(KubeVersion::default()).map_err(|error| error.to_string())?;
        Ok(set.stored_expressions().clone())
    });
    ENVIRONMENT.as_ref().map_err(Clone::clone)
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
        let names = |name: &str| name.to_owned();
        let gvr = GroupVersionResource {
            group: names(group),
            version: names(version),
            resource: names(resource),
        };
        let gvk = GroupVersionKind {
            group: names(group),
            version: names(version),
            kind: names(kind),
        };
        equivalents.register(identity, gvr, "", gvk);
    }
    equivalents
}

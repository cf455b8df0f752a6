//! A world holds policies and all objects that they read, and decides about requests.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use gavel_apimachinery::meta::MetadataView;
use gavel_apimachinery::status::Status;
use gavel_engine::value::{Arena, Json};
use gavel_libraries::Server;
use gavel_manifest::{Document, Problem};
use gavel_policy::api::Resource;
use gavel_policy::mutating::mutate;
use gavel_policy::{
    AdmissionRequest, AuditOutcome, ConditionsOutcome, Decision, GroupVersionKind, Options,
    dispatch,
};
use gavel_state::{Object, Origin, State, Store, Unseen};
use serde_json::json;

use crate::custom::created_name;
use crate::kinds::Kinds;
use crate::role::Role;
use crate::subject::Subject;
use crate::trace::{Step, Trace};
use crate::written::without_defaults;

/// Collects policies, bindings, params, namespaces, roles and definitions.
#[derive(Debug)]
pub struct Setup {
    store: Store,
    /// Policies, and objects that policies read but that are not params.
    objects: Vec<Object>,
    /// Objects that become params if a policy has their kind as `paramKind`.
    waiting: Vec<Object>,
    server: Server,
    kinds: Kinds,
    /// The policies by kind and name, each with the `apiVersion` and kind of its params.
    policies: BTreeMap<(String, String), Option<(String, String)>>,
    /// The kind and name of the policies that are bound.
    bound: BTreeSet<(String, String)>,
}

/// Policies and all objects that they read. A world never changes.
#[derive(Debug)]
pub struct World {
    state: State,
    server: Server,
    kinds: Kinds,
}

/// The decision of policies about an object.
#[derive(Debug, Clone, Default)]
pub struct Ruling {
    /// Why the object is denied; `None` if it is admitted.
    pub status: Option<Status>,
    /// The failed validations, and the policies that deny the object because they could not be evaluated.
    pub findings: Vec<Finding>,
    /// The warnings for the client.
    pub warnings: Vec<String>,
    /// The annotations of the audit event.
    pub audit_annotations: BTreeMap<String, String>,
    /// The object after mutation, if a policy changed it.
    pub mutated: Option<Json>,
    /// Whether a bound policy matched the object, and the policy's match conditions were true.
    pub is_examined: bool,
    /// Whether the match conditions of a policy were false.
    pub is_skipped: bool,
}

/// A failed validation, or a policy that could not be evaluated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The action.
    pub action: Action,
    /// The policy.
    pub policy: String,
    /// The binding; `None` if the policy as a whole failed.
    pub binding: Option<String>,
    /// The param, as in [`Invocation::param`](crate::Invocation::param).
    pub param: Option<String>,
    /// The message of the policy.
    pub message: String,
    /// The index of the failed validation among the policy's validations; `None` if the policy could not be evaluated.
    pub validation: Option<usize>,
}

/// The action of a failed validation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// The request is denied.
    Deny,
    /// The client is warned.
    Warn,
    /// The failure is added to the audit event.
    Audit,
}

impl Action {
    /// The word in messages: `denied`, `warned`, `audited`.
    pub fn done(self) -> &'static str {
        match self {
            Action::Deny => "denied",
            Action::Warn => "warned",
            Action::Audit => "audited",
        }
    }

    fn of(name: &str) -> Option<Self> {
        match name {
            "Deny" => Some(Action::Deny),
            "Warn" => Some(Action::Warn),
            "Audit" => Some(Action::Audit),
            _ => None,
        }
    }
}

impl Setup {
    /// A setup without objects.
    ///
    /// # Errors
    ///
    /// The environments cannot be built, which is a bug.
    pub fn new(server: Server) -> Result<Self, String> {
        Ok(Setup {
            store: Store::new(server)?,
            objects: Vec::new(),
            waiting: Vec::new(),
            server,
            kinds: Kinds::default(),
            policies: BTreeMap::new(),
            bound: BTreeSet::new(),
        })
    }

    /// Adds an object. Objects other than policies, bindings and definitions are used only if a policy reads them.
    pub fn add(&mut self, document: Document) {
        let origin = document.file().map(|file| file.display().to_string());
        let origin = Origin::new(origin.as_deref().unwrap_or("-"));
        self.take(Object::of_manifest(origin, document));
    }

    /// Adds an object that was not read from a file.
    pub fn add_value(&mut self, object: Json) {
        self.take(Object::sent(Origin::new("the test"), &object));
    }

    fn take(&mut self, object: Object) {
        self.note(&object.value());
        let role = Role::of(&object.value());
        match role {
            Role::Object => self.waiting.push(object),
            _ => self.objects.push(object),
        }
    }

    fn note(&mut self, object: &Json) {
        let text = |pointer: &str| object.pointer(pointer).and_then(Json::as_str);
        match Role::of(object) {
            Role::Definition => self.kinds.define(object),
            Role::Policy => {
                let kind = text("/kind").unwrap_or_default();
                match (kind.strip_suffix("Binding"), text("/spec/policyName")) {
                    (Some(kind), Some(policy)) => {
                        self.bound.insert((kind.to_owned(), policy.to_owned()));
                    }
                    _ if !is_policy(object) => {}
                    _ => {
                        let name = text("/metadata/name").unwrap_or_default().to_owned();
                        let version = text("/spec/paramKind/apiVersion");
                        let params = version.zip(text("/spec/paramKind/kind"));
                        let params = params.map(|(version, kind)| (version.into(), kind.into()));
                        self.policies.insert((kind.to_owned(), name), params);
                    }
                }
            }
            Role::Surrounding | Role::Object => {}
        }
    }

    /// The policies without a binding, by kind and name; such policies have no effect.
    pub fn unbound(&self) -> impl Iterator<Item = (&str, &str)> {
        let policies = self.policies.keys();
        let unbound = policies.filter(|policy| !self.bound.contains(*policy));
        unbound.map(|(kind, name)| (kind.as_str(), name.as_str()))
    }

    /// Whether the object is of a kind that a policy declares as its `paramKind`, in any version.
    pub fn is_param(&self, object: &Json) -> bool {
        let text = |key: &str| object.get(key).and_then(Json::as_str).unwrap_or_default();
        let group = |api_version: &str| GroupVersionKind::new(api_version, "").group;
        let of_object = (group(text("apiVersion")), text("kind"));
        let mut kinds = self.policies.values().flatten();
        kinds.any(|(version, kind)| (group(version), kind.as_str()) == of_object)
    }

    /// Binds each policy that has no binding: adds a binding that denies. A policy with params uses all objects of its `paramKind`.
    pub fn bind_unbound(&mut self) {
        let unbound = self.unbound().map(|(kind, name)| {
            let key = (kind.to_owned(), name.to_owned());
            let has_params = self.policies.get(&key).is_some_and(Option::is_some);
            binding(kind, name, has_params.then_some(None))
        });
        for binding in unbound.collect::<Vec<Json>>() {
            self.add_value(binding);
        }
    }

    /// Builds the world from the collected objects.
    pub fn finish(mut self) -> World {
        for object in std::mem::take(&mut self.waiting) {
            let value = object.value().into_owned();
            if self.is_param(&value) {
                let placed = self.kinds.placed(value, "default");
                self.objects.push(object.with_value(placed));
            }
        }
        self.store.replace_origins(self.objects);
        World::new(self.store.publish(), self.server, self.kinds)
    }
}

/// The object with a generated name; `None` if it has a name, or no `generateName`. An API server generates names after mutating policies
/// and before validating policies.
fn named(object: &Json) -> Option<Json> {
    let Cow::Owned(name) = created_name(object) else {
        return None;
    };
    let mut named = object.clone();
    let metadata = named.get_mut("metadata")?.as_object_mut()?;
    metadata.insert("name".to_owned(), name.into());
    Some(named)
}

/// Whether an object is a policy with a name, and can be decoded.
fn is_policy(object: &Json) -> bool {
    let name = match Resource::decode(object).map(|decoded| decoded.object) {
        Ok(Resource::ValidatingAdmissionPolicy(policy)) => policy.metadata.name,
        Ok(Resource::MutatingAdmissionPolicy(policy)) => policy.metadata.name,
        _ => String::new(),
    };
    !name.is_empty()
}

/// Builds a policy's binding as JSON. `params` is `None` if the policy has no params; `Some(None)` selects all params, and `Some(Some(…))`
/// selects the param with this namespace and name.
pub(crate) fn binding(kind: &str, policy: &str, params: Option<Option<(&str, &str)>>) -> Json {
    let mut spec = json!({"policyName": policy});
    if let Json::Object(spec) = &mut spec {
        if kind == "ValidatingAdmissionPolicy" {
            spec.insert("validationActions".to_owned(), json!(["Deny"]));
        }
        let param = params.map(|param| match param {
            Some((namespace, name)) => {
                let mut named = json!({"name": name, "parameterNotFoundAction": "Deny"});
                if let (Json::Object(named), false) = (&mut named, namespace.is_empty()) {
                    named.insert("namespace".to_owned(), namespace.into());
                }
                named
            }
            None => json!({"selector": {}, "parameterNotFoundAction": "Deny"}),
        });
        if let Some(param) = param {
            spec.insert("paramRef".to_owned(), param);
        }
    }
    json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": format!("{kind}Binding"),
        "metadata": {"name": policy},
        "spec": spec,
    })
}

impl World {
    pub(crate) fn new(state: State, server: Server, kinds: Kinds) -> Self {
        World {
            state,
            server,
            kinds,
        }
    }

    /// The problems of policies, bindings and definitions, with their positions. Objects with problems are not used.
    pub fn problems(&self) -> impl Iterator<Item = &Problem> {
        self.state.problems()
    }

    /// The objects that policies and bindings need but that were not given: policies, params, namespaces, roles. [`Setup::unbound`] returns
    /// the missing bindings.
    pub fn unseen(&self) -> impl Iterator<Item = &Unseen> {
        let unseen = self.state.unseen().iter();
        unseen.filter(|unseen| !matches!(unseen, Unseen::Binding(_)))
    }

    /// The number of policies in use, both validating and mutating.
    pub fn policies(&self) -> usize {
        let counts = self.state.counts();
        counts.policies.saturating_add(counts.mutating_policies)
    }

    /// The problem of an object whose kind the API server does not have ([`Kinds::unknown`]).
    pub fn unknown_kind(&self, document: &Document) -> Option<Problem> {
        self.kinds.unknown(document, self.server)
    }

    /// Builds the `request` of an AdmissionReview for a subject.
    pub fn request(&self, subject: &Subject<'_>) -> Json {
        subject.request(&self.kinds)
    }

    /// Decides about a request. The object is mutated first, then validated; the trace records the steps.
    ///
    /// # Errors
    ///
    /// The JSON is not the request of an AdmissionReview, or the defaults of its objects take too much memory.
    pub fn decide(&self, written: &Json, trace: &Trace) -> Result<Ruling, String> {
        self.decide_validated(written, trace, |_| Ok(None))
    }

    /// Like [`Self::decide`]. Between mutation and the validating policies, as in an API server, `validate` validates the object by its
    /// definition. It returns the object that validating policies see, if it differs, or the status with which the request is denied.
    ///
    /// # Errors
    ///
    /// As [`Self::decide`].
    pub(crate) fn decide_validated(
        &self,
        written: &Json,
        trace: &Trace,
        validate: impl FnOnce(&Json) -> Result<Option<Json>, Box<Status>>,
    ) -> Result<Ruling, String> {
        let mut request = written.clone();
        for field in ["object", "oldObject"] {
            if let Some(object) = request.get_mut(field) {
                let filled = self.state.schemas().fill_defaults(object);
                filled.map_err(|error| format!("{field}: {error}"))?;
            }
        }
        let arena = Arena::new();
        let sent = AdmissionRequest::read((&request).into(), &arena);
        let sent = sent.map_err(|error| error.to_string())?;
        let snapshot = self.state.snapshot(&sent);
        let options = Options {
            authorizer: Some(self.state.authorizer()),
            observer: trace,
            ..Options::default()
        };
        let mutated = mutate(&snapshot, &sent, self.state.schemas(), &options);
        trace.end_mutation();
        if let Some(status) = mutated.status {
            return Ok(self.ruling(Decision::default(), Some(status), None, trace));
        }
        let changed = mutated
            .object
            .filter(|object| Some(object) != request.get("object"));
        let stored = changed.as_ref().or(request.get("object"));
        let (prepared, invalid) = match stored.map(validate).transpose() {
            Ok(prepared) => (prepared.flatten(), None),
            Err(status) => (None, Some(*status)),
        };
        let stored = prepared.as_ref().or(stored);
        let named = stored
            .filter(|_| sent.operation == "CREATE")
            .and_then(named);
        let sent = match named.as_ref().or(prepared.as_ref()).or(changed.as_ref()) {
            Some(object) => AdmissionRequest {
                name: match &named {
                    Some(object) => MetadataView::of(object).name(),
                    None => sent.name,
                },
                object: object.into(),
                ..sent
            },
            None => sent,
        };
        let decision = match invalid {
            Some(_) => Decision::default(),
            None => dispatch(&snapshot, &sent, &options),
        };
        let (written, completed) = (written.get("object"), request.get("object"));
        let changed = changed.map(|changed| match (written, completed) {
            (Some(written), Some(completed)) => without_defaults(written, completed, changed),
            _ => changed,
        });
        Ok(self.ruling(decision, invalid, changed, trace))
    }

    fn ruling(
        &self,
        decision: Decision,
        status: Option<Status>,
        mutated: Option<Json>,
        trace: &Trace,
    ) -> Ruling {
        let mut ruling = Ruling {
            status: status.or(decision.status),
            warnings: decision.warnings,
            audit_annotations: decision.audit_annotations,
            mutated,
            ..Ruling::default()
        };
        trace.with_steps(|steps| {
            for step in steps {
                self.note(step, &mut ruling);
            }
        });
        ruling
    }

    /// Adds the result of a step.
    fn note(&self, step: &Step, ruling: &mut Ruling) {
        match step {
            Step::Failed {
                policy,
                binding,
                error,
                denies: true,
            } => ruling.findings.push(Finding {
                action: Action::Deny,
                policy: policy.clone(),
                binding: binding.clone(),
                param: None,
                message: error.clone(),
                validation: None,
            }),
            Step::Evaluated {
                invocation,
                evaluation,
            } => {
                ruling.note_conditions(invocation.conditions.as_ref());
                let finding = |action, message: &str, validation| Finding {
                    action,
                    policy: invocation.policy.clone(),
                    binding: Some(invocation.binding.clone()),
                    param: invocation.param.clone(),
                    message: message.to_owned(),
                    validation,
                };
                let actions = self.state.actions(&invocation.binding);
                for (n, decision) in evaluation.decisions.iter().enumerate() {
                    let actions = actions.iter().filter(|_| decision.denies);
                    let actions = actions.filter_map(|action| Action::of(action));
                    let findings =
                        actions.map(|action| finding(action, &decision.message, Some(n)));
                    ruling.findings.extend(findings);
                }
                for annotation in &evaluation.audit_annotations {
                    if let AuditOutcome::Error(error) = &annotation.outcome {
                        ruling.findings.push(finding(Action::Deny, error, None));
                    }
                }
            }
            Step::Mutated { invocation } => ruling.note_conditions(invocation.conditions.as_ref()),
            Step::Policy { .. } | Step::Binding { .. } | Step::Failed { .. } => {}
        }
    }
}

impl Ruling {
    fn note_conditions(&mut self, conditions: Option<&ConditionsOutcome>) {
        match conditions {
            Some(ConditionsOutcome::NoMatch { .. }) => self.is_skipped = true,
            _ => self.is_examined = true,
        }
    }
}

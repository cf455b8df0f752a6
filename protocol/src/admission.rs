//! `op=vap`: decides a request by a ValidatingAdmissionPolicy as an API server does.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::iter;
use std::sync::Arc;

use serde_json::json;

use gavel_engine::value::{Arena, Json};
use gavel_libraries::authorizer::Authorizer;
use gavel_libraries::{EnvSet, Server};
use gavel_policy::api::{ParamKind, Registration, ValidatingAdmissionPolicy};
use gavel_policy::cel::CompileErrorKind;
use gavel_policy::{
    AdmissionRequest, AuditOutcome, CompiledBinding, CompiledPolicy, ConditionsOutcome, Decision,
    EquivalentResources, Evaluation, GroupVersionKind, GroupVersionResource, KeptObject, Matched,
    Namespace, Observer, Options, PolicyDecisionEvaluation, PolicyError, PolicyIndex, Run, decide,
};

use crate::authorizer::AuthorizerBinding;
use crate::request::{Fields, RequestError};
use crate::run::{Runs, ValuesTooLarge};

/// A `vap` request.
#[derive(Debug)]
pub(crate) struct AdmissionQuestion {
    pub(crate) server: Server,
    pub(crate) policy: Json,
    bindings: Vec<Json>,
    params: Vec<Json>,
    namespaced: Option<bool>,
    /// The namespace. If it is absent, an active namespace is assumed that has only the label `kubernetes.io/metadata.name`; null means
    /// that the namespace does not exist.
    namespace: Option<Json>,
    pub(crate) request: Option<Json>,
    /// Whether objects of built-in kinds are decoded into Go types.
    pub(crate) is_typed: bool,
    equivalents: Vec<Json>,
    pub(crate) authorizer: AuthorizerBinding,
    pub(crate) cost_budget: Option<i64>,
    /// Whether the policy and bindings are used without setting defaults.
    no_defaults: bool,
    pub(crate) trace: bool,
}

impl AdmissionQuestion {
    /// Reads the keys of a `vap` request.
    pub(crate) fn read(mut fields: Fields) -> Result<Self, RequestError> {
        let missing = || RequestError("policy must be set".to_owned());
        let authorizer = fields.raw("authorizer").unwrap_or_default();
        let scopes = [("Namespaced", true), ("Cluster", false)];
        Ok(AdmissionQuestion {
            server: fields.compatible_server()?,
            policy: fields.raw("policy").ok_or_else(missing)?,
            bindings: fields.list("bindings")?,
            params: fields.list("params")?,
            namespaced: fields.choice("paramScope", &scopes)?,
            namespace: fields.raw("namespace"),
            request: fields.raw("request").filter(|request| !request.is_null()),
            is_typed: fields.flag("typed")?,
            equivalents: fields.list("equivalents")?,
            authorizer: AuthorizerBinding::read(&authorizer)
                .map_err(|error| error.within("authorizer"))?,
            cost_budget: fields
                .whole("costBudget")?
                .map(|budget| i64::try_from(budget).unwrap_or(i64::MAX)),
            no_defaults: fields.flag("noDefaults")?,
            trace: fields.flag("trace")?,
        })
    }

    /// Answers the request.
    pub(crate) fn answer(&self, id: &Json) -> Result<Json, RequestError> {
        let environments =
            EnvSet::new(self.server).map_err(|error| RequestError(error.to_string()))?;
        let policy: ValidatingAdmissionPolicy = self.registration(&self.policy, "policy")?;
        let new = CompiledPolicy::new(policy.clone(), environments.new_expressions());
        let stored = CompiledPolicy::new(policy, environments.stored_expressions());
        let mut answer = json!({
            "id": id,
            "compileErrors": errors(stored.errors()),
            "newExpressionErrors": errors(as_validated(new.errors())),
        });
        let mut set = |key: &str, value: Json| {
            if let Json::Object(answer) = &mut answer {
                answer.insert(key.to_owned(), value);
            }
        };
        let Some(request) = &self.request else {
            set("ok", stored.errors().is_empty().into());
            return Ok(answer);
        };
        let arena = Arena::new();
        let request = &AdmissionRequest::read(request.into(), &arena)
            .map_err(|error| RequestError(error.to_string()))?;
        let mut index = PolicyIndex::new(&environments);
        self.fill(
            &mut index,
            stored.policy().spec.param_kind.as_ref(),
            request,
        )?;
        let bindings = self.bindings(CompiledBinding::new)?;
        let witness = Explanation::new(self.trace);
        let authorizer = Arc::clone(&self.authorizer.authorizer) as Arc<dyn Authorizer>;
        let options = Options {
            authorizer: Some(&authorizer),
            cost_budget: self.cost_budget,
            is_typed: self.is_typed,
            observer: &witness,
            ..Options::default()
        };
        let decision = decide(
            iter::once((&stored, bindings.iter())),
            &index.snapshot(),
            request,
            &options,
        );
        let explained = witness.into_policies()?.into_iter().next();
        let mut explained = explained.unwrap_or_default();
        let mut part = |key: &str| explained.get_mut(key).map(Json::take).unwrap_or_default();
        set("ok", true.into());
        set("allowed", decision.allowed().into());
        set("status", json!(decision.status));
        for key in ["policyMatch", "bindingMatches", "results"] {
            set(key, part(key));
        }
        let Decision {
            warnings,
            audit_annotations,
            mut annotation_errors,
            ..
        } = decision;
        set("annotations", json!(audit_annotations));
        set("warnings", warnings.into());
        if !annotation_errors.is_empty() {
            annotation_errors.sort();
            let errors = annotation_errors.iter();
            let errors: Vec<String> = errors
                .map(|(key, error)| format!("{key}: {error}"))
                .collect();
            set("annotationErrors", errors.into());
        }
        let calls = self.authorizer.authorizer.calls();
        if !calls.is_empty() {
            set("authorizerCalls", json!(calls));
        }
        let of_admission = request.resource.group == "admissionregistration.k8s.io";
        if of_admission && request.is_exempt() {
            set("excludedResource", true.into());
        }
        Ok(answer)
    }

    /// Compiles the bindings.
    pub(crate) fn bindings<T: Registration, C>(
        &self,
        compile: fn(T) -> C,
    ) -> Result<Vec<C>, RequestError> {
        let bindings = self.bindings.iter().enumerate();
        let compiled = bindings.map(|(n, binding)| {
            let binding = self.registration(binding, &format!("bindings[{n}]"))?;
            Ok(compile(binding))
        });
        compiled.collect()
    }

    /// Reads a policy or binding.
    pub(crate) fn registration<T: Registration>(
        &self,
        object: &Json,
        key: &str,
    ) -> Result<T, RequestError> {
        let read = match self.no_defaults {
            true => T::from_json_without_defaults(object),
            false => T::from_json(object),
        };
        read.map_err(|error| RequestError(error.to_string()).within(key))
    }

    /// Adds params, the namespace and equivalent resources to an index.
    pub(crate) fn fill(
        &self,
        index: &mut PolicyIndex,
        param_kind: Option<&ParamKind>,
        request: &AdmissionRequest<'_>,
    ) -> Result<(), RequestError> {
        // If several params have the same name, the first one is used.
        let mut seen = BTreeSet::new();
        for param in &self.params {
            let kind = [param.get("apiVersion"), param.get("kind")];
            let name = ["namespace", "name"].map(|key| param.get("metadata")?.get(key));
            if seen.insert([kind, name].map(|pair| format!("{pair:?}"))) {
                index.apply_param(param.clone());
            }
        }
        if let (Some(kind), Some(namespaced)) = (param_kind, self.namespaced) {
            index.set_namespaced(kind, namespaced);
        }
        let name = request.namespace;
        let namespace = match &self.namespace {
            Some(Json::Null) => None,
            Some(namespace) => Some(namespace.clone()),
            None if name.is_empty() => None,
            None => Some(json!({
                "metadata": {"name": name, "labels": {"kubernetes.io/metadata.name": name}},
                "spec": {"finalizers": ["kubernetes"]},
                "status": {"phase": "Active"},
            })),
        };
        if let Some(namespace) = namespace {
            let namespace = Namespace::from_json(&namespace);
            let namespace = namespace.map_err(|error| RequestError(error.to_string()))?;
            index.insert_namespace(Arc::new(namespace));
        }
        if !self.equivalents.is_empty() {
            let mut known = EquivalentResources::default();
            let (resource, kind) = (request.resource.clone(), request.kind.clone());
            known.register("same", resource, request.subresource, kind);
            for equivalent in &self.equivalents {
                let part = |key: &str| equivalent.get(key).unwrap_or(&Json::Null);
                known.register(
                    "same",
                    GroupVersionResource::read(part("resource").into()),
                    part("subResource").as_str().unwrap_or_default(),
                    GroupVersionKind::read(part("kind").into()),
                );
            }
            index.set_equivalents(known);
        }
        Ok(())
    }
}

/// Sorts errors by the order in which an API server validates the expressions: variables, match conditions, validations (each followed by
/// its message expression), and the rest.
pub fn as_validated(mut errors: Vec<PolicyError<'_>>) -> Vec<PolicyError<'_>> {
    errors.sort_by_key(|error| match error.list {
        "variables" => (0, error.index),
        "matchConditions" => (1, error.index),
        "validations" => (2, error.index),
        _ => (3, error.index),
    });
    errors
}

/// The expressions of a policy that do not compile, as JSON.
pub fn errors(errors: Vec<PolicyError<'_>>) -> Vec<Json> {
    let written = errors.iter().map(|each| {
        let kind = match each.error.kind {
            CompileErrorKind::Invalid => "RuleInvalid",
            CompileErrorKind::Internal => "InternalError",
        };
        json!({"path": each.path(), "type": kind, "message": each.error.message})
    });
    written.collect()
}

/// Records the steps of a decision, policy by policy.
#[derive(Debug, Default)]
pub struct Explanation {
    policies: RefCell<Vec<Explained>>,
    conditions: RefCell<Option<Json>>,
    /// The trace, if it was requested.
    trace: Option<RefCell<Vec<Json>>>,
    runs: Runs,
}

/// The record of one policy.
#[derive(Debug)]
struct Explained {
    policy: String,
    matched: Json,
    bindings: Vec<Json>,
    results: Vec<Json>,
}

impl Explanation {
    /// An empty record. With `trace`, each run of an expression is recorded too.
    pub fn new(trace: bool) -> Self {
        Explanation {
            trace: trace.then(RefCell::default),
            ..Explanation::default()
        }
    }

    /// Returns one JSON object for each policy, with the keys `policy`, `policyMatch`, `bindingMatches` (null if no binding was examined)
    /// and `results`.
    ///
    /// # Errors
    ///
    /// The values in the trace take too much memory.
    pub fn into_policies(self) -> Result<Vec<Json>, ValuesTooLarge> {
        self.runs.check()?;
        let policies = self.policies.into_inner().into_iter();
        let written = policies.map(|explained| {
            let bindings = Some(explained.bindings).filter(|bindings| !bindings.is_empty());
            json!({
                "policy": explained.policy,
                "policyMatch": explained.matched,
                "bindingMatches": bindings,
                "results": explained.results,
            })
        });
        Ok(written.collect())
    }

    /// Changes the record of the current policy.
    fn note(&self, note: impl FnOnce(&mut Explained)) {
        if let Some(explained) = self.policies.borrow_mut().last_mut() {
            note(explained);
        }
    }
}

impl Observer for Explanation {
    fn policy_matched(&self, policy: &str, matched: &Result<Option<Matched<'_>>, String>) {
        self.policies.borrow_mut().push(Explained {
            policy: policy.to_owned(),
            matched: policy_match(matched),
            bindings: Vec::new(),
            results: Vec::new(),
        });
    }

    fn binding_matched(&self, _: &str, binding: &str, matched: &Result<bool, String>) {
        self.note(|explained| explained.bindings.push(binding_match(binding, matched)));
    }

    fn ran(&self, run: &Run<'_>) {
        let Some(trace) = &self.trace else {
            return;
        };
        trace.borrow_mut().push(self.runs.entry(run));
    }

    fn conditions_matched(&self, outcome: &ConditionsOutcome) {
        self.conditions.replace(Some(conditions_match(outcome)));
    }

    fn evaluated(&self, _: &str, binding: &str, param: Option<&KeptObject>, found: &Evaluation) {
        let decisions = found.decisions.iter().map(|decision| {
            json!({
                "action": if decision.denies { "deny" } else { "admit" },
                "evaluation": match decision.evaluation {
                    PolicyDecisionEvaluation::Admit => "admit",
                    PolicyDecisionEvaluation::Deny => "deny",
                    PolicyDecisionEvaluation::Error => "error",
                },
                "message": decision.message,
                "reason": decision.reason,
            })
        });
        let annotations = found.audit_annotations.iter().map(|annotation| {
            let key = &annotation.key;
            match &annotation.outcome {
                AuditOutcome::Publish(value) => {
                    json!({"key": key, "action": "publish", "value": value})
                }
                AuditOutcome::Exclude { error } if error.is_empty() => {
                    json!({"key": key, "action": "exclude", "value": ""})
                }
                AuditOutcome::Exclude { error } => {
                    json!({"key": key, "action": "exclude", "value": "", "error": error})
                }
                AuditOutcome::Error(error) => {
                    json!({"key": key, "action": "error", "value": "", "error": error})
                }
            }
        });
        let param = param.map(param_name);
        let mut result = json!({
            "binding": binding,
            "param": param,
            "decisions": Vec::from_iter(decisions),
            "auditAnnotations": Vec::from_iter(annotations),
        });
        let mut set = |key: &str, value: Json| {
            if let Json::Object(result) = &mut result {
                result.insert(key.to_owned(), value);
            }
        };
        if let Some(trace) = &self.trace {
            let trace = Some(trace.take()).filter(|trace| !trace.is_empty());
            set("trace", json!(trace));
        }
        if let Some(conditions) = self.conditions.take() {
            set("matchConditions", conditions);
        }
        self.note(|explained| explained.results.push(result));
    }
}

/// The resource and kind with which a policy matches the request, as JSON.
pub(crate) fn policy_match(matched: &Result<Option<Matched<'_>>, String>) -> Json {
    match matched {
        Ok(None) => json!({"matched": false}),
        Ok(Some(Matched { resource, kind })) => json!({
            "matched": true,
            "resource": {"group": *resource.group, "version": *resource.version, "resource": *resource.resource},
            "kind": {"group": *kind.group, "version": *kind.version, "kind": *kind.kind},
        }),
        Err(error) => json!({"matched": false, "error": error}),
    }
}

/// Whether a binding matches the request, as JSON.
pub(crate) fn binding_match(binding: &str, matched: &Result<bool, String>) -> Json {
    match matched {
        Ok(matched) => json!({"binding": binding, "matched": matched}),
        Err(error) => json!({"binding": binding, "matched": false, "error": error}),
    }
}

/// The result of match conditions, as JSON.
pub(crate) fn conditions_match(outcome: &ConditionsOutcome) -> Json {
    match outcome {
        ConditionsOutcome::Match => json!({"matches": true}),
        ConditionsOutcome::NoMatch { failed } if failed.is_empty() => json!({"matches": false}),
        ConditionsOutcome::NoMatch { failed } => {
            json!({"matches": false, "failedConditionName": failed})
        }
        ConditionsOutcome::Error(error) => json!({"matches": false, "error": error}),
    }
}

/// The name and namespace of a param, as JSON.
pub(crate) fn param_name(param: &KeptObject) -> Json {
    json!({"name": param.name(), "namespace": param.namespace()})
}

//! Mutates the object of a request by all policies that match the request (apiserver `pkg/admission/plugin/policy/mutating/dispatcher.go`,
//! `policy/generic/policy_dispatcher.go`).

use gavel_apimachinery::status::Status;
use gavel_engine::value::{Arena, Json, Reach, Value};

use super::failure::{PolicyFailure, denial};
use super::invocation::Invocation;
use super::patch::{self, MutationError};
use super::reinvocation::Reinvocation;
use super::schemas::ObjectSchemas;
use super::version::{Current, MutatedObject, ObjectsOfKind};
use crate::cel::{COST_BUDGET, Expression, ExpressionKind, Group, OUT_OF_BUDGET, TypedInputs};
use crate::compiled_mutating::{CompiledMutatingBinding, CompiledMutatingPolicy};
use crate::decision::namespace_not_found;
use crate::dispatch::{Dispatch, param_value};
use crate::fields::text_field;
use crate::go_values::GoValues;
use crate::index::Snapshot;
use crate::match_conditions;
use crate::matching::Matched;
use crate::options::Options;
use crate::outcome::ConditionsOutcome;
use crate::request::AdmissionRequest;
use crate::resource::GroupVersionKind;

/// The result of mutating an object.
#[derive(Debug, Clone, Default, PartialEq)]
#[must_use = "the request may be denied, and the object may have changed"]
pub struct Mutated {
    /// The status of a denied request; `None` if the request is allowed.
    pub status: Option<Status>,
    /// The object after all mutations; `None` if no mutation was applied, or the request is denied. A mutation that changes nothing counts
    /// as applied.
    pub object: Option<Json>,
}

/// Mutates the object of a request as an API server does, by all policies with bindings, in the order of their names. Policies with
/// `reinvocationPolicy: IfNeeded` can run again in a second pass. Deleted objects and exempt resources are not mutated.
///
/// ```
/// use gavel_engine::value::{Arena, Value};
/// use gavel_libraries::{EnvSet, Server};
/// use gavel_policy::mutating::{ObjectSchemas, mutate};
/// use gavel_policy::{AdmissionRequest, Options, PolicyIndex};
/// use serde_json::json;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let server = Server::default();
/// let mut index = PolicyIndex::new(&EnvSet::new(server)?);
/// index.apply(json!({
///     "apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingAdmissionPolicy", "metadata": {"name": "team"},
///     "spec": {
///         "matchConstraints": {"resourceRules": [
///             {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["namespaces"]},
///         ]},
///         "mutations": [{
///             "patchType": "ApplyConfiguration",
///             "applyConfiguration": {"expression": "Object{metadata: Object.metadata{labels: {'team': 'shop'}}}"},
///         }],
///         "reinvocationPolicy": "Never",
///     },
/// }))?;
/// index.apply(json!({
///     "apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingAdmissionPolicyBinding", "metadata": {"name": "team"},
///     "spec": {"policyName": "team"},
/// }))?;
///
/// let review = json!({
///     "uid": "1", "operation": "CREATE", "name": "shop",
///     "kind": {"group": "", "version": "v1", "kind": "Namespace"},
///     "resource": {"group": "", "version": "v1", "resource": "namespaces"},
///     "object": {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}},
/// });
/// let arena = Arena::new();
/// let request = AdmissionRequest::read(Value::from(&review), &arena)?;
/// let schemas = ObjectSchemas::new(server).typed();
/// let mutated = mutate(&index.snapshot(), &request, &schemas, &Options::default());
/// let object = mutated.object.ok_or("the object was not mutated")?;
/// assert_eq!(object["metadata"]["labels"]["team"], "shop");
/// # Ok(())
/// # }
/// ```
pub fn mutate(
    snapshot: &Snapshot,
    request: &AdmissionRequest<'_>,
    schemas: &ObjectSchemas,
    options: &Options<'_>,
) -> Mutated {
    if request.is_exempt() {
        return Mutated::default();
    }
    let hooks = snapshot.mutating_hooks(request);
    mutate_by(hooks, snapshot, request, schemas, options)
}

/// Mutates the object of a request by the given policies and bindings, even if its resource is exempt. The snapshot provides the params,
/// namespaces and equivalent resources.
pub fn mutate_by<'a, B: Iterator<Item = &'a CompiledMutatingBinding> + Clone>(
    hooks: impl Iterator<Item = (&'a CompiledMutatingPolicy, B)> + Clone,
    snapshot: &Snapshot,
    request: &AdmissionRequest<'_>,
    schemas: &ObjectSchemas,
    options: &Options<'_>,
) -> Mutated {
    if !matches!(request.operation, "CREATE" | "UPDATE" | "CONNECT") {
        return Mutated::default();
    }
    let mut reinvocation = Reinvocation::default();
    let pass = |request: &AdmissionRequest<'_>,
                nil_lists: &[String],
                reinvocation: &mut Reinvocation,
                is_second| {
        let arena = Arena::new();
        Pass {
            dispatch: Dispatch::new(snapshot, request, options, &arena),
            schemas,
            is_second,
            nil_lists,
            versions: Vec::new(),
            last: None,
            failures: Vec::new(),
        }
        .run(hooks.clone(), reinvocation)
    };
    let denied = |status: Box<Status>| Mutated {
        status: Some(*status),
        object: None,
    };
    let first = match pass(request, &[], &mut reinvocation, false) {
        Ok(object) => object,
        Err(status) => return denied(status),
    };
    if !reinvocation.wanted {
        return Mutated::default();
    }
    let again = AdmissionRequest {
        object: first
            .as_ref()
            .map_or(request.object, |first| (&first.object).into()),
        ..request.clone()
    };
    let nil_lists = first.as_ref().map_or(&[][..], |first| &first.nil_lists);
    let second = match pass(&again, nil_lists, &mut reinvocation, true) {
        Ok(object) => object,
        Err(status) => return denied(status),
    };
    let last = second.or(first);
    Mutated {
        status: None,
        object: last.map(|last| patch::written(last.object, &last.nil_lists)),
    }
}

/// One pass over all policies of a request.
struct Pass<'a> {
    dispatch: Dispatch<'a>,
    schemas: &'a ObjectSchemas,
    is_second: bool,
    /// JSON pointers to the empty lists in the request's object that Go writes as null.
    nil_lists: &'a [String],
    /// The objects of the request, in each kind that policies match.
    versions: Vec<ObjectsOfKind<'a>>,
    /// The position in `versions` of the objects that the last mutation read; `None` before the first mutation of the pass.
    last: Option<usize>,
    failures: Vec<PolicyFailure<'a>>,
}

impl<'a> Pass<'a> {
    /// Runs the pass. Returns the object if a mutation was applied, or the status if the request is denied.
    fn run<'h: 'a, B: Iterator<Item = &'h CompiledMutatingBinding> + Clone>(
        mut self,
        hooks: impl Iterator<Item = (&'h CompiledMutatingPolicy, B)>,
        reinvocation: &mut Reinvocation,
    ) -> Result<Option<MutatedObject>, Box<Status>> {
        let mut invocations = Vec::new();
        for (policy, bindings) in hooks {
            self.select(policy, bindings, &mut invocations);
        }
        if !invocations.is_empty() {
            self.invoke_all(&invocations, reinvocation)?;
        }
        let (request, observer) = (self.dispatch.request(), self.dispatch.observer());
        let failures = std::mem::take(&mut self.failures);
        let outcome = self.outcome()?;
        // The status of a denied request without a name has the name that the object has after its mutations.
        let mutated = outcome.as_ref().filter(|_| !failures.is_empty());
        let renamed = mutated.map(|mutated| AdmissionRequest {
            object: (&mutated.object).into(),
            ..request.clone()
        });
        match denial(&failures, renamed.as_ref().unwrap_or(request), observer) {
            Some(status) => Err(Box::new(status)),
            None => Ok(outcome),
        }
    }

    /// Adds the invocations of a policy: one for each pair of a binding and a param.
    fn select<'h: 'a, B: Iterator<Item = &'h CompiledMutatingBinding> + Clone>(
        &mut self,
        policy: &'a CompiledMutatingPolicy,
        bindings: B,
        invocations: &mut Vec<Invocation<'a>>,
    ) {
        let (request, observer) = (self.dispatch.request(), self.dispatch.observer());
        let around = self.dispatch.surroundings();
        let matched = policy.matcher.policy_matches(request, around);
        observer.policy_matched(policy.name(), &matched);
        let matched = match matched {
            Ok(Some(matched)) => matched,
            Ok(None) => return,
            Err(error) => return self.misconfigured(policy, None, &error),
        };
        let kind = policy.policy().spec.param_kind.as_ref();
        let selections = bindings
            .clone()
            .filter_map(|binding| binding.params.as_ref());
        if let Err(error) = self.dispatch.check_param_kind(kind) {
            return self.misconfigured(policy, None, &error);
        }
        let known = self.dispatch.params_of(kind, selections);
        for binding in bindings {
            let matches = binding.matcher.binding_matches(request, around);
            observer.binding_matched(policy.name(), binding.name(), &matches);
            if matches == Ok(true)
                && let Err(error) = self.dispatch.objects(matched)
            {
                self.misconfigured(policy, None, &error);
                continue;
            }
            let params = match matches {
                Ok(false) => continue,
                Ok(true) => self
                    .dispatch
                    .collect(kind, known.as_ref(), binding.params.as_ref()),
                Err(error) => Err(error),
            };
            match params {
                Ok(params) => invocations.extend(params.all().iter().map(|&param| Invocation {
                    policy,
                    binding,
                    param,
                    matched,
                })),
                Err(error) => self.misconfigured(policy, Some(binding), &error),
            }
        }
    }

    fn misconfigured(
        &mut self,
        policy: &'a CompiledMutatingPolicy,
        binding: Option<&'a CompiledMutatingBinding>,
        error: &str,
    ) {
        let what = if binding.is_some() {
            "binding"
        } else {
            "policy"
        };
        self.failures.push(PolicyFailure {
            policy,
            binding,
            message: format!("failed to configure {what}: {error}"),
            reason: "",
        });
    }

    fn invoke_all(
        &mut self,
        invocations: &[Invocation<'a>],
        reinvocation: &mut Reinvocation,
    ) -> Result<(), Box<Status>> {
        let observer = self.dispatch.observer();
        for Invocation {
            policy,
            binding,
            param,
            ..
        } in invocations
        {
            observer.invocation(policy.name(), binding.name(), *param, self.is_second);
        }
        let not_found = |error| {
            Box::new(namespace_not_found(
                self.dispatch.request().namespace,
                error,
            ))
        };
        self.dispatch.namespace().map_err(not_found)?;
        for (n, invocation) in invocations.iter().enumerate() {
            observer.invoking(invocation.policy.name(), n);
            self.invoke(invocation, reinvocation)?;
        }
        let last = self.last.and_then(|last| self.versions.get(last));
        if last.is_some_and(|version| matches!(version.object, Current::Mutated(_))) {
            reinvocation.changed();
        }
        Ok(())
    }

    /// Applies the mutations of a policy for a binding and a param.
    fn invoke(
        &mut self,
        invocation: &Invocation<'a>,
        reinvocation: &mut Reinvocation,
    ) -> Result<(), Box<Status>> {
        let policy = invocation.policy;
        let (expected, found) = (policy.policy().spec.mutations.len(), policy.mutations.len());
        if expected != found {
            let name = policy.name();
            let message =
                format!("expected {expected} compiled evaluators for policy {name}, got {found}");
            return Err(Box::new(Status::internal(&message)));
        }
        let position = self.version(invocation.matched);
        let arena = Arena::new();
        let params = param_value(invocation.param, &arena);
        if !policy.match_conditions.is_empty() {
            self.read(position, true);
        }
        match self.conditions(invocation, params, position) {
            ConditionsOutcome::Match => {}
            ConditionsOutcome::NoMatch { .. } => return Ok(()),
            ConditionsOutcome::Error(error) => {
                self.failed(invocation, error);
                return Ok(());
            }
        }
        if self.is_second && !reinvocation.is_flagged(invocation) {
            return Ok(());
        }
        let before = self
            .versions
            .get(position)
            .map(|known| known.object.clone());
        for mutation in &policy.mutations {
            self.last = Some(position);
            if self.object(position).is_null() {
                continue;
            }
            let kind = invocation.matched.kind;
            if !self.schemas.knows_version_of(kind) {
                let message = format!(
                    "Resource kind {kind} not found. There can be a delay between when CustomResourceDefinitions are created and when they are available."
                );
                return Err(Box::new(Status::unavailable(message)));
            }
            self.read(position, false);
            let mutated = match self.dispatch.work().ask() {
                Ok(()) => self.mutate(invocation, params, position, &mutation.expression),
                Err(interrupted) => Err(interrupted.to_string().into()),
            };
            let error = mutated.as_ref().err().map(MutationError::message);
            self.dispatch
                .observer()
                .mutated(mutation.expression.kind, error);
            match mutated {
                Ok(mutated) => {
                    if let Err(message) = self.set(position, mutated) {
                        self.failed(invocation, message);
                    }
                }
                Err(MutationError::Policy(message)) => self.failed(invocation, message),
                Err(MutationError::Request(status)) => return Err(status),
            }
        }
        let before = before.as_ref().map_or(Value::NULL, Current::value);
        self.dispatch
            .observer()
            .applied(before, self.object(position));
        let reach = &mut Reach::new(self.dispatch.work());
        let is_same = self.object(position).equals_within(&before, reach);
        if !is_same.unwrap_or(false) {
            reinvocation.changed();
        }
        reinvocation.ran(invocation);
        Ok(())
    }

    fn failed(&mut self, invocation: &Invocation<'a>, message: String) {
        self.failures.push(PolicyFailure {
            policy: invocation.policy,
            binding: Some(invocation.binding),
            message,
            reason: "Invalid",
        });
    }

    /// The position in `versions` of the objects in this kind. They are converted to the kind on first use.
    fn version(&mut self, matched: Matched<'a>) -> usize {
        let kind = matched.kind;
        let known = self.versions.iter().position(|known| known.kind == kind);
        known.unwrap_or_else(|| {
            // Objects that cannot be converted have no invocations.
            let objects = self.dispatch.objects(matched).unwrap_or([Value::NULL; 2]);
            let objects = ObjectsOfKind::sent(objects, kind, self.nil_lists);
            self.versions.push(objects);
            self.versions.len().saturating_sub(1)
        })
    }

    /// Records that an expression reads the objects at this position in `versions`.
    fn read(&mut self, position: usize, is_condition: bool) {
        if let Some(version) = self.versions.get_mut(position) {
            version.read(is_condition);
        }
    }

    /// Evaluates the match conditions of a policy.
    fn conditions(
        &self,
        invocation: &Invocation<'a>,
        params: Value<'_>,
        position: usize,
    ) -> ConditionsOutcome {
        let policy = invocation.policy;
        if policy.match_conditions.is_empty() {
            return ConditionsOutcome::Match;
        }
        let arena = Arena::new();
        let (inputs, _) = self.inputs(invocation, params, position, &arena);
        let runner = self.dispatch.runner(&arena);
        let group = Group::new(
            ExpressionKind::MatchCondition,
            0,
            &policy.variables,
            inputs,
            runner,
        );
        match_conditions::evaluate(
            &group,
            &policy.match_conditions,
            &policy.policy().spec.match_conditions,
            policy.failure_policy(),
            params,
            &runner,
        )
    }

    /// Evaluates a mutation. Returns the object after the mutation.
    fn mutate(
        &self,
        invocation: &Invocation<'a>,
        params: Value<'_>,
        position: usize,
        expression: &Expression,
    ) -> Result<MutatedObject, MutationError> {
        if let Err(error) = expression.program() {
            return Err(error.to_string().into());
        }
        let arena = Arena::new();
        let (inputs, go_values) = self.inputs(invocation, params, position, &arena);
        let runner = self.dispatch.runner(&arena);
        let variables = &invocation.policy.variables;
        let group = Group::new(expression.kind, 0, variables, inputs, runner);
        let mut budget = self.dispatch.cost_budget().unwrap_or(COST_BUDGET);
        let outcomes = group.evaluate([Some(expression)].into_iter(), params, &runner, &mut budget);
        let outcomes = outcomes.map_err(|_| OUT_OF_BUDGET.to_owned())?;
        let outcome = outcomes.first().copied().flatten();
        let value = outcome.unwrap_or(Ok(Value::NULL)).map_err(str::to_owned)?;
        let version = self.versions.get(position);
        let version = version.ok_or_else(|| "the object has no version".to_owned())?;
        patch::mutate(
            expression.kind,
            value,
            go_values,
            version,
            self.schemas,
            &self.dispatch,
        )
    }

    /// The inputs of the expressions of an invocation, and the Go values among them, which are the types of the inputs.
    fn inputs<'b>(
        &'b self,
        invocation: &Invocation<'b>,
        params: Value<'b>,
        position: usize,
        arena: &'b Arena,
    ) -> (TypedInputs<'b>, Option<&'b GoValues<'b>>) {
        let (
            dispatch,
            Invocation {
                policy, matched, ..
            },
        ) = (&self.dispatch, *invocation);
        let namespace = dispatch.namespace().ok().flatten();
        let (mut objects, mut are_typed) = ([Value::NULL; 2], [false; 2]);
        if let Some(version) = self.versions.get(position) {
            objects = [version.object.value(), version.old_object];
            if self.schemas.is_typed(version.kind) {
                are_typed = version.are_structs();
            }
        }
        let inputs = dispatch.inputs_of(policy.reads, matched, objects, namespace, arena);
        let [version, kind] = ["apiVersion", "kind"].map(|key| text_field(params, key));
        let params = match self.schemas.is_typed(&GroupVersionKind::new(version, kind)) {
            true => params,
            false => Value::NULL,
        };
        GoValues::of(inputs, are_typed, params, dispatch.server(), arena)
    }

    /// The current object at this position in `versions`.
    fn object(&self, position: usize) -> Value<'_> {
        let version = self.versions.get(position);
        version.map_or(Value::NULL, |version| version.object.value())
    }

    /// Converts the mutated object to the Go type of its kind (if objects of the kind are decoded), sets its defaults, and stores it.
    fn set(&mut self, position: usize, mutated: MutatedObject) -> Result<(), String> {
        let request = self.dispatch.request();
        match self.versions.get_mut(position) {
            Some(version) => version.set(mutated, request, self.schemas),
            None => Ok(()),
        }
    }

    /// The object after the last mutation, in the kind of the request; `None` if no mutation was applied.
    fn outcome(self) -> Result<Option<MutatedObject>, Box<Status>> {
        let last = self
            .last
            .and_then(|last| self.versions.into_iter().nth(last));
        let mutated = last.map_or(Ok(None), |last| {
            last.into_mutated(&self.dispatch, self.schemas)
        });
        mutated.map_err(|error| {
            Box::new(Status::internal(&format!(
                "failed to convert object: {error}"
            )))
        })
    }
}

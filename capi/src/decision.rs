//! Decides requests with validating policies, and mutates objects with mutating policies.

use std::fmt::Display;
use std::sync::Arc;

use gavel_engine::value::{Arena, Json, Value};
use gavel_libraries::authorizer::Authorizer;
use gavel_policy::mutating::{Mutated, mutate, mutate_by};
use gavel_policy::{
    AdmissionRequest, Convert, Decision, Denial, EquivalentResources, GroupVersionKind, Observer,
    Options, Snapshot, decide, dispatch,
};
use gavel_protocol::{Explanation, ValuesTooLarge};
use serde_json::json;

use crate::arguments;
use crate::callbacks;
use crate::definition::document;
use crate::error::{Failure, GavelError, GavelErrorKind, guard};
use crate::flat;
use crate::index::{Current, Equivalent, GavelIndex, equivalents};
use crate::memory::{self, GavelBytes};
use crate::options::{GavelOptions, Limits};
use crate::policy::{GavelPolicy, mutating, validating};

/// Additional details to return with a decision.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct GavelExplain {
    /// Whether to return the policies and bindings that matched, with their results.
    pub explain: bool,
    /// Whether to return each evaluated expression, with its value and cost.
    pub trace: bool,
}

/// A decision.
#[repr(C)]
#[derive(Debug)]
pub struct GavelDecision {
    /// Whether the request is allowed.
    pub allowed: bool,
    /// Whether a mutation changed the object.
    pub mutated: bool,
    /// A JSON object: `status`, `denials`, `warnings`, `annotations`, `annotationErrors`, `policies` (the explanation) and `object` (after
    /// mutations). Empty if there are no details. The host frees the bytes.
    pub details: GavelBytes,
}

/// Decides a request with all policies of an index. If `policies` is not null, decides with these policies instead; each policy is followed
/// by its bindings. `request` is the `request` of an AdmissionReview in the flat encoding, which may contain JSON texts as values. The
/// request may have an additional key `equivalents`: the resources that serve the same objects as the resource of the request, including
/// this resource. It is a list as in the groups of `gavel_index_configure`, and replaces all these groups for this call.
///
/// # Safety
///
/// `index` must be an index that was not freed. `policies` must be null or point to `policies_len` handles that were not freed, `request`
/// to `request_len` bytes, in which all handles are valid, and `out` to memory for the decision. `options` must be null or point to
/// options.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gavel_index_decide(
    index: *const GavelIndex,
    policies: *const *const GavelPolicy,
    policies_len: usize,
    request: *const u8,
    request_len: usize,
    how: GavelExplain,
    options: *const GavelOptions,
    out: *mut GavelDecision,
) -> *mut GavelError {
    guard(|| {
        let out = arguments::out(out)?;
        let (arena, policies) = (Arena::new(), (policies, policies_len));
        let request = (request, request_len);
        // SAFETY: the caller vouches for all arguments.
        let call = unsafe { Call::read(index, policies, request, options, &arena) }?;
        let decision = call.decide(how)?;
        // SAFETY: the caller vouches for `out`.
        unsafe { memory::write(out, decision) };
        Ok(())
    })
}

/// Mutates the object of a request with all policies of an index. If `policies` is not null, mutates with these policies instead; each
/// policy is followed by its bindings. The field `object` of the details is the object after all mutations. Objects of Kubernetes' own kinds are
/// decoded as the index's API server decodes them: they get defaults, and a mutation fails if it sets an unknown field.
///
/// # Safety
///
/// The requirements of `gavel_index_decide`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gavel_index_mutate(
    index: *const GavelIndex,
    policies: *const *const GavelPolicy,
    policies_len: usize,
    request: *const u8,
    request_len: usize,
    options: *const GavelOptions,
    out: *mut GavelDecision,
) -> *mut GavelError {
    guard(|| {
        let out = arguments::out(out)?;
        let (arena, policies) = (Arena::new(), (policies, policies_len));
        let request = (request, request_len);
        // SAFETY: the caller vouches for all arguments.
        let call = unsafe { Call::read(index, policies, request, options, &arena) }?;
        let decision = call.mutate()?;
        // SAFETY: the caller vouches for `out`.
        unsafe { memory::write(out, decision) };
        Ok(())
    })
}

/// The arguments of a decision.
struct Call<'c> {
    current: Arc<Current>,
    request: AdmissionRequest<'c>,
    /// The equivalent resources that the request contains.
    equivalents: Option<EquivalentResources>,
    /// The policies to evaluate; `None` means all policies of the index.
    policies: Option<Vec<&'c GavelPolicy>>,
    limits: Limits<'c>,
    authorizer: Option<Arc<dyn Authorizer>>,
}

impl<'c> Call<'c> {
    /// Reads the arguments that the host passes.
    ///
    /// # Safety
    ///
    /// The requirements of `gavel_index_decide`.
    unsafe fn read(
        index: *const GavelIndex,
        (policies, policies_len): (*const *const GavelPolicy, usize),
        (request, request_len): (*const u8, usize),
        options: *const GavelOptions,
        arena: &'c Arena,
    ) -> Result<Self, Failure> {
        // SAFETY: the caller vouches for the index.
        let index = unsafe { arguments::handle(index) }?;
        // SAFETY: the caller vouches for the bytes.
        let request = unsafe { arguments::bytes(request, request_len) }?;
        // SAFETY: the caller vouches for the handles within the bytes.
        let request = unsafe { flat::read_value(request, arena) }?;
        // SAFETY: the caller vouches for the options.
        let limits = unsafe { Limits::read(options) };
        Ok(Call {
            current: index.current(),
            equivalents: equivalents_of(request)?,
            request: AdmissionRequest::read(request, arena).map_err(undecodable)?,
            // SAFETY: the caller vouches for the handles.
            policies: unsafe { arguments::handles(policies, policies_len) }?,
            authorizer: limits.callbacks.authorizer(0),
            limits,
        })
    }

    fn options<'o>(
        &'o self,
        interrupt: &'o (dyn Fn() -> bool + Sync),
        convert: &'o Convert<'o>,
        observer: &'o dyn Observer,
    ) -> Options<'o> {
        Options {
            interrupt: self.limits.interrupt(interrupt),
            cost_budget: self.limits.cost,
            authorizer: self.authorizer.as_ref(),
            convert: Some(convert),
            observer,
            ..Options::default()
        }
    }

    /// Converts objects with the host's function.
    fn converter(
        &self,
    ) -> impl Fn(Value<'_>, &GroupVersionKind) -> Result<Option<Json>, String> + Sync + use<> {
        let (convert, context) = (self.current.convert, self.limits.callbacks.context);
        move |object, kind| callbacks::converted(convert, context, object, kind)
    }

    fn decide(&self, how: GavelExplain) -> Result<GavelDecision, Failure> {
        let (request, snapshot) = (&self.request, self.snapshot()?);
        let explanation = (how.explain || how.trace).then(|| Explanation::new(how.trace));
        let observer: &dyn Observer = explanation.as_ref().map_or(&(), |it| it);
        let (limits, convert) = (&self.limits, self.converter());
        let interrupt = || limits.is_over();
        let options = self.options(&interrupt, &convert, observer);
        let decision = match &self.policies {
            None => dispatch(&snapshot, request, &options),
            Some(policies) => {
                let hooks = validating(policies);
                let hooks = hooks
                    .iter()
                    .map(|(policy, bindings)| (*policy, bindings.iter().copied()));
                decide(hooks, &snapshot, request, &options)
            }
        };
        self.limits.check()?;
        let explained = explanation.map(Explanation::into_policies).transpose();
        let too_large =
            |error: ValuesTooLarge| GavelError::new(GavelErrorKind::MemoryLimit, error.to_string());
        GavelDecision::of(decision, explained.map_err(too_large)?)
    }

    fn mutate(&self) -> Result<GavelDecision, Failure> {
        let (request, snapshot) = (&self.request, self.snapshot()?);
        let (limits, convert) = (&self.limits, self.converter());
        let interrupt = || limits.is_over();
        let options = self.options(&interrupt, &convert, &());
        let schemas = &self.current.schemas;
        let mutated = match &self.policies {
            None => mutate(&snapshot, request, schemas, &options),
            Some(policies) => {
                let hooks = mutating(policies);
                let hooks = hooks
                    .iter()
                    .map(|(policy, bindings)| (*policy, bindings.iter().copied()));
                mutate_by(hooks, &snapshot, request, schemas, &options)
            }
        };
        self.limits.check()?;
        GavelDecision::of_mutation(mutated)
    }

    /// The snapshot for the request, with its equivalent resources, its namespace, and the params that policies need for it. The host's
    /// callbacks look up those that the index does not contain.
    fn snapshot(&self) -> Result<Snapshot, Failure> {
        let (request, callbacks) = (&self.request, &self.limits.callbacks);
        let mut snapshot = self.current.snapshot.clone();
        if let Some(equivalents) = &self.equivalents {
            snapshot = snapshot.with_equivalents(equivalents.clone());
        }
        let name = request.namespace;
        let is_unknown = !name.is_empty() && !snapshot.has_namespace(name);
        if is_unknown && let Some(namespace) = callbacks.namespace(name)? {
            snapshot = snapshot.with_namespace(&namespace).map_err(undecodable)?;
        }
        if callbacks.find_param.is_some() {
            for wanted in snapshot.unknown_params(request) {
                let kind = [wanted.api_version.as_str(), wanted.kind.as_str()];
                if let Some(param) = callbacks.param(kind, &wanted.namespace, &wanted.name)? {
                    snapshot = snapshot.with_param(param);
                }
            }
        }
        Ok(snapshot)
    }
}

/// Reads the equivalent resources that a request contains; `None` if the request has none.
fn equivalents_of(request: Value<'_>) -> Result<Option<EquivalentResources>, Failure> {
    let field = request.as_map().map(|fields| fields.get_str("equivalents"));
    let Some(found) = field.and_then(Result::ok).flatten() else {
        return Ok(None);
    };
    let group: Vec<Equivalent> = serde_json::from_value(found.to_json().unwrap_or_default())
        .map_err(|error| undecodable(error).within("request.equivalents"))?;
    Ok(Some(equivalents(vec![group])))
}

fn undecodable(error: impl Display) -> Failure {
    GavelError::new(GavelErrorKind::Decode, error.to_string())
}

impl GavelDecision {
    fn of(decision: Decision, policies: Option<Vec<Json>>) -> Result<Self, Failure> {
        let allowed = decision.allowed();
        let is_silent = allowed
            && policies.is_none()
            && decision.warnings.is_empty()
            && decision.audit_annotations.is_empty()
            && decision.annotation_errors.is_empty();
        let details = match is_silent {
            true => GavelBytes::NONE,
            false => document(&json!({
                "status": decision.status,
                "denials": decision.denials.iter().map(denial).collect::<Vec<_>>(),
                "warnings": decision.warnings,
                "annotations": decision.audit_annotations,
                "annotationErrors": decision.annotation_errors,
                "policies": policies,
            }))?
            .into(),
        };
        Ok(GavelDecision {
            allowed,
            mutated: false,
            details,
        })
    }

    fn of_mutation(mutated: Mutated) -> Result<Self, Failure> {
        let details = match (&mutated.status, &mutated.object) {
            (None, None) => GavelBytes::NONE,
            (status, object) => document(&json!({
                "status": status,
                "object": object,
            }))?
            .into(),
        };
        Ok(GavelDecision {
            allowed: mutated.status.is_none(),
            mutated: mutated.object.is_some(),
            details,
        })
    }
}

fn denial(denial: &Denial) -> Json {
    json!({
        "policy": denial.policy,
        "binding": denial.binding,
        "message": denial.message,
        "reason": denial.reason,
    })
}

#[cfg(test)]
mod tests {
    use gavel_apimachinery::server::Server;

    use super::*;

    #[test]
    fn mutations_of_built_in_kinds_must_not_set_unknown_fields() {
        let index = GavelIndex::new(Server::default()).unwrap();
        let rules = json!([{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["pods"]}]);
        let patch = "[JSONPatch{op: 'add', path: '/spec/nope', value: 1}]";
        let registration = |kind: &str, spec: Json| json!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": kind, "metadata": {"name": "p"}, "spec": spec});
        let policy = json!({
            "matchConstraints": {"resourceRules": rules}, "reinvocationPolicy": "Never",
            "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": patch}}],
        });
        for object in [
            registration("MutatingAdmissionPolicy", policy),
            registration("MutatingAdmissionPolicyBinding", json!({"policyName": "p"})),
        ] {
            index.apply(object).unwrap();
        }
        let request = json!({
            "uid": "1", "operation": "CREATE",
            "kind": {"version": "v1", "kind": "Pod"}, "resource": {"version": "v1", "resource": "pods"},
            "object": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"}, "spec": {"containers": []}},
        });
        let arena = Arena::new();
        let request = AdmissionRequest::read((&request).into(), &arena).unwrap();
        let current = index.current();
        let (snapshot, schemas) = (&current.snapshot, &current.schemas);
        let mutated = mutate(snapshot, &request, schemas, &Options::default());
        let message = mutated.status.unwrap().message;
        assert!(
            message.ends_with("unknown field \"spec.nope\""),
            "{message}"
        );
    }
}

//! Decides requests with validating policies, and mutates objects with mutating policies.

use std::sync::Arc;

use gavel_engine::value::{Arena, Json};
use gavel_libraries::authorizer::Authorizer;
use gavel_policy::mutating::{Mutated, mutate, mutate_by};
use gavel_policy::{
    AdmissionRequest, Decision, Denial, Observer, Options, Snapshot, decide, dispatch,
};
use gavel_protocol::{Explanation, ValuesTooLarge};
use serde_json::json;

use crate::arguments;
use crate::callbacks::GavelCallbacks;
use crate::definition::document;
use crate::error::{Failure, GavelError, GavelErrorKind, guard};
use crate::flat;
use crate::memory::{self, GavelBytes};
use crate::options::{GavelOptions, Limits};
use crate::policy::{Current, GavelIndex, GavelPolicy, mutating, validating};

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
/// by its bindings. `request` is the `request` of an AdmissionReview in the flat encoding, which may contain JSON texts as values.
///
/// # Safety
///
/// `index` must be an index that was not freed. `policies` must be null or point to `policies_len` handles that were not freed, `request`
/// to `request_len` bytes, in which all handles are valid, and `out` to memory for the decision. `options` must be null or point to options.
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
        // SAFETY: the caller vouches for all arguments.
        let call = unsafe { Call::read(index, policies, policies_len, options) }?;
        let arena = Arena::new();
        // SAFETY: the caller vouches for the bytes and the handles within them.
        let request = unsafe { read(request, request_len, &arena) }?;
        let decision = call.decide(&request, how)?;
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
        // SAFETY: the caller vouches for all arguments.
        let call = unsafe { Call::read(index, policies, policies_len, options) }?;
        let arena = Arena::new();
        // SAFETY: the caller vouches for the bytes and the handles within them.
        let request = unsafe { read(request, request_len, &arena) }?;
        let decision = call.mutate(&request)?;
        // SAFETY: the caller vouches for `out`.
        unsafe { memory::write(out, decision) };
        Ok(())
    })
}

/// The arguments of a decision.
struct Call<'c> {
    current: Arc<Current>,
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
        policies: *const *const GavelPolicy,
        policies_len: usize,
        options: *const GavelOptions,
    ) -> Result<Self, Failure> {
        // SAFETY: the caller vouches for the index.
        let index = unsafe { arguments::handle(index) }?;
        // SAFETY: the caller vouches for the options.
        let limits = unsafe { Limits::read(options) };
        Ok(Call {
            current: index.current(),
            // SAFETY: the caller vouches for the handles.
            policies: unsafe { arguments::handles(policies, policies_len) }?,
            authorizer: limits.callbacks.authorizer(0),
            limits,
        })
    }

    fn options<'o>(
        &'o self,
        interrupt: &'o (dyn Fn() -> bool + Sync),
        observer: &'o dyn Observer,
    ) -> Options<'o> {
        Options {
            interrupt: self.limits.interrupt(interrupt),
            cost_budget: self.limits.cost,
            authorizer: self.authorizer.as_ref(),
            observer,
            ..Options::default()
        }
    }

    fn decide(
        &self,
        request: &AdmissionRequest<'_>,
        how: GavelExplain,
    ) -> Result<GavelDecision, Failure> {
        let snapshot = self.snapshot(request)?;
        let explanation = (how.explain || how.trace).then(|| Explanation::new(how.trace));
        let observer: &dyn Observer = explanation.as_ref().map_or(&(), |it| it);
        let interrupt = || self.limits.is_over();
        let options = self.options(&interrupt, observer);
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

    fn mutate(&self, request: &AdmissionRequest<'_>) -> Result<GavelDecision, Failure> {
        let snapshot = self.snapshot(request)?;
        let interrupt = || self.limits.is_over();
        let options = self.options(&interrupt, &());
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

    /// The snapshot for a request, including namespaces and params from the host's callbacks.
    fn snapshot(&self, request: &AdmissionRequest<'_>) -> Result<Snapshot, Failure> {
        with_host(&self.current.snapshot, &self.limits.callbacks, request)
    }
}

/// Adds the namespace of the request, and the params that policies need for the request, to a snapshot. The host's callbacks look up those
/// that the snapshot does not contain.
fn with_host(
    snapshot: &Snapshot,
    callbacks: &GavelCallbacks,
    request: &AdmissionRequest<'_>,
) -> Result<Snapshot, Failure> {
    let wrong = |error: gavel_policy::IndexError| {
        GavelError::new(GavelErrorKind::Decode, error.to_string())
    };
    let mut snapshot = snapshot.clone();
    let name = request.namespace;
    let is_unknown = !name.is_empty() && !snapshot.has_namespace(name);
    if is_unknown && let Some(namespace) = callbacks.namespace(name)? {
        snapshot = snapshot.with_namespace(&namespace).map_err(wrong)?;
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

/// Reads the request that the host passes.
///
/// # Safety
///
/// `data` must point to `len` bytes, in which all handles are valid. The bytes and the handles must live as long as the result.
unsafe fn read<'a>(
    data: *const u8,
    len: usize,
    arena: &'a Arena,
) -> Result<AdmissionRequest<'a>, Failure> {
    // SAFETY: the caller vouches for the bytes.
    let bytes = unsafe { arguments::bytes(data, len) }?;
    // SAFETY: the caller vouches for the handles.
    let request = unsafe { flat::read_value(bytes, arena) }?;
    AdmissionRequest::read(request, arena)
        .map_err(|error| GavelError::new(GavelErrorKind::Decode, error.to_string()))
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

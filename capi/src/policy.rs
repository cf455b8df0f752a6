//! Policies and bindings that are compiled one by one, without an index.

use gavel_apimachinery::server::Server;
use gavel_engine::value::Json;
use gavel_libraries::EnvSet;
use gavel_policy::api::{
    MutatingAdmissionPolicy, MutatingAdmissionPolicyBinding, Registration,
    ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding,
};
use gavel_policy::{
    CompiledBinding, CompiledMutatingBinding, CompiledMutatingPolicy, CompiledPolicy,
};
use gavel_protocol::{as_validated, policy_errors, server_of};
use serde_json::json;

use crate::arguments;
use crate::definition::{document, uncompiled};
use crate::environment::{flag, options};
use crate::error::{Failure, GavelError, GavelErrorKind, guard, guard_compiling};
use crate::json_value::GavelValue;
use crate::memory::{self, GavelBytes};

/// A compiled policy or binding.
#[derive(Debug)]
pub struct GavelPolicy {
    pub(crate) compiled: CompiledObject,
    errors: Json,
}

/// The compiled object of each kind that a `GavelPolicy` can hold.
#[derive(Debug)]
pub(crate) enum CompiledObject {
    /// A ValidatingAdmissionPolicy.
    Validating(CompiledPolicy),
    /// A ValidatingAdmissionPolicyBinding.
    ValidatingBinding(CompiledBinding),
    /// A MutatingAdmissionPolicy.
    Mutating(CompiledMutatingPolicy),
    /// A MutatingAdmissionPolicyBinding.
    MutatingBinding(CompiledMutatingBinding),
}

/// Compiles a policy or a binding. The call succeeds even if expressions do not compile: `gavel_policy_errors` lists these expressions.
/// `config` is JSON with the keys `server`, `k8sVersion`, `noDefaults`.
///
/// # Safety
///
/// `object` must be a value that was not freed. `config` must point to `config_len` bytes, and `out` to memory for a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gavel_policy_compile(
    object: *const GavelValue,
    config: *const u8,
    config_len: usize,
    out: *mut *mut GavelPolicy,
) -> *mut GavelError {
    guard_compiling(|| {
        let out = arguments::out(out)?;
        // SAFETY: the caller vouches for the value.
        let object = unsafe { arguments::handle(object) }?;
        // SAFETY: the caller vouches for the bytes.
        let config = options(
            unsafe { arguments::bytes(config, config_len) }?,
            &["server", "k8sVersion", "noDefaults"],
        )?;
        object.object("the policy must be a JSON object")?;
        let policy = GavelPolicy::compile(&object.0, &config)?;
        // SAFETY: the caller vouches for `out`.
        unsafe { memory::write_handle(out, policy) };
        Ok(())
    })
}

impl GavelPolicy {
    fn compile(object: &Json, config: &Json) -> Result<Self, Failure> {
        let environments = || {
            let server = server_of(config, Server::compatible)?;
            EnvSet::new(server).map_err(uncompiled)
        };
        let no_defaults = flag(config, "noDefaults")?;
        let kind = object.get("kind").and_then(Json::as_str);
        let (compiled, errors) = match kind.unwrap_or_default() {
            "ValidatingAdmissionPolicy" => {
                let policy: ValidatingAdmissionPolicy = registration(object, no_defaults)?;
                let environments = environments()?;
                let new = CompiledPolicy::new(policy.clone(), environments.new_expressions());
                let stored = CompiledPolicy::new(policy, environments.stored_expressions());
                let errors = json!({
                    "stored": policy_errors(stored.errors()),
                    "new": policy_errors(as_validated(new.errors())),
                });
                (CompiledObject::Validating(stored), errors)
            }
            "ValidatingAdmissionPolicyBinding" => {
                let binding: ValidatingAdmissionPolicyBinding = registration(object, no_defaults)?;
                let binding = CompiledBinding::new(binding);
                (CompiledObject::ValidatingBinding(binding), Json::Null)
            }
            "MutatingAdmissionPolicy" => {
                let policy: MutatingAdmissionPolicy = registration(object, no_defaults)?;
                let environments = environments()?;
                let policy = CompiledMutatingPolicy::new(policy, environments.stored_expressions());
                let errors = json!({"stored": policy_errors(policy.errors()), "new": []});
                (CompiledObject::Mutating(policy), errors)
            }
            "MutatingAdmissionPolicyBinding" => {
                let binding: MutatingAdmissionPolicyBinding = registration(object, no_defaults)?;
                let binding = CompiledMutatingBinding::new(binding);
                (CompiledObject::MutatingBinding(binding), Json::Null)
            }
            other => {
                let message = format!("kind must be that of a policy or a binding, not {other:?}");
                return Err(GavelError::new(GavelErrorKind::Argument, message));
            }
        };
        Ok(GavelPolicy { compiled, errors })
    }
}

fn registration<T: Registration>(object: &Json, no_defaults: bool) -> Result<T, Failure> {
    let read = match no_defaults {
        true => T::from_json_without_defaults(object),
        false => T::from_json(object),
    };
    read.map_err(|error| GavelError::new(GavelErrorKind::Decode, error.to_string()))
}

/// Lists the expressions that do not compile. `out` receives a JSON object with two lists of errors, or null for a binding. The errors in
/// `stored` make a stored policy fail. An API server rejects a new policy that has the errors in `new`. Each error is an object with
/// `path`, `type` and `message`.
///
/// # Safety
///
/// `policy` must be a policy that was not freed, and `out` must point to memory for bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gavel_policy_errors(
    policy: *const GavelPolicy,
    out: *mut GavelBytes,
) -> *mut GavelError {
    guard(|| {
        let out = arguments::out(out)?;
        // SAFETY: the caller vouches for the policy.
        let policy = unsafe { arguments::handle(policy) }?;
        let errors = document(&policy.errors)?;
        // SAFETY: the caller vouches for `out`.
        unsafe { memory::write(out, errors.into()) };
        Ok(())
    })
}

/// Frees a policy or a binding; null is ignored.
///
/// # Safety
///
/// The policy must come from this library, and no call may use it afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gavel_policy_free(policy: *mut GavelPolicy) {
    // SAFETY: the caller gives up the policy.
    unsafe { memory::free(policy) };
}

/// Policies, each of them with its bindings.
pub(crate) type Hooks<'p, P, B> = Vec<(&'p P, Vec<&'p B>)>;

/// The validating policies in a list of handles. The bindings of a policy follow the policy in the list.
pub(crate) fn validating<'p>(
    handles: &[&'p GavelPolicy],
) -> Hooks<'p, CompiledPolicy, CompiledBinding> {
    let mut hooks: Hooks<'p, CompiledPolicy, CompiledBinding> = Vec::new();
    for handle in handles {
        match (&handle.compiled, hooks.last_mut()) {
            (CompiledObject::Validating(policy), _) => hooks.push((policy, Vec::new())),
            (CompiledObject::ValidatingBinding(binding), Some((_, bindings))) => {
                bindings.push(binding)
            }
            _ => {}
        }
    }
    hooks
}

/// Like [`validating`], but for mutating policies.
pub(crate) fn mutating<'p>(
    handles: &[&'p GavelPolicy],
) -> Hooks<'p, CompiledMutatingPolicy, CompiledMutatingBinding> {
    let mut hooks: Hooks<'p, CompiledMutatingPolicy, CompiledMutatingBinding> = Vec::new();
    for handle in handles {
        match (&handle.compiled, hooks.last_mut()) {
            (CompiledObject::Mutating(policy), _) => hooks.push((policy, Vec::new())),
            (CompiledObject::MutatingBinding(binding), Some((_, bindings))) => {
                bindings.push(binding)
            }
            _ => {}
        }
    }
    hooks
}

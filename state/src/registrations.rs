//! Validates the policies and bindings that requests write, both those of Kubernetes' API group and those of Gavel's.

use std::sync::Arc;

use gavel_engine::program::Interrupt;
use gavel_engine::value::Value;
use gavel_policy::AdmissionRequest;
use gavel_policy::api::{GROUP, ParamKind, ParamRef, Resource};
use gavel_policy::validation::{Report, Validator};
use serde_json::json;

use crate::definitions::{Findings, undecodable};

/// Validates policies and bindings as the API server validates the built-in kinds with the same names.
#[derive(Debug, Clone)]
pub struct Registrations {
    validator: Arc<Validator>,
}

/// The params to which a policy or binding in a request refers.
#[derive(Debug, Clone, PartialEq)]
pub enum NamedParams {
    /// The request writes a policy, which can read all objects of this `paramKind`.
    Kind(ParamKind),
    /// The request writes a binding. The binding selects among the params of its policy's `paramKind`.
    Objects {
        /// The name of the policy.
        policy: String,
        /// The `paramRef` of the binding.
        params: ParamRef,
    },
}

impl Registrations {
    pub(crate) fn new(validator: Arc<Validator>) -> Self {
        Registrations { validator }
    }

    /// Validates the policy or binding that a request writes. For other objects, the findings are empty. After an interrupt, there is an
    /// error for each expression that was not compiled.
    pub fn validate(&self, request: &AdmissionRequest<'_>, interrupt: Interrupt<'_>) -> Findings {
        let kind = format!("{}.{}", request.kind.kind, request.kind.group);
        match self.report(request, interrupt) {
            Ok(None) => Findings::default(),
            Ok(Some(report)) => Findings {
                kind,
                errors: report.errors,
                warnings: report.warnings,
                ..Findings::default()
            },
            Err(error) => Findings {
                kind,
                unreadable: Some(undecodable(error)),
                ..Findings::default()
            },
        }
    }

    /// The params to which the policy or binding in a request refers. The host must check that the user is allowed to read them.
    ///
    /// Returns `None` if the object refers to no params, or if it is a policy whose `paramKind` does not change.
    pub fn named_params(&self, request: &AdmissionRequest<'_>) -> Option<NamedParams> {
        if !matches!(request.operation, "CREATE" | "UPDATE") || !request.subresource.is_empty() {
            return None;
        }
        let kind = |object| match built_in(object).ok()? {
            Resource::ValidatingAdmissionPolicy(policy) => policy.spec.param_kind,
            Resource::MutatingAdmissionPolicy(policy) => policy.spec.param_kind,
            _ => None,
        };
        let (policy, params) = match built_in(request.object).ok()? {
            Resource::ValidatingAdmissionPolicyBinding(binding) => {
                (binding.spec.policy_name, binding.spec.param_ref)
            }
            Resource::MutatingAdmissionPolicyBinding(binding) => {
                (binding.spec.policy_name, binding.spec.param_ref)
            }
            _ => {
                let named = kind(request.object)?;
                let before = kind(request.old_object);
                return (before.as_ref() != Some(&named)).then_some(NamedParams::Kind(named));
            }
        };
        params.map(|params| NamedParams::Objects { policy, params })
    }

    fn report(
        &self,
        request: &AdmissionRequest<'_>,
        interrupt: Interrupt<'_>,
    ) -> Result<Option<Report>, String> {
        let old = match request.old_object.is_null() {
            true => None,
            false => Some(built_in(request.old_object)?),
        };
        Ok(match (request.operation, request.subresource, old) {
            ("CREATE", "", _) => Some(self.validator.create(&built_in(request.object)?, interrupt)),
            ("UPDATE", "", Some(old)) => {
                self.validator
                    .update(&built_in(request.object)?, &old, interrupt)
            }
            ("UPDATE", "status", Some(Resource::ValidatingAdmissionPolicy(old))) => {
                match built_in(request.object)? {
                    Resource::ValidatingAdmissionPolicy(new) => {
                        Some(self.validator.update_status(&new, &old))
                    }
                    _ => None,
                }
            }
            _ => None,
        })
    }
}

/// Decodes an object of Gavel's group as the built-in kind with the same name.
///
/// # Errors
///
/// The object is too large or cannot be decoded.
fn built_in(object: Value<'_>) -> Result<Resource, String> {
    let too_large = || "the object is too large to be read".to_owned();
    let mut object = object.to_json().ok_or_else(too_large)?;
    if let Some(fields) = object.as_object_mut() {
        fields.insert("apiVersion".to_owned(), json!(format!("{GROUP}/v1")));
    }
    let decoded = Resource::decode(&object).map_err(|error| error.to_string())?;
    Ok(decoded.object)
}

//! Validates bindings.

use std::collections::BTreeSet;

use gavel_apimachinery::field::{BadValue, Error, ErrorType, Errors, Path};
use gavel_apimachinery::json;
use gavel_apimachinery::names;
use gavel_engine::value::Json;

use super::Validated;
use super::expressions::Interruptible;
use super::matching::{match_resources, mutating_operations, one_of};
use crate::api::{
    MatchResources, MutatingAdmissionPolicyBinding, ParamRef, ValidatingAdmissionPolicyBinding,
};

const ACTIONS: [&str; 3] = ["Audit", "Deny", "Warn"];

impl Validated for ValidatingAdmissionPolicyBinding {
    fn validate(&self, errors: &mut Errors, _: &str, _: Option<&Self>, _: Interruptible<'_>) {
        let spec = &self.spec;
        let path = Path::new("spec");
        let (param, resources) = (spec.param_ref.as_ref(), spec.match_resources.as_ref());
        bound(errors, &spec.policy_name, param, resources, &path);
        validation_actions(
            errors,
            &spec.validation_actions,
            &path.child("validationActions"),
        );
    }
}

impl Validated for MutatingAdmissionPolicyBinding {
    fn validate(&self, errors: &mut Errors, _: &str, _: Option<&Self>, _: Interruptible<'_>) {
        let spec = &self.spec;
        let path = Path::new("spec");
        let (param, resources) = (spec.param_ref.as_ref(), spec.match_resources.as_ref());
        bound(errors, &spec.policy_name, param, resources, &path);
        if let Some(resources) = &spec.match_resources {
            mutating_operations(errors, resources, &path.child("matchResources"));
        }
    }
}

/// Appends the errors in the policy name, the `paramRef` and the `matchResources` of a binding.
fn bound(
    errors: &mut Errors,
    policy: &str,
    param: Option<&ParamRef>,
    resources: Option<&MatchResources>,
    path: &Path<'_>,
) {
    policy_name(errors, policy, path);
    if let Some(param) = param {
        param_ref(errors, param, &path.child("paramRef"));
    }
    if let Some(resources) = resources {
        match_resources(errors, resources, &path.child("matchResources"));
    }
}

fn policy_name(errors: &mut Errors, name: &str, path: &Path<'_>) {
    let path = path.child("policyName");
    if name.is_empty() {
        return errors.push(Error::required(&path, ""));
    }
    for fault in names::subdomain_name(name, false) {
        errors.push(Error::invalid(&path, name, fault));
    }
}

fn param_ref(errors: &mut Errors, param: &ParamRef, path: &Path<'_>) {
    const BOTH: &str = "name and selector are mutually exclusive";
    let (name_path, selector_path) = (path.child("name"), path.child("selector"));
    let has_both = !param.name.is_empty() && param.selector.is_some();
    for fault in names::path_segment(&param.name, false) {
        errors.push(Error::invalid(&name_path, &param.name, fault));
    }
    if has_both {
        errors.push(Error::forbidden(&name_path, BOTH));
    }
    match &param.selector {
        Some(selector) => selector.validate(errors, false, &selector_path),
        None if param.name.is_empty() => {
            errors.push(Error::required(
                path,
                "one of name or selector must be specified",
            ));
        }
        None => {}
    }
    if has_both {
        errors.push(Error::forbidden(&selector_path, BOTH));
    }
    let path = path.child("parameterNotFoundAction");
    match param
        .parameter_not_found_action
        .as_deref()
        .unwrap_or_default()
    {
        "" => errors.push(Error::required(&path, "")),
        action => one_of(errors, action, &["Deny", "Allow"], &path),
    }
}

fn validation_actions(errors: &mut Errors, actions: &[String], path: &Path<'_>) {
    let mut seen = BTreeSet::new();
    for (n, action) in actions.iter().enumerate() {
        let path = path.index(n);
        one_of(errors, action, &ACTIONS, &path);
        if !seen.insert(action.as_str()) {
            let value = BadValue::Text(json::quoted(action));
            errors.push(Error::duplicate(&path, value));
        }
    }
    if seen.contains("Deny") && seen.contains("Warn") {
        let detail = "must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)";
        errors.push(Error::invalid(path, Json::from(actions.to_vec()), detail));
    }
    if seen.is_empty() {
        errors.push(Error::required(
            path,
            "at least one validation action is required",
        ));
    }
}

/// Moves the errors of the fields that are validated declaratively behind all others, without their explanations.
pub(super) fn validate_declaratively(errors: &mut Vec<Error>) {
    let is_declarative = |error: &Error| {
        error.kind == ErrorType::Required
            && matches!(&*error.field, "spec.policyName" | "spec.validationActions")
    };
    let (declarative, mut others): (Vec<_>, Vec<_>) =
        std::mem::take(errors).into_iter().partition(is_declarative);
    others.extend(declarative.into_iter().map(|error| Error {
        detail: String::new(),
        ..error
    }));
    *errors = others;
}

//! Policies.

use gavel_apimachinery::field::{Error, Path};
use gavel_apimachinery::meta::GroupVersion;
use gavel_apimachinery::names;

use super::Validated;
use super::checks::Checks;
use super::expressions::{Compilers, OldExpressions};
use super::matching::{failure_policy, match_resources, mutating_operations, one_of, required};
use super::webhook::REINVOCATION_POLICIES;
use crate::api::{
    MatchResources, MutatingAdmissionPolicy, MutatingAdmissionPolicySpec, ParamKind,
    ValidatingAdmissionPolicy, ValidatingAdmissionPolicySpec,
};

impl Validated for ValidatingAdmissionPolicy {
    fn validate(
        &self,
        errors: &mut Vec<Error>,
        name: &str,
        old: Option<&Self>,
        compilers: &Compilers,
    ) {
        let spec = &self.spec;
        let path = Path::new("spec");
        let old_expressions = old.map(old_validating).unwrap_or_default();
        let old = old.map(|old| &old.spec);
        let mut checks = Checks {
            params: spec.param_kind.is_some(),
            old: old_expressions,
            expressions: match spec.variables.is_empty() {
                true => compilers.plain(),
                false => compilers.composed(),
            },
        };
        failure_policy_required(errors, spec.failure_policy.as_deref(), &path);
        param_kind(errors, spec.param_kind.as_ref(), &path.child("paramKind"));
        match_constraints(
            errors,
            spec.match_constraints.as_ref(),
            &path.child("matchConstraints"),
        );
        let is_unchanged = |old: &ValidatingAdmissionPolicySpec| {
            old.param_kind == spec.param_kind && old.match_conditions == spec.match_conditions
        };
        if !old.is_some_and(is_unchanged) {
            checks.match_conditions(errors, &spec.match_conditions, compilers, &path);
        }
        checks.variables(errors, &spec.variables, &path.child("variables"));
        let (validations, annotations) =
            (path.child("validations"), path.child("auditAnnotations"));
        if spec.validations.is_empty() && spec.audit_annotations.is_empty() {
            let detail = "validations or auditAnnotations must contain at least one item";
            errors.push(Error::required(&validations, detail));
            errors.push(Error::required(&annotations, detail));
            return;
        }
        for (n, validation) in spec.validations.iter().enumerate() {
            checks.validation(errors, validation, &validations.index(n));
        }
        checks.audit_annotations(errors, &spec.audit_annotations, name, &annotations);
    }
}

impl Validated for MutatingAdmissionPolicy {
    fn validate(
        &self,
        errors: &mut Vec<Error>,
        _: &str,
        old: Option<&Self>,
        compilers: &Compilers,
    ) {
        let spec = &self.spec;
        let path = Path::new("spec");
        let old_expressions = old.map(old_mutating).unwrap_or_default();
        let old = old.map(|old| &old.spec);
        let mut checks = Checks {
            params: spec.param_kind.is_some(),
            old: old_expressions,
            expressions: compilers.composed(),
        };
        failure_policy_required(errors, spec.failure_policy.as_deref(), &path);
        param_kind(errors, spec.param_kind.as_ref(), &path.child("paramKind"));
        let constraints = path.child("matchConstraints");
        match_constraints(errors, spec.match_constraints.as_ref(), &constraints);
        if let Some(resources) = &spec.match_constraints {
            mutating_operations(errors, resources, &constraints);
        }
        let is_unchanged = |old: &MutatingAdmissionPolicySpec| {
            old.param_kind == spec.param_kind && old.match_conditions == spec.match_conditions
        };
        if !old.is_some_and(is_unchanged) {
            checks.match_conditions(errors, &spec.match_conditions, compilers, &path);
        }
        checks.variables(errors, &spec.variables, &path.child("variables"));
        let mutations = path.child("mutations");
        if spec.mutations.is_empty() {
            let detail = "mutations must contain at least one item";
            errors.push(Error::required(&mutations, detail));
        }
        for (n, mutation) in spec.mutations.iter().enumerate() {
            checks.mutation(errors, mutation, &mutations.index(n));
        }
        let path = path.child("reinvocationPolicy");
        match spec.reinvocation_policy.as_str() {
            "" => errors.push(Error::required(&path, "")),
            policy => one_of(errors, policy, &REINVOCATION_POLICIES, &path),
        }
    }
}

fn old_validating(old: &ValidatingAdmissionPolicy) -> OldExpressions<'_> {
    let spec = &old.spec;
    OldExpressions {
        match_conditions: spec
            .match_conditions
            .iter()
            .map(|condition| condition.expression.as_str())
            .collect(),
        validations: spec
            .validations
            .iter()
            .map(|validation| validation.expression.as_str())
            .collect(),
        messages: spec
            .validations
            .iter()
            .map(|validation| validation.message_expression.as_str())
            .collect(),
        audit_annotations: spec
            .audit_annotations
            .iter()
            .map(|annotation| annotation.value_expression.as_str())
            .collect(),
        ..OldExpressions::default()
    }
}

fn old_mutating(old: &MutatingAdmissionPolicy) -> OldExpressions<'_> {
    let spec = &old.spec;
    let configurations = spec
        .mutations
        .iter()
        .filter_map(|mutation| mutation.apply_configuration.as_ref());
    OldExpressions {
        match_conditions: spec
            .match_conditions
            .iter()
            .map(|condition| condition.expression.as_str())
            .collect(),
        apply_configurations: configurations
            .map(|configuration| configuration.expression.as_str())
            .collect(),
        ..OldExpressions::default()
    }
}

fn failure_policy_required(errors: &mut Vec<Error>, policy: Option<&str>, path: &Path<'_>) {
    let path = path.child("failurePolicy");
    required(errors, policy.is_some(), &path);
    failure_policy(errors, policy, &path);
}

fn match_constraints(
    errors: &mut Vec<Error>,
    constraints: Option<&MatchResources>,
    path: &Path<'_>,
) {
    match constraints {
        None => errors.push(Error::required(path, "")),
        Some(constraints) => {
            match_resources(errors, constraints, path);
            // They tell the types that there are.
            required(
                errors,
                !constraints.resource_rules.is_empty(),
                &path.child("resourceRules"),
            );
        }
    }
}

fn param_kind(errors: &mut Vec<Error>, param_kind: Option<&ParamKind>, path: &Path<'_>) {
    let Some(ParamKind { api_version, kind }) = param_kind else {
        return;
    };
    let version_path = path.child("apiVersion");
    match GroupVersion::parse(api_version) {
        _ if api_version.is_empty() => errors.push(Error::required(&version_path, "")),
        Err(message) => errors.push(Error::invalid(&version_path, api_version, message)),
        Ok(GroupVersion { group, version }) => {
            let faults = match group {
                "" => Vec::new(),
                group => names::dns1123_subdomain(group.as_bytes()),
            };
            if !faults.is_empty() {
                errors.push(Error::invalid(&version_path, group, faults.join(",")));
            }
            let faults = names::dns1035_label(version.as_bytes());
            if version.is_empty() {
                errors.push(Error::invalid(
                    &version_path,
                    api_version,
                    "version must be specified",
                ));
            } else if !faults.is_empty() {
                errors.push(Error::invalid(&version_path, version, faults.join(",")));
            }
        }
    }
    let path = path.child("kind");
    let faults = names::dns1035_label(names::lower_case(kind).as_bytes());
    if kind.is_empty() {
        errors.push(Error::required(&path, ""));
    } else if !faults.is_empty() {
        let faults = faults.join(",");
        let detail = format!("may have mixed case, but should otherwise match: {faults}");
        errors.push(Error::invalid(&path, kind, detail));
    }
}

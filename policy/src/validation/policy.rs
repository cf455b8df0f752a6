//! Validates policies.

use std::collections::BTreeSet;

use gavel_apimachinery::field::{Error, Errors, Path};
use gavel_apimachinery::meta::GroupVersion;
use gavel_apimachinery::names;

use super::Validated;
use super::checks::Checks;
use super::expressions::{Interruptible, OldExpressions};
use super::matching::{failure_policy, match_resources, mutating_operations, one_of, required};
use super::webhook::REINVOCATION_POLICIES;
use crate::api::{
    MatchCondition, MatchResources, MutatingAdmissionPolicy, MutatingAdmissionPolicySpec,
    ParamKind, ValidatingAdmissionPolicy, ValidatingAdmissionPolicySpec, Variable,
};

impl Validated for ValidatingAdmissionPolicy {
    fn validate(
        &self,
        errors: &mut Errors,
        name: &str,
        old: Option<&Self>,
        compilers: Interruptible<'_>,
    ) {
        let spec = &self.spec;
        let path = Path::new("spec");
        let expressions = match spec.variables.is_empty() {
            true => compilers.plain(),
            false => compilers.composed(),
        };
        let mut checks = Checks {
            params: spec.param_kind.is_some(),
            old: old.map(old_validating).unwrap_or_default(),
            expressions,
        };
        let scope = SharedSpec::from(spec);
        scope.check(errors, &path);
        let old = old.map(|old| SharedSpec::from(&old.spec));
        scope.check_expressions(errors, &mut checks, old, compilers, &path);
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
        errors: &mut Errors,
        _: &str,
        old: Option<&Self>,
        compilers: Interruptible<'_>,
    ) {
        let spec = &self.spec;
        let path = Path::new("spec");
        let mut checks = Checks {
            params: spec.param_kind.is_some(),
            old: old.map(old_mutating).unwrap_or_default(),
            expressions: compilers.composed(),
        };
        let scope = SharedSpec::from(spec);
        scope.check(errors, &path);
        if let Some(resources) = &spec.match_constraints {
            mutating_operations(errors, resources, &path.child("matchConstraints"));
        }
        let old = old.map(|old| SharedSpec::from(&old.spec));
        scope.check_expressions(errors, &mut checks, old, compilers, &path);
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

/// The fields that validating and mutating policies share.
#[derive(Debug, Clone, Copy)]
struct SharedSpec<'p> {
    param_kind: Option<&'p ParamKind>,
    match_constraints: Option<&'p MatchResources>,
    failure_policy: Option<&'p str>,
    match_conditions: &'p [MatchCondition],
    variables: &'p [Variable],
}

macro_rules! scope_of {
    ($spec:ident) => {
        impl<'p> From<&'p $spec> for SharedSpec<'p> {
            fn from(spec: &'p $spec) -> Self {
                SharedSpec {
                    param_kind: spec.param_kind.as_ref(),
                    match_constraints: spec.match_constraints.as_ref(),
                    failure_policy: spec.failure_policy.as_deref(),
                    match_conditions: &spec.match_conditions,
                    variables: &spec.variables,
                }
            }
        }
    };
}

scope_of!(ValidatingAdmissionPolicySpec);
scope_of!(MutatingAdmissionPolicySpec);

impl SharedSpec<'_> {
    /// Appends all errors except errors of expressions.
    fn check(&self, errors: &mut Errors, path: &Path<'_>) {
        failure_policy_required(errors, self.failure_policy, path);
        param_kind(errors, self.param_kind, &path.child("paramKind"));
        match_constraints(
            errors,
            self.match_constraints,
            &path.child("matchConstraints"),
        );
    }

    /// Appends the errors of match conditions and variables.
    fn check_expressions(
        &self,
        errors: &mut Errors,
        checks: &mut Checks<'_>,
        old: Option<SharedSpec<'_>>,
        compilers: Interruptible<'_>,
        path: &Path<'_>,
    ) {
        let is_unchanged = |old: SharedSpec<'_>| {
            old.param_kind == self.param_kind && old.match_conditions == self.match_conditions
        };
        if !old.is_some_and(is_unchanged) {
            checks.match_conditions(errors, self.match_conditions, compilers, path);
        }
        checks.variables(errors, self.variables, &path.child("variables"));
    }
}

fn old_validating(old: &ValidatingAdmissionPolicy) -> OldExpressions<'_> {
    let spec = &old.spec;
    let (validations, annotations) = (&spec.validations, &spec.audit_annotations);
    OldExpressions {
        match_conditions: texts(&spec.match_conditions, |each| &each.expression),
        validations: texts(validations, |each| &each.expression),
        messages: texts(validations, |each| &each.message_expression),
        audit_annotations: texts(annotations, |each| &each.value_expression),
        ..OldExpressions::default()
    }
}

fn old_mutating(old: &MutatingAdmissionPolicy) -> OldExpressions<'_> {
    let spec = &old.spec;
    let mutations = spec.mutations.iter();
    let configurations = mutations.filter_map(|each| each.apply_configuration.as_ref());
    OldExpressions {
        match_conditions: texts(&spec.match_conditions, |each| &each.expression),
        apply_configurations: texts(configurations, |each| &each.expression),
        ..OldExpressions::default()
    }
}

fn texts<'p, T: 'p>(
    parts: impl IntoIterator<Item = &'p T>,
    text: impl Fn(&'p T) -> &'p String,
) -> BTreeSet<&'p str> {
    let texts = parts.into_iter().map(text);
    texts.map(String::as_str).collect()
}

fn failure_policy_required(errors: &mut Errors, policy: Option<&str>, path: &Path<'_>) {
    let path = path.child("failurePolicy");
    required(errors, policy.is_some(), &path);
    failure_policy(errors, policy, &path);
}

fn match_constraints(errors: &mut Errors, constraints: Option<&MatchResources>, path: &Path<'_>) {
    match constraints {
        None => errors.push(Error::required(path, "")),
        Some(constraints) => {
            match_resources(errors, constraints, path);
            // The rules determine the kinds of the objects, so at least one rule is required.
            required(
                errors,
                !constraints.resource_rules.is_empty(),
                &path.child("resourceRules"),
            );
        }
    }
}

fn param_kind(errors: &mut Errors, param_kind: Option<&ParamKind>, path: &Path<'_>) {
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

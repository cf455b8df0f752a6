//! Policies.

use std::collections::BTreeSet;

use gavel_apimachinery::field::{BadValue, Error, ErrorType, Path};
use gavel_apimachinery::json;
use gavel_apimachinery::meta::GroupVersion;
use gavel_apimachinery::names;

use super::Validated;
use super::expressions::{Compilers, Expressions, OldExpressions};
use super::matching::{
    failure_policy, match_conditions, match_resources, mutating_operations, one_of, required,
};
use super::webhook::REINVOCATION_POLICIES;
use crate::api::{
    AuditAnnotation, MatchCondition, MatchResources, MutatingAdmissionPolicy,
    MutatingAdmissionPolicySpec, Mutation, ParamKind, ValidatingAdmissionPolicy,
    ValidatingAdmissionPolicySpec, Validation, Variable,
};
use crate::cel::{Declarations, ExpressionKind};

const REASONS: [&str; 3] = ["Forbidden", "Invalid", "RequestEntityTooLarge"];
const PATCH_TYPES: [&str; 2] = ["ApplyConfiguration", "JSONPatch"];
const MOST_AUDIT_ANNOTATIONS: usize = 20;
/// In bytes.
const LONGEST_VALUE_EXPRESSION: usize = 5 * 1024;

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

/// What the checks of a policy's expressions need.
struct Checks<'p> {
    params: bool,
    old: OldExpressions<'p>,
    expressions: Expressions<'p>,
}

impl Checks<'_> {
    fn declarations(&self) -> Declarations {
        Declarations {
            params: self.params,
            authorizer: true,
            patch_types: false,
        }
    }

    fn match_conditions(
        &self,
        errors: &mut Vec<Error>,
        conditions: &[MatchCondition],
        compilers: &Compilers,
        path: &Path<'_>,
    ) {
        let path = path.child("matchConditions");
        match_conditions(
            errors,
            conditions,
            self.params,
            &self.old,
            &compilers.plain(),
            &path,
        );
    }

    fn variables(&mut self, errors: &mut Vec<Error>, variables: &[Variable], path: &Path<'_>) {
        for (n, variable) in variables.iter().enumerate() {
            let Variable { name, expression } = variable;
            let path = path.index(n);
            let name_path = path.child("name");
            if name.trim().is_empty() {
                errors.push(Error::required(&name_path, "name is not specified"));
            } else if !is_identifier(name) {
                errors.push(Error::invalid(
                    &name_path,
                    name,
                    "must be a valid CEL identifier",
                ));
            }
            let path = path.child("expression");
            if expression.trim().is_empty() {
                errors.push(Error::required(&path, "expression is not specified"));
                continue;
            }
            // Upstream looks variables up among the validations.
            let is_old = self.old.validations.contains(expression.as_str());
            let declarations = self.declarations();
            errors.extend(
                self.expressions
                    .check_variable(variable, declarations, is_old, &path),
            );
        }
    }

    fn validation(&self, errors: &mut Vec<Error>, validation: &Validation, path: &Path<'_>) {
        let Validation {
            expression,
            message,
            reason,
            message_expression,
        } = validation;
        let expression_path = path.child("expression");
        if expression.trim().is_empty() {
            errors.push(Error::required(
                &expression_path,
                "expression is not specified",
            ));
        } else {
            let is_old = self.old.validations.contains(expression.as_str());
            let kind = ExpressionKind::Validation;
            errors.extend(self.expressions.check(
                kind,
                expression,
                self.declarations(),
                is_old,
                &expression_path,
            ));
        }
        let expression_path = path.child("messageExpression");
        if !message_expression.trim().is_empty() {
            let is_old = self.old.messages.contains(message_expression.as_str());
            let declarations = Declarations {
                authorizer: false,
                ..self.declarations()
            };
            let kind = ExpressionKind::Message;
            errors.extend(self.expressions.check(
                kind,
                message_expression,
                declarations,
                is_old,
                &expression_path,
            ));
        } else if !message_expression.is_empty() {
            errors.push(Error::invalid(
                &expression_path,
                message_expression,
                "must be non-empty if specified",
            ));
        }
        let message_path = path.child("message");
        match message.trim() {
            "" if !message.is_empty() => {
                errors.push(Error::invalid(
                    &message_path,
                    message,
                    "must be non-empty if specified",
                ));
            }
            text if text.contains(['\n', '\r']) => {
                errors.push(Error::invalid(
                    &message_path,
                    message,
                    "must not contain line breaks",
                ));
            }
            _ => {}
        }
        if let Some(reason) = reason {
            one_of(errors, reason, &REASONS, &path.child("reason"));
        }
    }

    fn audit_annotations(
        &self,
        errors: &mut Vec<Error>,
        annotations: &[AuditAnnotation],
        name: &str,
        path: &Path<'_>,
    ) {
        if annotations.len() > MOST_AUDIT_ANNOTATIONS {
            let detail =
                format!("must not have more than {MOST_AUDIT_ANNOTATIONS} auditAnnotations");
            errors.push(Error::invalid(path, all_annotations(annotations), detail));
        }
        let mut seen = BTreeSet::new();
        for (n, annotation) in annotations.iter().enumerate() {
            let path = path.index(n);
            let key = &annotation.key;
            let key_path = path.child("key");
            if name.is_empty() {
                errors.push(Error::invalid(
                    &key_path,
                    key,
                    "requires metadata.name be non-empty",
                ));
            } else {
                let qualified = format!("{name}/{key}");
                for fault in names::qualified_name(&qualified) {
                    errors.push(Error::invalid(&key_path, &qualified, fault));
                }
            }
            self.value_expression(
                errors,
                &annotation.value_expression,
                &path.child("valueExpression"),
            );
            if !seen.insert(key) {
                errors.push(Error::duplicate(&key_path, key.as_str()));
            }
        }
    }

    fn value_expression(&self, errors: &mut Vec<Error>, text: &str, path: &Path<'_>) {
        let trimmed = text.trim();
        if trimmed.is_empty() {
            errors.push(Error::required(path, "valueExpression is not specified"));
        } else if trimmed.len() > LONGEST_VALUE_EXPRESSION {
            let detail = format!("must not exceed {LONGEST_VALUE_EXPRESSION} bytes in length");
            errors.push(Error::required(path, detail));
        } else {
            let is_old = self.old.audit_annotations.contains(text);
            let kind = ExpressionKind::AuditAnnotation;
            let error = self
                .expressions
                .check(kind, trimmed, self.declarations(), is_old, path);
            // The text is shown as it was written.
            errors.extend(error.map(|error| match error.kind {
                ErrorType::Invalid => Error::invalid(path, text, error.detail),
                _ => error,
            }));
        }
    }

    fn mutation(&self, errors: &mut Vec<Error>, mutation: &Mutation, path: &Path<'_>) {
        let Mutation {
            patch_type,
            apply_configuration,
            json_patch,
        } = mutation;
        let apply = (
            "applyConfiguration",
            "ApplyConfiguration",
            ExpressionKind::ApplyConfiguration,
            apply_configuration
                .as_ref()
                .map(|configuration| configuration.expression.as_str()),
        );
        let patch = (
            "jsonPatch",
            "JSONPatch",
            ExpressionKind::JsonPatch,
            json_patch.as_ref().map(|patch| patch.expression.as_str()),
        );
        let type_path = path.child("patchType");
        let (wanted, other) = match patch_type.as_str() {
            "" => return errors.push(Error::required(&type_path, "")),
            "ApplyConfiguration" => (apply, patch),
            "JSONPatch" => (patch, apply),
            other => return one_of(errors, other, &PATCH_TYPES, &type_path),
        };
        let (field, ty, kind, expression) = wanted;
        let field_path = path.child(field);
        match expression {
            None => {
                let detail = format!("must be specified when patchType is {ty}");
                errors.push(Error::required(&field_path, detail));
            }
            Some(text) => self.patch(errors, kind, text, &field_path.child("expression")),
        }
        let (field, _, _, expression) = other;
        if expression.is_some() {
            let detail = format!("must not be specified when patchType is {ty}");
            errors.push(Error::invalid(
                &path.child(field),
                format!("{{{field}}}"),
                detail,
            ));
        }
    }

    fn patch(&self, errors: &mut Vec<Error>, kind: ExpressionKind, text: &str, path: &Path<'_>) {
        let trimmed = text.trim();
        if trimmed.is_empty() {
            return errors.push(Error::required(path, ""));
        }
        // Upstream looks JSON patches up among the configurations, too.
        let is_old = self.old.apply_configurations.contains(text);
        let declarations = Declarations {
            patch_types: true,
            ..self.declarations()
        };
        errors.extend(
            self.expressions
                .check(kind, trimmed, declarations, is_old, path),
        );
    }
}

/// The annotations as Go writes its internal type.
fn all_annotations(annotations: &[AuditAnnotation]) -> BadValue {
    let texts = annotations.iter().map(
        |AuditAnnotation {
             key,
             value_expression,
         }| {
            let (key, value) = (json::quoted(key), json::quoted(value_expression));
            format!("{{\"Key\":{key},\"ValueExpression\":{value}}}")
        },
    );
    let texts: Vec<String> = texts.collect();
    BadValue::Text(format!("[{}]", texts.join(",")))
}

/// Whether an expression can use the name.
fn is_identifier(name: &str) -> bool {
    let is_part = |c: char| c == '_' || c.is_ascii_alphanumeric();
    name.chars().all(is_part)
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && !name.is_empty()
        && !RESERVED.contains(&name)
}

const RESERVED: [&str; 21] = [
    "as",
    "break",
    "const",
    "continue",
    "else",
    "false",
    "for",
    "function",
    "if",
    "import",
    "in",
    "let",
    "loop",
    "namespace",
    "null",
    "package",
    "return",
    "true",
    "var",
    "void",
    "while",
];

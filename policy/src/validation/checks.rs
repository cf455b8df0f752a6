//! Validates a policy's expressions and the fields beside them, such as names and messages.

use std::collections::BTreeSet;

use gavel_apimachinery::field::{BadValue, Error, ErrorType, Errors, Path};
use gavel_apimachinery::json;
use gavel_apimachinery::names;
use gavel_schema::cel::is_reserved;

use super::expressions::{Expressions, Interruptible, OldExpressions};
use super::matching::{match_conditions, one_of};
use crate::api::{AuditAnnotation, MatchCondition, Mutation, Validation, Variable};
use crate::cel::{Declarations, ExpressionKind};

const REASONS: [&str; 3] = ["Forbidden", "Invalid", "RequestEntityTooLarge"];
const PATCH_TYPES: [&str; 2] = ["ApplyConfiguration", "JSONPatch"];
const MOST_AUDIT_ANNOTATIONS: usize = 20;
/// The maximum length of a `valueExpression`, in bytes.
const LONGEST_VALUE_EXPRESSION: usize = 5 * 1024;

/// The inputs for checking a policy's expressions.
pub(super) struct Checks<'p> {
    /// Whether the policy has params.
    pub(super) params: bool,
    /// The expressions of the policy before an update.
    pub(super) old: OldExpressions<'p>,
    /// The compiler, with the variables declared so far.
    pub(super) expressions: Expressions<'p>,
}

impl Checks<'_> {
    fn declarations(&self) -> Declarations {
        Declarations::with_authorizer(self.params)
    }

    /// Appends the errors of match conditions, which cannot read variables.
    pub(super) fn match_conditions(
        &self,
        errors: &mut Errors,
        conditions: &[MatchCondition],
        compilers: Interruptible<'_>,
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

    /// Appends the errors of variables. The expression of a variable can read the variables before it.
    pub(super) fn variables(
        &mut self,
        errors: &mut Errors,
        variables: &[Variable],
        path: &Path<'_>,
    ) {
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
            // Upstream compares variables with the old validations, not with the old variables.
            let is_old = self.old.validations.contains(expression.as_str());
            let declarations = self.declarations();
            errors.extend(
                self.expressions
                    .check_variable(variable, declarations, is_old, &path),
            );
        }
    }

    /// Appends the errors of a validation.
    pub(super) fn validation(&self, errors: &mut Errors, validation: &Validation, path: &Path<'_>) {
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

    /// Appends the errors of audit annotations. `name` is the name of the policy.
    pub(super) fn audit_annotations(
        &self,
        errors: &mut Errors,
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

    fn value_expression(&self, errors: &mut Errors, text: &str, path: &Path<'_>) {
        let length = text.trim().len();
        if length == 0 {
            errors.push(Error::required(path, "valueExpression is not specified"));
        } else if length > LONGEST_VALUE_EXPRESSION {
            let detail = format!("must not exceed {LONGEST_VALUE_EXPRESSION} bytes in length");
            errors.push(Error::required(path, detail));
        } else {
            let is_old = self.old.audit_annotations.contains(text);
            let kind = ExpressionKind::AuditAnnotation;
            let error =
                self.expressions
                    .check_trimmed(kind, text, self.declarations(), is_old, path);
            // Errors show the expression as written, not trimmed.
            errors.extend(error.map(|error| match error.kind {
                ErrorType::Invalid => Error {
                    bad_value: text.into(),
                    ..error
                },
                _ => error,
            }));
        }
    }

    /// Appends the errors of a mutation.
    pub(super) fn mutation(&self, errors: &mut Errors, mutation: &Mutation, path: &Path<'_>) {
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

    fn patch(&self, errors: &mut Errors, kind: ExpressionKind, text: &str, path: &Path<'_>) {
        if text.trim().is_empty() {
            return errors.push(Error::required(path, ""));
        }
        // Upstream compares JSON patches with the old apply configurations, not with the old JSON patches.
        let is_old = self.old.apply_configurations.contains(text);
        let declarations = Declarations {
            patch_types: true,
            ..self.declarations()
        };
        errors.extend(
            self.expressions
                .check_trimmed(kind, text, declarations, is_old, path),
        );
    }
}

/// Formats the annotations as JSON with the field names of Kubernetes' internal Go type.
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

/// Whether a variable's name is a valid CEL identifier.
fn is_identifier(name: &str) -> bool {
    let is_part = |c: char| c == '_' || c.is_ascii_alphanumeric();
    name.chars().all(is_part)
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && !name.is_empty()
        && !is_reserved(name)
}

//! Validates the status of policies.

use std::collections::BTreeSet;

use gavel_apimachinery::field::{Error, Errors, Path};
use gavel_apimachinery::names;
use gavel_apimachinery::serializer::ApiValue;
use gavel_apimachinery::server::{Difference, Server};

use super::json_path;
use super::matching::{one_of, required};
use crate::api::{Condition, ValidatingAdmissionPolicyStatus};

/// The maximum length of a condition's reason, in bytes.
const LONGEST_REASON: usize = 1024;
/// The maximum length of a condition's message, in bytes.
const LONGEST_MESSAGE: usize = 32 * 1024;
const STATUSES: [&str; 3] = ["False", "True", "Unknown"];

/// Appends the errors of a status.
pub(super) fn validate(
    errors: &mut Errors,
    status: &ValidatingAdmissionPolicyStatus,
    path: &Path<'_>,
    server: Server,
) {
    if let Some(checking) = &status.type_checking {
        let path = path.child("typeChecking");
        let path = path.child("expressionWarnings");
        for (n, warning) in checking.expression_warnings.iter().enumerate() {
            let path = path.index(n);
            required(errors, !warning.warning.is_empty(), &path.child("warning"));
            let path = path.child("fieldRef");
            match warning.field_ref.trim() {
                "" => errors.push(Error::required(&path, "")),
                text => {
                    if let Err(error) = json_path::check(text) {
                        errors.push(Error::invalid(
                            &path,
                            text,
                            format!("invalid JSONPath: {error}"),
                        ));
                    }
                }
            }
        }
    }
    let path = path.child("conditions");
    let mut seen = BTreeSet::new();
    for (n, condition) in status.conditions.iter().enumerate() {
        let path = path.index(n);
        if !seen.insert(&condition.kind) {
            let kind = condition.kind.as_str();
            errors.push(match server.has(Difference::MetadataErrorsArePrecise) {
                true => Error::duplicate(&path, kind),
                false => Error::duplicate(&path.child("type"), kind),
            });
        }
        validate_condition(errors, condition, &path, server);
    }
}

/// Appends the errors of a condition (apimachinery `pkg/apis/meta/v1/validation`).
fn validate_condition(errors: &mut Errors, condition: &Condition, path: &Path<'_>, server: Server) {
    let Condition {
        kind,
        status,
        observed_generation,
        last_transition_time,
        reason,
        message,
    } = condition;
    let kind_path = path.child("type");
    let anew = server.has(Difference::MetadataErrorsArePrecise);
    match anew && kind.is_empty() {
        true => errors.push(Error::required(&kind_path, "is required")),
        false => {
            for fault in names::qualified_name(kind) {
                errors.push(Error::invalid(&kind_path, kind, fault));
            }
        }
    }
    let status_path = path.child("status");
    match anew && status.is_empty() {
        true => errors.push(Error::required(&status_path, "")),
        false => one_of(errors, status, &STATUSES, &status_path),
    }
    if *observed_generation < 0 {
        let detail = "must be greater than or equal to zero";
        errors.push(Error::invalid(
            &path.child("observedGeneration"),
            *observed_generation,
            detail,
        ));
    }
    required(
        errors,
        !last_transition_time.is_empty(),
        &path.child("lastTransitionTime"),
    );
    let reason_path = path.child("reason");
    required(errors, !reason.is_empty(), &reason_path);
    if !reason.is_empty() {
        if !is_reason(reason) {
            errors.push(Error::invalid(&reason_path, reason, REASON_RULE));
        }
        too_long(errors, reason, LONGEST_REASON, &reason_path);
    }
    too_long(errors, message, LONGEST_MESSAGE, &path.child("message"));
}

fn too_long(errors: &mut Errors, text: &str, most: usize, path: &Path<'_>) {
    if text.len() > most {
        errors.push(Error::too_long(
            path,
            i64::try_from(most).unwrap_or(i64::MAX),
        ));
    }
}

const REASON_RULE: &str = "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')";

/// Whether the text matches `[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?`.
fn is_reason(text: &str) -> bool {
    let is_end = |c: char| c == '_' || c.is_ascii_alphanumeric();
    let is_inner = |c: char| is_end(c) || matches!(c, ',' | ':');
    text.chars().all(is_inner)
        && text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.ends_with(is_end)
}

//! Converts the problems of an object to the Status that an API server returns (apimachinery `pkg/api/errors`).

use std::collections::BTreeSet;

use gavel_apimachinery::json;
use gavel_apimachinery::status::{Status, StatusCause, StatusDetails};
use gavel_check::custom::{self, Checked, Key};
use gavel_manifest::problem::rule;
use gavel_manifest::{Document, Problem};

/// The Status for a validated object, as one line of JSON.
pub(super) fn of(checked: &Checked, document: &Document, key: &Key<'_>) -> String {
    let name = custom::created_name(document.value());
    let status = match decoding_error(checked) {
        _ if checked.is_valid() => Status::success(),
        None => Status::failure(
            422,
            "Invalid",
            invalid_message(key, &name, &field_errors(checked)),
        ),
        Some(error) => Status::failure(400, "BadRequest", bad_request_message(key, &error)),
    };
    let status = Status {
        details: StatusDetails {
            name: name.into_owned(),
            group: key.group().to_owned(),
            kind: key.kind.to_owned(),
            causes: checked.problems.iter().map(cause).collect(),
            ..StatusDetails::default()
        },
        ..status
    };
    // Serializing cannot fail: all keys of maps are strings.
    let written = serde_json::to_value(status.into_object()).unwrap_or_default();
    json::to_string(&written)
}

/// Whether the problem is an error of a field, with which the API server answers 422. All other problems make a strict decoder reject the
/// whole object (400).
fn is_of_value(problem: &&Problem) -> bool {
    problem.rule.starts_with("FieldValue") || problem.rule == "InternalError"
}

fn field_errors(checked: &Checked) -> Vec<String> {
    let of_values = checked.problems.iter().filter(is_of_value);
    of_values.map(Problem::text).collect()
}

/// The error of a strict decoder that rejects the whole object: the error of a value of the wrong type, or all unknown and duplicate fields.
fn decoding_error(checked: &Checked) -> Option<String> {
    let problems = checked.problems.iter();
    let strict = problems.filter(|problem| !is_of_value(problem));
    match strict.clone().find(|problem| problem.rule == rule::OBJECT) {
        Some(problem) => Some(problem.text()),
        None => {
            let texts: Vec<String> = strict.map(Problem::text).collect();
            let is_rejected = !texts.is_empty();
            is_rejected.then(|| format!("strict decoding error: {}", texts.join(", ")))
        }
    }
}

fn cause(problem: &Problem) -> StatusCause {
    let (reason, field) = match problem.rule {
        rule::UNKNOWN_FIELD => ("FieldValueInvalid", &*problem.field),
        rule::DUPLICATE_KEY => ("FieldValueDuplicate", ""),
        rule::OBJECT => ("", ""),
        reason => (reason, &*problem.field),
    };
    StatusCause {
        reason,
        message: problem.message.to_string(),
        field: field.to_owned(),
    }
}

/// The message of the Status: the distinct errors, in brackets if there are several.
fn invalid_message(key: &Key<'_>, name: &str, errors: &[String]) -> String {
    let mut seen = BTreeSet::new();
    let errors: Vec<_> = errors.iter().filter(|error| seen.insert(*error)).collect();
    let errors = match errors.as_slice() {
        [error] => (*error).clone(),
        errors => {
            let errors: Vec<_> = errors.iter().map(|error| error.as_str()).collect();
            format!("[{}]", errors.join(", "))
        }
    };
    let kind = match key.group() {
        "" => key.kind.to_owned(),
        group => format!("{}.{group}", key.kind),
    };
    format!("{kind} \"{name}\" is invalid: {errors}")
}

fn bad_request_message(key: &Key<'_>, error: &str) -> String {
    let (kind, version) = (key.kind, key.version());
    format!("{kind} in version \"{version}\" cannot be handled as a {kind}: {error}")
}

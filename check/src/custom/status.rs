//! The Status that an API server returns for an invalid object (apimachinery `pkg/api/errors`).

use std::collections::BTreeSet;

use gavel_apimachinery::status::{Status, StatusCause, StatusDetails};
use gavel_engine::value::Json;
use gavel_manifest::Problem;
use gavel_manifest::problem::rule;

use super::checked::Checked;
use super::key::{Key, created_name};

impl Checked {
    /// The Status that an API server returns for the object or definition that was validated.
    pub fn status(&self, object: &Json, key: &Key<'_>) -> Status {
        let name = created_name(object);
        let status = match decoding_error(self) {
            _ if self.is_valid() => Status::success(),
            None => {
                let errors = joined(&field_errors(self));
                Status::failure(422, "Invalid", invalid_message(key, &name, &errors))
            }
            Some(error) => Status::failure(400, "BadRequest", bad_request_message(key, &error)),
        };
        Status {
            details: StatusDetails {
                name: name.into_owned(),
                group: key.group().to_owned(),
                kind: key.kind.to_owned(),
                causes: self.problems.iter().map(cause).collect(),
                ..StatusDetails::default()
            },
            ..status
        }
    }

    /// The message of [`Self::status`], once for each error: the message that the status would have if there were only this error.
    pub(crate) fn messages(&self, object: &Json, key: &Key<'_>) -> Vec<String> {
        match decoding_error(self) {
            Some(error) => vec![bad_request_message(key, &error)],
            None => {
                let name = created_name(object);
                let errors = field_errors(self).into_iter();
                errors
                    .map(|error| invalid_message(key, &name, &error))
                    .collect()
            }
        }
    }
}

/// Whether the problem is an error of a field, with which the API server answers 422. All other problems make a strict decoder reject the
/// whole object (400).
fn is_of_value(problem: &&Problem) -> bool {
    problem.rule.starts_with("FieldValue") || problem.rule == "InternalError"
}

/// The distinct errors of fields.
fn field_errors(checked: &Checked) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let of_values = checked.problems.iter().filter(is_of_value);
    let texts = of_values.map(Problem::text);
    texts.filter(|text| seen.insert(text.clone())).collect()
}

/// The error of a strict decoder that rejects the whole object: the error of a value of the wrong type, or all unknown and duplicate fields.
fn decoding_error(checked: &Checked) -> Option<String> {
    let problems = checked.problems.iter();
    let strict = problems.filter(|problem| !is_of_value(problem));
    let is_strict =
        |problem: &&Problem| matches!(problem.rule, rule::UNKNOWN_FIELD | rule::DUPLICATE_KEY);
    match strict.clone().find(|problem| !is_strict(problem)) {
        Some(problem) => Some(problem.message.to_string()),
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

/// The errors in one text, in brackets if there are several.
fn joined(errors: &[String]) -> String {
    match errors {
        [error] => error.clone(),
        errors => format!("[{}]", errors.join(", ")),
    }
}

fn invalid_message(key: &Key<'_>, name: &str, errors: &str) -> String {
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

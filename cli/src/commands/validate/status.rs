//! What was found as the Status with which an API server answers (apimachinery `pkg/api/errors`).

use std::collections::BTreeSet;

use gavel_apimachinery::json;
use gavel_engine::value::Json;
use gavel_manifest::Problem;
use gavel_manifest::problem::rule;
use serde_json::json;

use super::checked::Checked;
use super::key::Key;

/// One line of JSON.
pub(super) fn of(checked: &Checked, key: &Key<'_>) -> String {
    let mut details = json!({"name": key.name, "group": key.group(), "kind": key.kind});
    let mut status = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}});
    let (fields, strict) = (field_errors(checked), strict_messages(checked));
    if checked.is_valid() {
        put(&mut status, "status", "Success");
        put(&mut status, "code", 200);
    } else {
        put(&mut status, "status", "Failure");
        let causes = checked.problems.iter().map(cause);
        put(&mut details, "causes", causes.collect::<Json>());
        if strict.is_empty() {
            put(&mut status, "reason", "Invalid");
            put(&mut status, "code", 422);
            put(&mut status, "message", invalid_message(key, &fields));
        } else {
            put(&mut status, "reason", "BadRequest");
            put(&mut status, "code", 400);
            put(&mut status, "message", bad_request_message(key, &strict));
        }
    }
    put(&mut status, "details", details);
    json::to_string(&status)
}

fn put(object: &mut Json, key: &str, value: impl Into<Json>) {
    if let Json::Object(fields) = object {
        fields.insert(key.to_owned(), value.into());
    }
}

/// Whether a field has a wrong value; else the object cannot even be read, by a strict reader.
fn is_of_value(problem: &&Problem) -> bool {
    problem.rule.starts_with("FieldValue") || problem.rule == "InternalError"
}

fn field_errors(checked: &Checked) -> Vec<String> {
    let of_values = checked.problems.iter().filter(is_of_value);
    of_values.map(Problem::text).collect()
}

/// Why the object cannot even be read, by a strict reader.
fn strict_messages(checked: &Checked) -> Vec<String> {
    let strict = checked
        .problems
        .iter()
        .filter(|problem| !is_of_value(problem));
    strict.map(Problem::text).collect()
}

fn cause(problem: &Problem) -> Json {
    let message = &problem.message;
    match problem.rule {
        rule::UNKNOWN_FIELD => {
            json!({"reason": "FieldValueInvalid", "message": message, "field": *problem.field})
        }
        rule::DUPLICATE_KEY => json!({"reason": "FieldValueDuplicate", "message": message}),
        rule::OBJECT => json!({"message": message}),
        reason => json!({"reason": reason, "message": message, "field": *problem.field}),
    }
}

/// Every message once, several in brackets.
fn invalid_message(key: &Key<'_>, errors: &[String]) -> String {
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
    format!("{kind} \"{}\" is invalid: {errors}", key.name)
}

fn bad_request_message(key: &Key<'_>, strict: &[String]) -> String {
    let (kind, version) = (key.kind, key.version());
    format!(
        "{kind} in version \"{version}\" cannot be handled as a {kind}: strict decoding error: {}",
        strict.join(", ")
    )
}

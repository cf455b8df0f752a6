//! What was found as the Status with which an API server answers (apimachinery `pkg/api/errors`).

use std::collections::BTreeSet;

use gavel_apimachinery::json;
use gavel_engine::value::Json;
use serde_json::json;

use super::fault::{Checked, Fault};
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
        let causes = checked.faults.iter().map(cause);
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

fn field_errors(checked: &Checked) -> Vec<String> {
    let errors = checked.faults.iter().filter_map(|fault| match fault {
        Fault::Field(error) => Some(error.to_string()),
        _ => None,
    });
    errors.collect()
}

/// Why the object cannot even be read, by a strict reader.
fn strict_messages(checked: &Checked) -> Vec<String> {
    let faults = checked.faults.iter();
    let strict = faults.filter(|fault| !matches!(fault, Fault::Field(_)));
    strict.map(Fault::line).collect()
}

fn cause(fault: &Fault) -> Json {
    match fault {
        Fault::Field(error) => json!({
            "reason": error.kind.reason(),
            "message": error.body(),
            "field": error.field,
        }),
        Fault::Unknown(field) => {
            json!({"reason": "FieldValueInvalid", "message": fault.line(), "field": field})
        }
        Fault::Twice(_) => json!({"reason": "FieldValueDuplicate", "message": fault.line()}),
        Fault::Object(message) => json!({"message": message}),
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

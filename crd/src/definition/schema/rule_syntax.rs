//! Checks of rules that need no compilation.

use gavel_apimachinery::field::{BadValue, Error, Errors, Path};
use gavel_apimachinery::json;
use gavel_schema::{JsonSchema, ValidationRule};

use super::convertible::conversion_error;
use crate::rule::{Brackets, FieldPath};

const REASONS: [&str; 4] = [
    "FieldValueDuplicate",
    "FieldValueForbidden",
    "FieldValueInvalid",
    "FieldValueRequired",
];

/// Checks the rules of a node.
pub(super) fn check(schema: &JsonSchema, path: &Path<'_>, errors: &mut Errors) {
    let rules = path.child("x-kubernetes-validations");
    let names_fields = schema
        .validations
        .iter()
        .any(|rule| !rule.field_path.is_empty());
    // Upstream does not check field paths if the schema cannot be converted to a structural schema.
    let is_convertible = names_fields && conversion_error(schema).is_none();
    for (n, rule) in schema.validations.iter().enumerate() {
        let path = rules.index(n);
        check_texts(rule, &path, errors);
        if let Some(reason) = &rule.reason
            && !REASONS.contains(&reason.as_str())
        {
            let value = BadValue::Text(json::quoted(reason));
            let path = path.child("reason");
            errors.push(Error::not_supported(&path, value, &REASONS));
        }
        let fields = is_convertible.then_some(schema);
        check_field_path(&rule.field_path, fields, &path.child("fieldPath"), errors);
    }
}

fn check_texts(rule: &ValidationRule, path: &Path<'_>, errors: &mut Errors) {
    let (text, message) = (rule.rule.trim(), rule.message.trim());
    let message_path = path.child("message");
    if text.is_empty() {
        errors.push(Error::required(
            &path.child("rule"),
            "rule is not specified",
        ));
    } else if !rule.message.is_empty() && message.is_empty() {
        let detail = "must be non-empty if specified";
        errors.push(Error::invalid(&message_path, &rule.message, detail));
    } else if breaks_lines(message) {
        let detail = "must not contain line breaks";
        errors.push(Error::invalid(&message_path, &rule.message, detail));
    } else if breaks_lines(text) && message.is_empty() {
        let detail = "message must be specified if rule contains line breaks";
        errors.push(Error::required(&message_path, detail));
    }
    if !rule.message_expression.is_empty() && rule.message_expression.trim().is_empty() {
        let detail = "messageExpression must be non-empty if specified";
        errors.push(Error::required(&path.child("messageExpression"), detail));
    }
}

fn check_field_path(text: &str, schema: Option<&JsonSchema>, path: &Path<'_>, errors: &mut Errors) {
    if text.is_empty() {
        return;
    }
    let is_blank = text.trim().is_empty();
    let is_valid =
        schema.is_none_or(|schema| FieldPath::resolve(text, schema, Brackets::Allowed).is_ok());
    for (at_fault, detail) in [
        (is_blank, "must be non-empty if specified"),
        (breaks_lines(text), "must not contain line breaks"),
        (!is_valid, "must be a valid path"),
    ] {
        if at_fault {
            errors.push(Error::invalid(path, text, detail));
        }
    }
}

fn breaks_lines(text: &str) -> bool {
    text.contains(['\n', '\r'])
}

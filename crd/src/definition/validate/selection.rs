//! The validation of the fields that field selectors can name.

use std::collections::HashSet;

use gavel_apimachinery::field::{Error, Errors, Path};
use gavel_schema::JsonSchema;

use crate::definition::SelectableField;
use crate::definition::schema::MAX_SELECTABLE_FIELDS;
use crate::rule::{Brackets, FieldPath};

/// Checks the selectable fields of a schema. With `unlimited` there may be more than eight.
pub(super) fn check(
    fields: &[SelectableField],
    schema: &JsonSchema,
    unlimited: bool,
    path: &Path<'_>,
    errors: &mut Errors,
) {
    let mut known = HashSet::new();
    for (n, SelectableField { json_path: text }) in fields.iter().enumerate() {
        let path = path.index(n);
        let path = path.child("jsonPath");
        if text.is_empty() {
            errors.push(Error::required(&path, ""));
            continue;
        }
        let (field, schema) = match FieldPath::resolve(text, schema, Brackets::Refused) {
            Ok(found) => found,
            Err(error) => {
                let detail = format!("is an invalid path: {error}");
                errors.push(Error::invalid(&path, text, detail));
                continue;
            }
        };
        if field.starts_with("metadata") {
            let detail = "must not point to fields in metadata";
            errors.push(Error::invalid(&path, text, detail));
        }
        let is_selectable = schema
            .is_some_and(|schema| matches!(schema.kind.as_str(), "string" | "boolean" | "integer"));
        if !is_selectable {
            let detail = "must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.";
            errors.push(Error::invalid(&path, text, detail));
        }
        if !known.insert(field.to_string()) {
            errors.push(Error::duplicate(&path, text));
        }
    }
    if known.len() > MAX_SELECTABLE_FIELDS && !unlimited {
        let count = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
        errors.push(Error::too_many(
            path,
            count(known.len()),
            count(MAX_SELECTABLE_FIELDS),
        ));
    }
}

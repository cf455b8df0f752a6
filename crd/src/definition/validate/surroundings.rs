//! The validation of subresources, columns, and deprecation warnings.

use gavel_apimachinery::field::{BadValue, Error, Errors, Path};
use gavel_apimachinery::json;
use gavel_golang::quote::is_print;

use crate::definition::{PrinterColumn, Scale, Subresources, Version};

const COLUMN_TYPES: &str = "must be one of boolean,date,integer,number,string";
const COLUMN_FORMATS: [&str; 8] = [
    "byte",
    "date",
    "date-time",
    "double",
    "float",
    "int32",
    "int64",
    "password",
];
/// The length limit of a deprecation warning, in bytes.
const MAX_WARNING: usize = 256;

/// Checks the deprecation warning of a version.
pub(super) fn check_deprecation(version: &Version, path: &Path<'_>, errors: &mut Errors) {
    let Some(warning) = &version.deprecation_warning else {
        return;
    };
    let path = path.child("deprecationWarning");
    // Upstream prints the warning as JSON, because the field is optional.
    let mut report = |detail: String| {
        let value = BadValue::Text(json::quoted(warning));
        errors.push(Error::invalid(&path, value, detail));
    };
    if !version.deprecated {
        return report("can only be set for deprecated versions".to_owned());
    }
    if warning.len() > MAX_WARNING {
        report("must be <= 256 characters long".to_owned());
    }
    if warning.is_empty() {
        report("must not be an empty string".to_owned());
    }
    let unprintable = warning.char_indices().find(|(_, c)| !is_print(*c));
    if let Some((at, _)) = unprintable {
        report(format!(
            "must only contain printable UTF-8 characters; non-printable character found at index {at}"
        ));
    }
}

/// Checks the subresources.
pub(super) fn check_subresources(
    subresources: Option<&Subresources>,
    path: &Path<'_>,
    errors: &mut Errors,
) {
    let Some(scale) = subresources.and_then(|subresources| subresources.scale.as_ref()) else {
        return;
    };
    let Scale {
        spec_replicas_path,
        status_replicas_path,
        label_selector_path,
    } = scale;
    for (name, text, root) in [
        ("scale.specReplicasPath", spec_replicas_path, ".spec"),
        ("scale.statusReplicasPath", status_replicas_path, ".status"),
    ] {
        let path = path.child(name);
        match text.as_str() {
            "" => errors.push(Error::required(&path, "")),
            text if !check_json_path(text, &path, errors) => {}
            text if !is_below(text, root) => {
                let detail = format!("should be a json path under {root}");
                errors.push(Error::invalid(&path, text, detail));
            }
            _ => {}
        }
    }
    let path = path.child("scale.labelSelectorPath");
    if let Some(text) = label_selector_path
        .as_deref()
        .filter(|text| !text.is_empty())
        && check_json_path(text, &path, errors)
        && !is_below(text, ".spec")
        && !is_below(text, ".status")
    {
        let detail = "should be a json path under either .spec or .status";
        let value = BadValue::Text(json::quoted(text));
        errors.push(Error::invalid(&path, value, detail));
    }
}

/// Checks the additional printer columns.
pub(super) fn check_columns(columns: &[PrinterColumn], path: &Path<'_>, errors: &mut Errors) {
    let columns_path = path.child("additionalPrinterColumns");
    for (n, column) in columns.iter().enumerate() {
        let path = columns_path.index(n);
        if column.name.is_empty() {
            errors.push(Error::required(&path.child("name"), ""));
        }
        match column.kind.as_str() {
            "" => errors.push(Error::required(&path.child("type"), COLUMN_TYPES)),
            "integer" | "number" | "string" | "boolean" | "date" => {}
            other => errors.push(Error::invalid(&path.child("type"), other, COLUMN_TYPES)),
        }
        if !column.format.is_empty() && !COLUMN_FORMATS.contains(&column.format.as_str()) {
            let detail = format!("must be one of {}", COLUMN_FORMATS.join(","));
            errors.push(Error::invalid(
                &path.child("format"),
                &column.format,
                detail,
            ));
        }
        let json_path = path.child("JSONPath");
        match column.json_path.as_str() {
            "" => errors.push(Error::required(&json_path, "")),
            text => {
                check_json_path(text, &json_path, errors);
            }
        }
    }
}

/// Checks that a JSON path is simple, that is, begins with a dot. Returns whether the path is simple.
fn check_json_path(text: &str, path: &Path<'_>, errors: &mut Errors) -> bool {
    let is_simple = text.starts_with('.');
    if !is_simple {
        let detail = "must be a simple json path starting with .";
        errors.push(Error::invalid(path, text, detail));
    }
    is_simple
}

fn is_below(text: &str, root: &str) -> bool {
    text.strip_prefix(root)
        .is_some_and(|rest| rest.starts_with('.'))
}

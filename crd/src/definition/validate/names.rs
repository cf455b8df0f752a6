//! The validation of a resource's names.

use gavel_apimachinery::field::{Error, Errors, Path};
use gavel_apimachinery::names::{dns1035_label, lower_case};

use crate::definition::Names;

/// Checks the names that are present; [`check_required`] checks that none is missing.
pub(super) fn check(names: &Names, path: &Path<'_>, errors: &mut Errors) {
    let mut check = |path: &Path<'_>, name: &str| {
        if !name.is_empty() {
            check_name(path, name, errors);
        }
    };
    check(&path.child("plural"), &names.plural);
    check(&path.child("singular"), &names.singular);
    check_kind(&path.child("kind"), &names.kind, errors);
    check_kind(&path.child("listKind"), &names.list_kind, errors);
    let short_names = path.child("shortNames");
    for (n, name) in names.short_names.iter().enumerate() {
        check_name(&short_names.index(n), name, errors);
    }
    if !names.kind.is_empty() && names.kind == names.list_kind {
        let detail = "kind and listKind may not be the same";
        errors.push(Error::invalid(
            &path.child("listKind"),
            &names.list_kind,
            detail,
        ));
    }
    let categories = path.child("categories");
    for (n, category) in names.categories.iter().enumerate() {
        check_name(&categories.index(n), category, errors);
    }
}

/// Checks that required names are present.
pub(super) fn check_required(names: &Names, path: &Path<'_>, errors: &mut Errors) {
    for (field, name) in [
        ("plural", &names.plural),
        ("singular", &names.singular),
        ("kind", &names.kind),
        ("listKind", &names.list_kind),
    ] {
        if name.is_empty() {
            errors.push(Error::required(&path.child(field), ""));
        }
    }
}

/// Checks that a name is a DNS label (RFC 1035).
pub(super) fn check_name(path: &Path<'_>, name: &str, errors: &mut Errors) {
    let faults = dns1035_label(name.as_bytes());
    if !faults.is_empty() {
        errors.push(Error::invalid(path, name, faults.join(",")));
    }
}

fn check_kind(path: &Path<'_>, kind: &str, errors: &mut Errors) {
    let faults = dns1035_label(lower_case(kind).as_bytes());
    if !kind.is_empty() && !faults.is_empty() {
        let faults = faults.join(",");
        let detail = format!("may have mixed case, but should otherwise match: {faults}");
        errors.push(Error::invalid(path, kind, detail));
    }
}

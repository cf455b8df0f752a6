//! The validation of a definition's `spec`.

use std::collections::HashSet;

use gavel_apimachinery::field::{BadValue, Error, Errors, Path};
use gavel_apimachinery::json;
use gavel_apimachinery::names::dns1123_subdomain;

use super::{conversion, names, selection, surroundings};
use crate::definition::options::Options;
use crate::definition::schema::{self, KeptRules, SchemaCheck};
use crate::definition::shared::Shared;
use crate::definition::walk::any_schema;
use crate::definition::{Definition, Spec, Validation, Version, go_json};
use crate::rule::RuleEnvs;

const SCOPES: [&str; 2] = ["Cluster", "Namespaced"];

/// Checks a `spec`.
pub(super) fn check(
    definition: &Definition,
    options: &Options<'_>,
    (envs, kept): (&RuleEnvs, Option<&KeptRules>),
    path: &Path<'_>,
    errors: &mut Errors,
) {
    let spec = &definition.spec;
    let shared = definition.shared();
    check_group(&spec.group, &path.child("group"), errors);
    let scope_path = path.child("scope");
    if spec.scope.is_empty() {
        errors.push(Error::required(&scope_path, ""));
    } else if !SCOPES.contains(&spec.scope.as_str()) {
        errors.push(Error::not_supported(&scope_path, &spec.scope, &SCOPES));
    }
    check_schemas_exist(spec, &shared, options, path, errors);
    let has_defaults = has_schema(spec, &|schema| schema.default_value().is_some());
    if has_defaults && spec.preserve_unknown_fields {
        let detail = "must be false in order to use defaults in the schema";
        errors.push(Error::invalid(
            &path.child("preserveUnknownFields"),
            true,
            detail,
        ));
    }
    let checks = SchemaCheck {
        options,
        envs,
        require_structural: options.require_structural
            || !spec.preserve_unknown_fields
            || has_defaults
            || has_schema(spec, &has_extensions),
        has_status: false,
        is_unchanged: false,
        kept,
    };
    check_versions(spec, &shared, checks, path, errors);
    let names_path = path.child("names");
    names::check_required(&spec.names, &names_path, errors);
    names::check(&spec.names, &names_path, errors);
    check_shared(spec, &shared, checks, path, errors);
    let conversion_path = path.child("conversion");
    if spec.preserve_unknown_fields
        && let Some(conversion) = &spec.conversion
        && conversion.strategy != "None"
    {
        let detail = "must be None if spec.preserveUnknownFields is true";
        errors.push(Error::invalid(
            &conversion_path.child("strategy"),
            BadValue::Text(json::quoted(&conversion.strategy)),
            detail,
        ));
    }
    conversion::check(
        spec.conversion.as_ref(),
        options.require_known_review,
        &conversion_path,
        errors,
    );
}

/// Checks that immutable fields did not change.
pub(super) fn check_immutable(
    spec: &Spec,
    old: &Spec,
    options: &Options<'_>,
    path: &Path<'_>,
    errors: &mut Errors,
) {
    let mut check = |path: &Path<'_>, is_same: bool, new: BadValue| {
        if !is_same {
            errors.push(Error::invalid(path, new, "field is immutable"));
        }
    };
    let names_path = path.child("names");
    let (names, old_names) = (&spec.names, &old.names);
    if options.immutable_names {
        let scope = BadValue::Text(json::quoted(&spec.scope));
        check(&path.child("scope"), spec.scope == old.scope, scope);
        let is_same = names.kind == old_names.kind;
        check(&names_path.child("kind"), is_same, (&names.kind).into());
    }
    let is_same = spec.group == old.group;
    check(&path.child("group"), is_same, (&spec.group).into());
    let is_same = names.plural == old_names.plural;
    check(&names_path.child("plural"), is_same, (&names.plural).into());
}

fn check_group(group: &str, path: &Path<'_>, errors: &mut Errors) {
    if group.is_empty() {
        errors.push(Error::required(path, ""));
        return;
    }
    let faults = dns1123_subdomain(group.as_bytes());
    if !faults.is_empty() {
        errors.push(Error::invalid(path, group, faults.join(",")));
    } else if !group.contains('.') {
        let detail = "should be a domain with at least one dot";
        errors.push(Error::invalid(path, group, detail));
    }
}

/// Checks that each version has a schema if it needs one.
fn check_schemas_exist(
    spec: &Spec,
    shared: &Shared<'_>,
    options: &Options<'_>,
    path: &Path<'_>,
    errors: &mut Errors,
) {
    if shared.validation.common.is_some_and(has_root) {
        return;
    }
    let versions = path.child("versions");
    for (n, version) in spec.versions.iter().enumerate() {
        let own = shared.validation.own(version.schema.as_ref());
        let detail = match options.require_schema {
            true => "",
            false if spec.preserve_unknown_fields || !version.served => continue,
            false => "because otherwise all fields are pruned",
        };
        if !own.is_some_and(has_root) {
            let path = versions.index(n);
            let path = path.child("schema");
            errors.push(Error::required(&path.child("openAPIV3Schema"), detail));
        }
    }
}

fn has_root(validation: &Validation) -> bool {
    validation.schema.is_some()
}

fn has_schema(spec: &Spec, holds: &dyn Fn(&gavel_schema::JsonSchema) -> bool) -> bool {
    let validations = spec
        .versions
        .iter()
        .filter_map(|version| version.schema.as_ref());
    let mut schemas = validations.filter_map(|validation| validation.schema.as_deref());
    schemas.any(|schema| any_schema(schema, holds))
}

fn has_extensions(schema: &gavel_schema::JsonSchema) -> bool {
    schema.embedded_resource
        || schema.preserve_unknown_fields.is_some()
        || schema.int_or_string
        || !schema.topology.list_map_keys.is_empty()
        || schema.topology.list_type.is_some()
        || !schema.validations.is_empty()
}

fn check_versions(
    spec: &Spec,
    shared: &Shared<'_>,
    checks: SchemaCheck<'_>,
    path: &Path<'_>,
    errors: &mut Errors,
) {
    let versions_path = path.child("versions");
    let mut known = HashSet::new();
    for (n, version) in spec.versions.iter().enumerate() {
        known.insert(version.name.as_str());
        let path = versions_path.index(n);
        names::check_name(&path.child("name"), &version.name, errors);
        // Upstream looks up subresources by the name of the version, and the first version with this name wins.
        let named = spec
            .versions
            .iter()
            .find(|known| known.name == version.name);
        let subresources = named.and_then(|version| version.subresources.as_ref());
        let checks = SchemaCheck {
            has_status: subresources.is_some_and(|subresources| subresources.status),
            is_unchanged: checks.options.is_unchanged(&version.name),
            ..checks
        };
        check_version(version, shared, checks, &path, errors);
    }
    let all = || BadValue::Text(go_json::versions(&spec.versions, shared));
    if known.len() < spec.versions.len() {
        let detail = "must contain unique version names";
        errors.push(Error::invalid(&versions_path, all(), detail));
    }
    if spec
        .versions
        .iter()
        .filter(|version| version.storage)
        .count()
        != 1
    {
        let detail = "must have exactly one version marked as storage version";
        errors.push(Error::invalid(&versions_path, all(), detail));
    }
    // The API server copies the name of the first version to `spec.version` and validates the copy too.
    if let Some(first) = spec.versions.first().filter(|first| !first.name.is_empty()) {
        names::check_name(&path.child("version"), &first.name, errors);
    }
}

/// Checks the parts of a version that can differ between versions.
fn check_version(
    version: &Version,
    shared: &Shared<'_>,
    checks: SchemaCheck<'_>,
    path: &Path<'_>,
    errors: &mut Errors,
) {
    surroundings::check_deprecation(version, path, errors);
    let validation = shared.validation.own(version.schema.as_ref());
    checks.run(validation, &path.child("schema"), errors);
    let subresources = shared.subresources.own(version.subresources.as_ref());
    surroundings::check_subresources(subresources, &path.child("subresources"), errors);
    let columns = shared.columns.own(&version.additional_printer_columns);
    surroundings::check_columns(columns, path, errors);
    let fields = shared.selectable_fields.own(&version.selectable_fields);
    if fields.is_empty() {
        return;
    }
    let fields_path = path.child("selectableFields");
    let Some(schema) = validation.and_then(|validation| validation.schema.as_deref()) else {
        let detail = "may only be set when `version.schema.openAPIV3Schema` is not included";
        errors.push(Error::invalid(&fields_path, "", detail));
        return;
    };
    check_convertible(schema, path, errors);
    let unlimited = checks.options.may_select_more(Some(&version.name));
    selection::check(fields, schema, unlimited, &fields_path, errors);
}

/// Checks the parts that all versions share.
fn check_shared(
    spec: &Spec,
    shared: &Shared<'_>,
    checks: SchemaCheck<'_>,
    path: &Path<'_>,
    errors: &mut Errors,
) {
    let first = spec.versions.first().map(|version| version.name.as_str());
    let subresources = spec
        .versions
        .iter()
        .filter_map(|version| version.subresources.as_ref());
    let checks = SchemaCheck {
        has_status: subresources
            .into_iter()
            .any(|subresources| subresources.status),
        is_unchanged: first.is_some_and(|first| checks.options.is_unchanged(first)),
        ..checks
    };
    let validation = shared.validation.common;
    checks.run(validation, &path.child("validation"), errors);
    let subresources = shared.subresources.common;
    surroundings::check_subresources(subresources, &path.child("subresources"), errors);
    surroundings::check_columns(shared.columns.common, path, errors);
    let fields = shared.selectable_fields.common;
    if fields.is_empty() {
        return;
    }
    let fields_path = path.child("selectableFields");
    let Some(validation) = validation else {
        let detail = "may only be set when validations.schema is included";
        errors.push(Error::invalid(&fields_path, "", detail));
        return;
    };
    // Upstream crashes if the validation has no schema.
    let Some(schema) = validation.schema.as_deref() else {
        return;
    };
    check_convertible(schema, path, errors);
    let unlimited = checks.options.may_select_more(None);
    selection::check(fields, schema, unlimited, &fields_path, errors);
}

fn check_convertible(schema: &gavel_schema::JsonSchema, path: &Path<'_>, errors: &mut Errors) {
    if let Some(error) = schema::conversion_error(schema) {
        let path = path.child("schema.openAPIV3Schema");
        errors.push(Error::invalid(&path, "", error));
    }
}

//! The validation of an object's metadata (apimachinery `pkg/api/validation/objectmeta.go`, `pkg/apis/meta/v1/validation`).

use std::collections::BTreeSet;

use gavel_golang::quote::{is_print, quote};
use gavel_golang::time::OffsetTime;
use serde_json::Value as Json;

use super::decode::utc;
use super::{GroupVersion, ManagedFieldsView, MetadataView, OwnerView};
use crate::field::{BadValue, Error, ErrorType, Errors, Path};
use crate::json;
use crate::names::{self, Faults};
use crate::server::{Difference, Server};

/// The maximum total size of the keys and values of all annotations, in bytes.
const MAX_ANNOTATIONS: usize = 256 * 1024;
const MAX_MANAGER: usize = 128;
const MAX_SUBRESOURCE: usize = 256;

/// The valid values of `operation` in `managedFields`.
const OPERATIONS: [&str; 2] = ["Apply", "Update"];

/// The finalizer of an object whose dependents are not deleted with it.
pub const ORPHAN: &str = "orphan";
/// The finalizer of an object that is deleted after its dependents.
pub const FOREGROUND: &str = "foregroundDeletion";

/// Validates the metadata of a created object, or of an object that is embedded in another object. `namespaced` says whether the object
/// belongs to a namespace; `name_rule` is the rule for its name (such as [`names::subdomain_name`]).
///
/// ```
/// use gavel_apimachinery::field::Path;
/// use gavel_apimachinery::meta::{self, MetadataView};
/// use gavel_apimachinery::names;
/// use gavel_apimachinery::server::Server;
///
/// let metadata = serde_json::json!({"name": "a", "generation": -1});
/// let path = Path::new("metadata");
/// let server = Server::default();
/// let errors = meta::validate(MetadataView::new(&metadata), true, names::subdomain_name, &path, server);
/// let errors: Vec<_> = errors.iter().map(ToString::to_string).collect();
/// assert_eq!(errors, [
///     "metadata.namespace: Required value",
///     "metadata.generation: Invalid value: -1: must be greater than or equal to 0",
/// ]);
/// ```
pub fn validate(
    metadata: MetadataView<'_>,
    namespaced: bool,
    name_rule: impl Fn(&str, bool) -> Faults,
    path: &Path<'_>,
    server: Server,
) -> Vec<Error> {
    let name = metadata.name();
    validate_named(metadata, name, namespaced, name_rule, path, server)
}

/// Like [`validate`], but validates `name`, which the server generated, instead of the name in the metadata.
pub fn validate_named(
    metadata: MetadataView<'_>,
    name: &str,
    namespaced: bool,
    name_rule: impl Fn(&str, bool) -> Faults,
    path: &Path<'_>,
    server: Server,
) -> Vec<Error> {
    let mut errors = Errors::default();
    let prefix = metadata.generate_name();
    if !prefix.is_empty() {
        let faults = name_rule(prefix, true);
        report(&mut errors, &path.child("generateName"), prefix, faults);
    }
    let name_path = path.child("name");
    match name {
        "" => errors.push(Error::required(
            &name_path,
            "name or generateName is required",
        )),
        name => report(&mut errors, &name_path, name, name_rule(name, false)),
    }
    let namespace_path = path.child("namespace");
    match (namespaced, metadata.namespace()) {
        (true, "") => errors.push(Error::required(&namespace_path, "")),
        (true, namespace) => {
            let faults = names::dns1123_label(namespace.as_bytes());
            report(&mut errors, &namespace_path, namespace, faults);
        }
        (false, "") => {}
        (false, _) => errors.push(Error::forbidden(
            &namespace_path,
            "not allowed on this type",
        )),
    }
    validate_generation(&mut errors, metadata, path);
    validate_common(errors, metadata, path, true, server)
}

/// Validates the metadata of an updated object.
pub fn validate_update(
    metadata: MetadataView<'_>,
    old: MetadataView<'_>,
    path: &Path<'_>,
    server: Server,
) -> Vec<Error> {
    let mut errors = Errors::default();
    if old.deletion_timestamp().is_some() {
        let mut added = metadata.finalizers();
        let known = old.finalizers();
        added.retain(|finalizer| !known.contains(finalizer));
        added.sort_unstable();
        added.dedup();
        if !added.is_empty() {
            let added: Vec<_> = added.iter().map(quote).collect();
            errors.push(Error::forbidden(
                &path.child("finalizers"),
                format!(
                    "no new finalizers can be added if the object is being deleted, found new finalizers []string{{{}}}",
                    added.join(", ")
                ),
            ));
        }
    }
    if metadata.resource_version().is_empty() {
        let path = path.child("resourceVersion");
        errors.push(Error::invalid(&path, "", "must be specified for an update"));
    }
    if server.has(Difference::MetadataErrorsArePrecise) {
        validate_generation(&mut errors, metadata, path);
    }
    let generation = metadata.generation();
    if generation < old.generation() {
        errors.push(Error::invalid(
            &path.child("generation"),
            generation,
            "must not be decremented",
        ));
    }
    let mut immutable = |name: &str, is_same: bool, value: BadValue| {
        if !is_same {
            let path = path.child(name);
            errors.push(Error::invalid(&path, value, "field is immutable"));
        }
    };
    let (new, before) = (metadata.name(), old.name());
    immutable("name", new == before, new.into());
    let (new, before) = (metadata.namespace(), old.namespace());
    immutable("namespace", new == before, new.into());
    let (new, before) = (metadata.uid(), old.uid());
    immutable("uid", new == before, BadValue::Text(json::quoted(new)));
    let (new, before) = (metadata.creation_timestamp(), old.creation_timestamp());
    immutable("creationTimestamp", is_same(new, before), time_value(new));
    let (new, before) = (metadata.deletion_timestamp(), old.deletion_timestamp());
    immutable("deletionTimestamp", is_same(new, before), time_value(new));
    let (new, before) = (
        metadata.deletion_grace_period_seconds(),
        old.deletion_grace_period_seconds(),
    );
    let value = new.map_or_else(nothing, BadValue::from);
    immutable("deletionGracePeriodSeconds", new == before, value);
    validate_common(errors, metadata, path, false, server)
}

/// Validates the metadata of an update as an API server does for every kind, before it validates the update as its kind demands (apiserver
/// `pkg/registry/rest/update.go`). `namespaced` says whether the object belongs to a namespace.
///
/// ```
/// use gavel_apimachinery::field::Path;
/// use gavel_apimachinery::meta::{self, MetadataView};
/// use gavel_apimachinery::server::Server;
///
/// let old = serde_json::json!({"name": "a", "resourceVersion": "1"});
/// let new = serde_json::json!({"name": "a", "resourceVersion": "1", "finalizers": ["orphan", "foregroundDeletion"]});
/// let (new, old, path) = (MetadataView::new(&new), MetadataView::new(&old), Path::new("metadata"));
/// let errors = meta::validate_any_update(new, old, false, &path, Server::default());
/// assert_eq!(errors[0].detail, "finalizer orphan and foregroundDeletion cannot be both set");
/// ```
pub fn validate_any_update(
    metadata: MetadataView<'_>,
    old: MetadataView<'_>,
    namespaced: bool,
    path: &Path<'_>,
    server: Server,
) -> Vec<Error> {
    let mut errors = validate(metadata, namespaced, names::path_segment, path, server);
    errors.extend(validate_update(metadata, old, path, server));
    errors
}

/// Removes duplicate errors if the server has [`Difference::MetadataErrorsArePrecise`]. This applies to the metadata of custom resources and
/// definitions.
pub fn without_repetitions(mut errors: Vec<Error>, server: Server) -> Vec<Error> {
    if server.has(Difference::MetadataErrorsArePrecise) {
        let mut seen = BTreeSet::new();
        errors.retain(|error| seen.insert(error.to_string()));
    }
    errors
}

/// Validates an object's `apiVersion` and `kind` (apiextensions-apiserver `pkg/registry/customresource/validator.go`).
pub fn validate_type(object: &Json, expected: GroupVersion<'_>, kind: &str) -> Vec<Error> {
    let mut errors = Vec::new();
    let text = |name: &str| object.get(name).and_then(Json::as_str).unwrap_or_default();
    let found = text("kind");
    if found != kind {
        let detail = format!("must be {kind}");
        errors.push(Error::invalid(&Path::new("kind"), found, detail));
    }
    let (found, GroupVersion { group, version }) = (text("apiVersion"), expected);
    let rest = found.strip_prefix(group);
    if rest.and_then(|rest| rest.strip_prefix('/')) != Some(version) {
        let detail = format!("must be {group}/{version}");
        errors.push(Error::invalid(&Path::new("apiVersion"), found, detail));
    }
    errors
}

fn is_same(time: Option<OffsetTime>, other: Option<OffsetTime>) -> bool {
    let instant = |time: OffsetTime| (time.unix_seconds, time.nanos);
    time.map(instant) == other.map(instant)
}

fn time_value(time: Option<OffsetTime>) -> BadValue {
    match time {
        Some(time) => BadValue::Text(json::quoted(&utc(time))),
        None => nothing(),
    }
}

/// The value of a field that is not set. Messages print it as `null`, as in Go.
fn nothing() -> BadValue {
    BadValue::Text("null".to_owned())
}

/// Validates the fields that have the same rules at creation and at update. If `finalizers` is true, validates the finalizers too, as at
/// creation. Returns the errors with those of the other fields.
fn validate_common(
    mut errors: Errors,
    metadata: MetadataView<'_>,
    path: &Path<'_>,
    finalizers: bool,
    server: Server,
) -> Vec<Error> {
    validate_labels(&mut errors, metadata.labels(), &path.child("labels"));
    validate_annotations(
        &mut errors,
        metadata.annotations(),
        &path.child("annotations"),
    );
    let owners = metadata.owner_references();
    validate_owner_references(&mut errors, &owners, &path.child("ownerReferences"), server);
    if finalizers {
        validate_finalizers(
            &mut errors,
            &metadata.finalizers(),
            &path.child("finalizers"),
        );
    }
    let path = path.child("managedFields");
    for (n, entry) in metadata.managed_fields().into_iter().enumerate() {
        if errors.is_full() {
            break;
        }
        validate_managed_fields(&mut errors, entry, &path.index(n), server);
    }
    let mut errors = errors.into_vec();
    names::reword(&mut errors, server);
    errors
}

fn validate_generation(errors: &mut Errors, metadata: MetadataView<'_>, path: &Path<'_>) {
    let generation = metadata.generation();
    if generation < 0 {
        errors.push(Error::invalid(
            &path.child("generation"),
            generation,
            "must be greater than or equal to 0",
        ));
    }
}

/// Validates labels and appends their errors.
pub(crate) fn validate_labels<'a>(
    errors: &mut Errors,
    labels: impl Iterator<Item = (&'a str, &'a str)>,
    path: &Path<'_>,
) {
    for (key, value) in labels {
        report(errors, path, key, names::qualified_name(key));
        report(errors, path, value, names::label_value(value));
    }
}

/// Validates annotations and appends their errors.
fn validate_annotations<'a>(
    errors: &mut Errors,
    annotations: impl Iterator<Item = (&'a str, &'a str)>,
    path: &Path<'_>,
) {
    let mut size = 0usize;
    for (key, value) in annotations {
        let faults = names::qualified_name(&names::lower_case(key));
        report(errors, path, key, faults);
        size = size.saturating_add(key.len()).saturating_add(value.len());
    }
    if size > MAX_ANNOTATIONS {
        errors.push(too_long(path, MAX_ANNOTATIONS));
    }
}

fn validate_owner_references(
    errors: &mut Errors,
    owners: &[OwnerView<'_>],
    path: &Path<'_>,
    server: Server,
) {
    let mut controller: Option<String> = None;
    for (n, owner) in owners.iter().enumerate() {
        if errors.is_full() {
            return;
        }
        match server.has(Difference::MetadataErrorsArePrecise) {
            true => validate_owner_reference(errors, *owner, &path.index(n)),
            false => validate_owner_reference_as_before(errors, *owner, path),
        }
        if owner.controller() != Some(true) {
            continue;
        }
        let name = format!("{}/{}", owner.kind(), owner.name());
        match &controller {
            None => controller = Some(name),
            Some(first) => {
                let owners: Vec<_> = owners.iter().map(|owner| owner_text(*owner)).collect();
                errors.push(Error::invalid(
                    path,
                    BadValue::Text(format!("[{}]", owners.join(","))),
                    format!(
                        "Only one reference can have Controller set to true. Found \"true\" in references for {first} and {name}"
                    ),
                ));
            }
        }
    }
}

fn validate_owner_reference(errors: &mut Errors, owner: OwnerView<'_>, path: &Path<'_>) {
    let api_version = owner.api_version();
    let parsed = GroupVersion::parse(api_version).ok();
    if !api_version.is_empty() && parsed.is_none_or(|parsed| parsed.version.is_empty()) {
        errors.push(Error::invalid(
            &path.child("apiVersion"),
            api_version,
            "must be <group>/<version> or <version>",
        ));
    }
    for (name, value) in [
        ("apiVersion", api_version),
        ("kind", owner.kind()),
        ("name", owner.name()),
        ("uid", owner.uid()),
    ] {
        if value.is_empty() {
            errors.push(Error::required(&path.child(name), "must not be empty"));
        }
    }
    validate_kind_of_owner(errors, owner, path);
}

/// Validates an owner reference as servers did before [`Difference::MetadataErrorsArePrecise`].
fn validate_owner_reference_as_before(errors: &mut Errors, owner: OwnerView<'_>, path: &Path<'_>) {
    let GroupVersion { version, .. } = GroupVersion::parse(owner.api_version()).unwrap_or_default();
    let mut required = |name: &str, part: &str, value: &str, detail: &str| {
        if part.is_empty() {
            errors.push(Error::invalid(&path.child(name), value, detail));
        }
    };
    let api_version = owner.api_version();
    required(
        "apiVersion",
        version,
        api_version,
        "version must not be empty",
    );
    for (name, value) in [
        ("kind", owner.kind()),
        ("name", owner.name()),
        ("uid", owner.uid()),
    ] {
        required(name, value, value, "must not be empty");
    }
    validate_kind_of_owner(errors, owner, path);
}

/// Appends an error if the owner is an Event: Events cannot own objects.
fn validate_kind_of_owner(errors: &mut Errors, owner: OwnerView<'_>, path: &Path<'_>) {
    let GroupVersion { group, version } =
        GroupVersion::parse(owner.api_version()).unwrap_or_default();
    if (group, version, owner.kind()) == ("", "v1", "Event") {
        errors.push(Error::invalid(
            path,
            BadValue::Text(owner_text(owner)),
            "/v1, Kind=Event is disallowed from being an owner",
        ));
    }
}

/// The owner reference as JSON, with the fields in the order of their declaration in Go.
fn owner_text(owner: OwnerView<'_>) -> String {
    let mut text = format!(
        r#"{{"apiVersion":{},"kind":{},"name":{},"uid":{}"#,
        json::quoted(owner.api_version()),
        json::quoted(owner.kind()),
        json::quoted(owner.name()),
        json::quoted(owner.uid()),
    );
    for (name, value) in [
        ("controller", owner.controller()),
        ("blockOwnerDeletion", owner.block_owner_deletion()),
    ] {
        if let Some(value) = value {
            text.push_str(&format!(",\"{name}\":{value}"));
        }
    }
    text.push('}');
    text
}

fn validate_finalizers(errors: &mut Errors, finalizers: &[&str], path: &Path<'_>) {
    for finalizer in finalizers {
        report(errors, path, finalizer, names::qualified_name(finalizer));
    }
    if finalizers.contains(&ORPHAN) && finalizers.contains(&FOREGROUND) {
        errors.push(Error::invalid(
            path,
            Json::from(finalizers),
            format!("finalizer {ORPHAN} and {FOREGROUND} cannot be both set"),
        ));
    }
}

fn validate_managed_fields(
    errors: &mut Errors,
    entry: ManagedFieldsView<'_>,
    path: &Path<'_>,
    server: Server,
) {
    let operation = entry.operation();
    if !OPERATIONS.contains(&operation) {
        let path = path.child("operation");
        let value = BadValue::Text(json::quoted(operation));
        errors.push(match server.has(Difference::MetadataErrorsArePrecise) {
            false => Error::invalid(&path, value, "must be `Apply` or `Update`"),
            true if operation.is_empty() => Error::required(&path, "must not be empty"),
            true => Error::not_supported(&path, value, &OPERATIONS),
        });
    }
    let fields_type = entry.fields_type();
    if !matches!(fields_type, "" | "FieldsV1") {
        errors.push(Error::invalid(
            &path.child("fieldsType"),
            fields_type,
            "must be `FieldsV1`",
        ));
    }
    let (manager, manager_path) = (entry.manager(), path.child("manager"));
    if manager.len() > MAX_MANAGER {
        errors.push(too_long(&manager_path, MAX_MANAGER));
    }
    let unprintable = manager.char_indices().filter(|(_, c)| !is_print(*c));
    errors.extend(unprintable.map(|(position, c)| {
        let code = u32::from(c);
        let detail = format!("invalid character U+{code:04X} (at position {position})");
        Error::invalid(&manager_path, manager, detail)
    }));
    if entry.subresource().len() > MAX_SUBRESOURCE {
        errors.push(too_long(&path.child("subresource"), MAX_SUBRESOURCE));
    }
}

fn too_long(path: &Path<'_>, most: usize) -> Error {
    Error::too_long(path, i64::try_from(most).unwrap_or(i64::MAX))
}

fn report(errors: &mut Errors, path: &Path<'_>, value: &str, faults: Faults) {
    errors.extend(
        faults
            .into_iter()
            .map(|fault| Error::new(ErrorType::Invalid, path, value, fault)),
    );
}

#[cfg(test)]
mod tests;

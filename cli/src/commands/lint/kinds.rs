//! The kinds that policies are about.

use std::path::Path;

use gavel_crd::definition::Definition;
use gavel_engine::value::Json;
use gavel_golang::quote::quote;
use gavel_manifest::Document;
use gavel_policy::GroupVersionKind;
use gavel_policy::typecheck::TypeChecker;
use gavel_schema::openapi;

use crate::input;
use crate::manifests::is_definition;

/// What a schema of an OpenAPI document, or a path of it, is about.
const KIND: &str = "x-kubernetes-group-version-kind";

/// Makes the kinds of a definition known. Other objects are passed over.
pub(super) fn define(document: &Document, types: &mut TypeChecker) -> Result<(), String> {
    if !is_definition(document) {
        return Ok(());
    }
    let definition = Definition::read(document.value()).map_err(|error| error.to_string())?;
    if let Some(twice) = document.duplicate_keys().first() {
        return Err(twice.text());
    }
    if let Some(field) = Definition::unknown_fields(document.value()).first() {
        return Err(format!("unknown field {}", quote(field)));
    }
    let spec = &definition.spec;
    for version in spec.versions.iter().filter(|version| version.served) {
        let kind = GroupVersionKind {
            group: spec.group.as_str().into(),
            version: version.name.as_str().into(),
            kind: spec.names.kind.as_str().into(),
        };
        types.add_custom_kind(kind.clone(), definition.schema(&version.name));
        types.add_resource(spec.names.plural.clone(), kind);
    }
    Ok(())
}

/// Makes the kinds of an OpenAPI document known whose objects are resources of it.
pub(super) fn read(path: &Path, types: &mut TypeChecker) -> Result<(), String> {
    let document = input::document(path).map_err(|error| error.to_string())?;
    let problem = |message: &str| format!("{}: {message}", path.display());
    let schemas = document.pointer("/components/schemas");
    let schemas = schemas.and_then(Json::as_object);
    let schemas = schemas
        .ok_or_else(|| problem("must be an OpenAPI v3 document, with components.schemas"))?;
    let paths = document.get("paths").and_then(Json::as_object);
    let mut resources: Vec<(&str, GroupVersionKind)> = Vec::new();
    for (path, operations) in paths.into_iter().flatten() {
        let (_, name) = path.rsplit_once('/').unwrap_or_default();
        let kind = operations.pointer(&format!("/get/{KIND}"));
        // Subresources follow the name of an object.
        let is_resource = !name.is_empty() && !path.contains("{name}");
        if let Some(kind) = kind.filter(|_| is_resource) {
            resources.push((name, GroupVersionKind::read(kind.into())));
        }
    }
    for schema in schemas.values() {
        // What belongs to several kinds is none of them, such as the options of requests.
        let Some([kind]) = schema.get(KIND).and_then(Json::as_array).map(Vec::as_slice) else {
            continue;
        };
        let kind = GroupVersionKind::read(kind.into());
        let names = resources.iter().filter(|(_, known)| *known == kind);
        let names: Vec<_> = names.map(|(name, _)| (*name).to_owned()).collect();
        if names.is_empty() {
            continue;
        }
        let schema = openapi::resolve(schema, &|name| schemas.get(name));
        types.add_kind(
            kind.clone(),
            &schema.map_err(|error| problem(&error.to_string()))?,
        );
        for name in names {
            types.add_resource(name, kind.clone());
        }
    }
    Ok(())
}

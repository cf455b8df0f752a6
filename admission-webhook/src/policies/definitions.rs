//! The definitions of custom resources, and what they say of objects.

use std::collections::HashMap;

use gavel_apimachinery::field::Error;
use gavel_crd::CompiledCrd;
use gavel_crd::definition::Definition;
use gavel_crd::resource::{DecodeOptions, ValidateOptions};
use gavel_engine::value::Value;
use gavel_policy::AdmissionRequest;
use serde_json::Value as Json;

/// Definitions by group and plural name.
#[derive(Debug, Default)]
pub(crate) struct Definitions(HashMap<(String, String), Compiled>);

#[derive(Debug)]
struct Compiled {
    crd: CompiledCrd,
    kind: String,
}

/// What a definition says of an object.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    /// The kind with its group, as messages name it: `Thing.example.com`.
    pub(crate) kind: String,
    /// What is wrong.
    pub(crate) errors: Vec<Error>,
    /// What was wrong before already.
    pub(crate) warnings: Vec<String>,
    /// Why the object cannot even be read.
    pub(crate) unreadable: Option<String>,
}

impl Definitions {
    /// Takes a definition in.
    ///
    /// # Errors
    ///
    /// A schema that cannot be compiled.
    pub(super) fn insert(&mut self, definition: &Definition) -> Result<(), String> {
        let crd = CompiledCrd::compile(definition).map_err(|error| error.to_string())?;
        let names = &definition.spec.names;
        let key = (definition.spec.group.clone(), names.plural.clone());
        let kind = format!("{}.{}", names.kind, definition.spec.group);
        self.0.insert(key, Compiled { crd, kind });
        Ok(())
    }

    /// What is said of the object that a request writes; nothing of resources that are not defined here, of subresources
    /// that are other kinds, and of operations that write nothing.
    pub(crate) fn validate(
        &self,
        request: &AdmissionRequest<'_>,
        interrupt: &(dyn Fn() -> bool + Sync),
    ) -> Findings {
        let key = (
            request.resource.group.to_string(),
            request.resource.resource.to_string(),
        );
        let writes = matches!(request.operation, "CREATE" | "UPDATE");
        let (true, "" | "status") = (writes, request.subresource) else {
            return Findings::default();
        };
        let Some(Compiled { crd, kind }) = self.0.get(&key) else {
            return Findings::default();
        };
        let kind = kind.clone();
        let found = read(crd, request.object).and_then(|object| {
            let old = match request.old_object.is_null() {
                true => None,
                false => Some(read(crd, request.old_object)?),
            };
            let options = ValidateOptions {
                status: request.subresource == "status",
                interrupt: Some(interrupt),
                ..ValidateOptions::default()
            };
            crd.validate_with(version(&object), &object, old.as_ref(), &options)
                .map_err(|error| error.to_string())
        });
        match found {
            Ok(outcome) => Findings {
                kind,
                errors: outcome.errors().cloned().collect(),
                warnings: outcome.warnings,
                unreadable: None,
            },
            Err(error) => Findings {
                kind,
                unreadable: Some(error),
                ..Findings::default()
            },
        }
    }
}

/// An object as an API server holds it.
fn read(crd: &CompiledCrd, object: Value<'_>) -> Result<Json, String> {
    let too_large = || "the object is too large to be read".to_owned();
    let object = object.to_json().ok_or_else(too_large)?;
    let decoded = crd.decode(object, DecodeOptions::default());
    decoded
        .map(|decoded| decoded.object)
        .map_err(|error| error.to_string())
}

/// The version that an object says it is of. The API server has converted it where a webhook asks for another.
fn version(object: &Json) -> &str {
    let api_version = object.get("apiVersion").and_then(Json::as_str);
    let (_, version) = api_version
        .and_then(|api_version| api_version.split_once('/'))
        .unwrap_or_default();
    version
}

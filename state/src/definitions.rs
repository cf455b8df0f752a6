//! CustomResourceDefinitions, and the validation of custom resources.

use std::collections::HashMap;
use std::sync::Arc;

use gavel_apimachinery::field::Error;
use gavel_apimachinery::status::Status;
use gavel_crd::CompiledCrd;
use gavel_crd::definition::{Definition, Spec};
use gavel_crd::resource::{COST_BUDGET, DecodeOptions, ValidateOptions};
use gavel_engine::value::Value;
use gavel_libraries::Server;
use gavel_policy::AdmissionRequest;
use serde_json::Value as Json;

/// CustomResourceDefinitions by group and plural name.
#[derive(Debug, Default, Clone)]
pub struct Definitions(HashMap<(String, String), Arc<Compiled>>);

/// A CustomResourceDefinition with compiled schemas and rules.
#[derive(Debug)]
pub(crate) struct Compiled {
    definition: Definition,
    crd: CompiledCrd,
    /// The kind with its group, as messages print it: `Thing.example.com`.
    kind: String,
}

impl Compiled {
    /// Compiles a CustomResourceDefinition for an API server.
    ///
    /// # Errors
    ///
    /// A schema cannot be compiled.
    pub(crate) fn new(definition: Definition, server: Server) -> Result<Self, String> {
        let crd = CompiledCrd::compile_for(&definition, server);
        let crd = crd.map_err(|error| error.to_string())?;
        let kind = format!("{}.{}", definition.spec.names.kind, definition.spec.group);
        Ok(Compiled {
            definition,
            crd,
            kind,
        })
    }

    pub(crate) fn definition(&self) -> &Definition {
        &self.definition
    }
}

/// The result of validating an object that a request writes.
#[derive(Debug, Default)]
pub struct Findings {
    /// The kind with its group, as messages print it: `Thing.example.com`.
    pub kind: String,
    /// The errors for which the object is rejected.
    pub errors: Vec<Error>,
    /// Warnings for the client, such as errors of rules that the old object had too.
    pub warnings: Vec<String>,
    /// The cost of the validation rules, in cost units.
    pub cost: u64,
    /// The status with which an object that cannot be read is rejected.
    pub unreadable: Option<Box<Status>>,
}

impl Definitions {
    /// Inserts a definition or replaces the one with the same name.
    pub(crate) fn insert(&mut self, definition: Arc<Compiled>) {
        let spec = &definition.definition.spec;
        let key = (spec.group.clone(), spec.names.plural.clone());
        self.0.insert(key, definition);
    }

    /// Whether a kind is served in the version of this `apiVersion`; `None` if no definition has the kind.
    pub(crate) fn serves(&self, api_version: &str, kind: &str) -> Option<bool> {
        let (group, version) = api_version.split_once('/')?;
        let spec = self.of_kind(group, kind)?;
        Some(serves(spec, version))
    }

    /// Whether objects of a kind can be converted from one `apiVersion` to the other without a webhook.
    pub(crate) fn converts(&self, kind: &str, from: &str, to: &str) -> bool {
        let (Some((group, from)), Some((of_group, to))) =
            (from.split_once('/'), to.split_once('/'))
        else {
            return false;
        };
        let spec = self.of_kind(group, kind).filter(|_| group == of_group);
        spec.is_some_and(|spec| {
            let conversion = spec.conversion.as_ref();
            conversion.is_none_or(|conversion| conversion.strategy == "None")
                && serves(spec, from)
                && serves(spec, to)
        })
    }

    fn of_kind(&self, group: &str, kind: &str) -> Option<&Spec> {
        let mut specs = self.0.values().map(|compiled| &compiled.definition.spec);
        specs.find(|spec| spec.group == group && spec.names.kind == kind)
    }

    /// Validates the custom resource that a request creates or updates.
    ///
    /// The findings are empty for other operations, for resources without a definition, and for subresources other than `status`.
    pub fn validate(
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
        let Some(compiled) = self.0.get(&key) else {
            return Findings::default();
        };
        let Compiled { crd, kind, .. } = &**compiled;
        let kind = kind.clone();
        let is_status = request.subresource == "status";
        let read = |object, is_old| read(crd, object, is_old, interrupt);
        let found = read(request.object, false).and_then(|mut object| {
            let old = match request.old_object.is_null() {
                true => None,
                false => Some(read(request.old_object, true)?),
            };
            let options = ValidateOptions {
                status: is_status,
                interrupt: Some(interrupt),
                ..ValidateOptions::default()
            };
            let version = version(&object).to_owned();
            // Removes defaults from fields that the request does not write.
            crd.prepare(&version, &mut object, old.as_ref(), is_status)
                .and_then(|()| crd.validate_with(&version, &object, old.as_ref(), &options))
                .map_err(|error| undecodable(error.to_string()))
        });
        match found {
            Ok(outcome) => Findings {
                kind,
                errors: outcome.errors().cloned().collect(),
                cost: cost(outcome.remaining_budget),
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

fn serves(spec: &Spec, version: &str) -> bool {
    let mut versions = spec.versions.iter();
    versions.any(|known| known.name == version && known.served)
}

/// The used part of the rules' budget, in cost units. If a rule exceeded a limit, the whole budget counts as used.
fn cost(remaining: i64) -> u64 {
    let left = remaining.max(0);
    COST_BUDGET.saturating_sub(left).unsigned_abs()
}

/// Decodes a custom resource as an API server does, unless the interrupt says that there is no time left. An API server sets the defaults of
/// old objects before it converts them from the storage version.
fn read(
    crd: &CompiledCrd,
    object: Value<'_>,
    is_old: bool,
    interrupt: &(dyn Fn() -> bool + Sync),
) -> Result<Json, Box<Status>> {
    let too_large = || undecodable("the object is too large to be read");
    let in_time = || match interrupt() {
        true => Err(Box::new(Status::timeout(
            "there is no time to read the object",
        ))),
        false => Ok(()),
    };
    in_time()?;
    let object = object.to_json().ok_or_else(too_large)?;
    in_time()?;
    let options = DecodeOptions {
        default: !is_old || crd.storage_version() == Some(version(&object)),
        ..DecodeOptions::default()
    };
    let decoded = crd.decode(object, options);
    decoded
        .map(|decoded| decoded.object)
        .map_err(|error| undecodable(error.to_string()))
}

/// The status for an object that cannot be decoded.
pub(crate) fn undecodable(error: impl Into<String>) -> Box<Status> {
    Box::new(Status::failure(400, "BadRequest", error))
}

/// The version in the object's `apiVersion`. It may differ from the version that the client sent, because the API server converts objects
/// to the version that a webhook matches.
fn version(object: &Json) -> &str {
    let api_version = object.get("apiVersion").and_then(Json::as_str);
    let (_, version) = api_version
        .and_then(|api_version| api_version.split_once('/'))
        .unwrap_or_default();
    version
}

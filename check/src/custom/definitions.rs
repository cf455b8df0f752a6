//! The CustomResourceDefinitions by which objects are validated.

use std::collections::HashMap;
use std::path::Path;

use gavel_crd::CompiledCrd;
use gavel_crd::definition::Definition;
use gavel_crd::rule::RuleEnvs;
use gavel_engine::value::Json;
use gavel_libraries::Server;
use gavel_manifest::Document;
use gavel_manifest::problem::rule;
use gavel_policy::api::FieldValidation;

use super::checked::{Checked, field_problem};
use super::key::Key;
use super::rules::schema_path;
use crate::role::Role;

/// The compiled CustomResourceDefinitions by which objects are validated.
#[derive(Debug, Default)]
pub struct KnownDefinitions {
    compiled: Vec<KnownDefinition>,
    /// The group and kind of each definition that cannot be compiled.
    refused: Vec<(String, String)>,
    /// The file and position of each definition, by name.
    places: HashMap<String, String>,
}

/// A compiled CustomResourceDefinition.
#[derive(Debug)]
pub struct KnownDefinition {
    /// `metadata.name`
    pub name: String,
    pub(super) crd: CompiledCrd,
    /// The versions that an API server serves.
    pub(super) served: Vec<ServedVersion>,
}

/// A version that an API server serves.
#[derive(Debug)]
pub(super) struct ServedVersion {
    pub(super) name: String,
    /// The path of the version's schema in the definition.
    pub(super) schema: String,
    /// Whether the status is a subresource.
    pub(super) has_status: bool,
    /// The warning for clients that use the version, if it is deprecated.
    pub(super) deprecation: Option<String>,
}

impl KnownDefinition {
    /// Whether the version is served and has the subresource `status`.
    pub(crate) fn has_status(&self, version: &str) -> bool {
        let mut served = self.served.iter();
        served.any(|known| known.name == version && known.has_status)
    }
}

impl KnownDefinitions {
    /// Adds a CustomResourceDefinition, and reports why an API server would reject it. A second definition with the same name is also a
    /// problem, and is not added. Objects of other kinds are ignored. `strictness` is how unknown and duplicate fields are treated.
    ///
    /// # Errors
    ///
    /// The definition cannot be compiled although validation found no problem.
    pub fn add(
        &mut self,
        document: &Document,
        server: Server,
        strictness: FieldValidation,
    ) -> Result<Checked, String> {
        let mut checked = Checked::default();
        if Role::of(document.value()) != Role::Definition {
            return Ok(checked);
        }
        // An API server also compiles new rules for the previous Kubernetes version, and rejects rules that this version does not support.
        let envs = RuleEnvs::new(server.compatible()).map_err(|error| error.to_string())?;
        let definition = match Definition::read(document.value()) {
            Ok(definition) => definition.without_namespace(),
            Err(error) => {
                let problem = document.problem(rule::OBJECT, &error.field, error.message);
                checked.problems.push(problem.of_field(""));
                let spec = |pointer| document.value().pointer(pointer).and_then(Json::as_str);
                if let (Some(group), Some(kind)) = (spec("/spec/group"), spec("/spec/names/kind")) {
                    self.refused.push((group.to_owned(), kind.to_owned()));
                }
                return Ok(checked);
            }
        };
        let name = definition.metadata.get("name").and_then(Json::as_str);
        let name = name.unwrap_or_default();
        let first = self.places.get(name).filter(|_| !name.is_empty());
        if let Some(first) = first {
            let message =
                format!("CustomResourceDefinition {name:?} is defined at {first} already");
            let problem = document.problem(rule::OBJECT, "metadata.name", message);
            checked.problems.push(problem.of_field(""));
        }
        let twice = document.duplicate_keys().iter().cloned();
        let unknown = Definition::unknown_fields(document.value());
        let unknown = unknown.iter().map(|field| document.unknown_field(field));
        checked.add_strict(twice.chain(unknown), strictness);
        let errors = definition.validate(&envs);
        let errors = errors.iter().map(|error| field_problem(document, error));
        checked.problems.extend(errors);
        if first.is_some() {
            return Ok(checked);
        }
        let file = document.file().unwrap_or(Path::new("-")).display();
        let place = format!("{file}:{}", document.place_of("metadata.name"));
        self.places.insert(name.to_owned(), place);
        match CompiledCrd::compile_for(&definition, server) {
            Ok(crd) => {
                let versions = &definition.spec.versions;
                let served = versions.iter().filter(|version| version.served);
                let served = served.map(|version| ServedVersion {
                    name: version.name.clone(),
                    schema: schema_path(versions, version),
                    has_status: (version.subresources.as_ref()).is_some_and(|each| each.status),
                    deprecation: definition.deprecation_warning(&version.name),
                });
                self.compiled.push(KnownDefinition {
                    name: name.to_owned(),
                    crd,
                    served: served.collect(),
                });
            }
            // If validation found problems, one of them already reports this error with its position.
            Err(error) if checked.is_valid() => return Err(error.to_string()),
            Err(_) => {
                let spec = definition.spec;
                self.refused.push((spec.group, spec.names.kind));
            }
        }
        Ok(checked)
    }

    /// Whether there are no definitions.
    pub fn is_empty(&self) -> bool {
        self.compiled.is_empty() && self.refused.is_empty()
    }

    /// The definition of the kind that `key` names; `None` if there is none.
    pub fn find(&self, key: &Key<'_>) -> Option<&KnownDefinition> {
        let mut known = self.compiled.iter();
        known.find(|known| known.crd.group() == key.group() && known.crd.kind() == key.kind)
    }

    /// Whether the definition of the kind that `key` names was added but cannot be used.
    pub fn is_refused(&self, key: &Key<'_>) -> bool {
        let mut refused = self.refused.iter();
        refused.any(|(group, kind)| group == key.group() && kind == key.kind)
    }
}

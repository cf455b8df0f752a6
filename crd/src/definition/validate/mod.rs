//! The validation of whole definitions (apiextensions-apiserver `pkg/apis/apiextensions/validation`).

use std::collections::BTreeMap;

use gavel_apimachinery::field::{BadValue, Error, Errors, Path};
use gavel_apimachinery::meta::{self, MetadataView};
use gavel_apimachinery::names::{Faults, subdomain_name};
use gavel_engine::value::Json;

use super::report::SchemaReport;
use super::schema::KeptRules;
use super::{CustomResourceDefinitionStatus, Definition, Version};
use crate::definition::options::Options;
use crate::rule::{Age, RuleEnvs};

mod approval;
mod conversion;
mod names;
mod selection;
mod spec;
mod surroundings;
mod update;

impl Definition {
    /// The errors when the definition is created; empty if an API server accepts it. The status is ignored.
    ///
    /// Errors are in the API server's order unless its order is random.
    #[must_use = "the definition may be invalid"]
    pub fn validate(&self, envs: &RuleEnvs) -> Vec<Error> {
        create(self, &self.created_status(), envs, None)
    }

    /// The errors when the definition is created, as [`Definition::validate`] returns them, and the outcomes of its rules, as
    /// [`Definition::rules`] returns them. Each rule is compiled once.
    pub fn validate_with_rules(&self, envs: &RuleEnvs) -> (Vec<Error>, Vec<SchemaReport<'_>>) {
        let kept = KeptRules::default();
        let errors = create(self, &self.created_status(), envs, Some(&kept));
        (errors, self.rules_of(envs, Age::New, &kept))
    }

    /// The errors when the definition replaces `old`. The definition may keep properties of `old` that a new definition cannot have. The
    /// status is taken from `old`.
    #[must_use = "the definition may be invalid"]
    pub fn validate_update(&self, old: &Definition, envs: &RuleEnvs) -> Vec<Error> {
        let status = old.status.clone().storing(&self.spec);
        update(self, &status, old, envs)
    }
}

/// The errors of a new definition with this status.
fn create(
    definition: &Definition,
    status: &CustomResourceDefinitionStatus,
    envs: &RuleEnvs,
    kept: Option<&KeptRules>,
) -> Vec<Error> {
    let names = &definition.spec.names;
    let required = format!("{}.{}", names.plural, definition.spec.group);
    let name_rule = |name: &str, is_prefix: bool| -> Faults {
        let mut faults = subdomain_name(name, is_prefix);
        if name != required {
            faults.push("must be spec.names.plural+\".\"+spec.group".to_owned());
        }
        faults
    };
    let metadata = MetadataView::new(&definition.metadata);
    let mut errors = Errors::default();
    let (path, server) = (Path::new("metadata"), envs.server());
    let found = meta::validate(metadata, false, name_rule, &path, server);
    errors.extend(meta::without_repetitions(found, server));
    let spec = &Path::new("spec");
    spec::check(
        definition,
        &Options::create(),
        (envs, kept),
        spec,
        &mut errors,
    );
    check_status(definition, status, &mut errors);
    errors.extend(approval::check(definition, None));
    if definition.spec.preserve_unknown_fields {
        errors.push(preserves_unknown_fields(spec));
    }
    errors.into_vec()
}

/// The errors of a definition with this status that replaces another.
fn update(
    definition: &Definition,
    status: &CustomResourceDefinitionStatus,
    old: &Definition,
    envs: &RuleEnvs,
) -> Vec<Error> {
    let server = envs.server();
    let options = Options::update(definition, old, server);
    let (metadata, before) = (&definition.metadata, &old.metadata);
    let (metadata, before) = (MetadataView::new(metadata), MetadataView::new(before));
    let mut errors = Errors::default();
    let path = Path::new("metadata");
    let found = meta::validate_update(metadata, before, &path, server);
    errors.extend(meta::without_repetitions(found, server));
    let spec = &Path::new("spec");
    spec::check(definition, &options, (envs, None), spec, &mut errors);
    spec::check_immutable(&definition.spec, &old.spec, &options, spec, &mut errors);
    check_status(definition, status, &mut errors);
    errors.extend(approval::check(definition, Some(old)));
    if definition.spec.preserve_unknown_fields && !old.spec.preserve_unknown_fields {
        errors.push(preserves_unknown_fields(spec));
    }
    errors.into_vec()
}

fn preserves_unknown_fields(spec: &Path<'_>) -> Error {
    let detail = "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead";
    Error::invalid(&spec.child("preserveUnknownFields"), true, detail)
}

fn check_status(
    definition: &Definition,
    status: &CustomResourceDefinitionStatus,
    errors: &mut Errors,
) {
    let path = Path::new("status");
    let CustomResourceDefinitionStatus {
        accepted_names,
        stored_versions,
        ..
    } = status;
    names::check(accepted_names, &path.child("acceptedNames"), errors);
    let path = path.child("storedVersions");
    check_stored_versions(stored_versions, &definition.spec.versions, &path, errors);
}

fn check_stored_versions(
    stored: &[String],
    versions: &[Version],
    path: &Path<'_>,
    errors: &mut Errors,
) {
    if stored.is_empty() {
        let nothing = BadValue::Text("null".to_owned());
        let detail = "must have at least one stored version";
        errors.push(Error::invalid(path, nothing, detail));
        return;
    }
    let mut missing: BTreeMap<&str, usize> = BTreeMap::new();
    missing.extend(
        stored
            .iter()
            .enumerate()
            .map(|(n, name)| (name.as_str(), n)),
    );
    for version in versions {
        // Each stored version counts for one version only. If several versions have the same name, this is the first one, as in upstream.
        if missing.remove(version.name.as_str()).is_none() && version.storage {
            let all: Json = stored.iter().map(String::as_str).collect();
            let detail = format!("must have the storage version {}", version.name);
            errors.push(Error::invalid(path, all, detail));
        }
    }
    for (name, n) in missing {
        let detail = format!(
            "missing from spec.versions; {name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in {name} and removes {name} from status.storedVersions"
        );
        errors.push(Error::invalid(&path.index(n), name, detail));
    }
}

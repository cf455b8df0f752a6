//! Validates policies, bindings and webhook configurations that are created or updated (kubernetes
//! `pkg/apis/admissionregistration/validation`, `pkg/registry/admissionregistration`; apiserver `pkg/registry/rest`). Permissions, such as
//! the user's permission to read the params, are not checked.

mod binding;
mod checks;
mod client;
mod expressions;
mod json_path;
mod matching;
mod policy;
mod status;
mod webhook;

use gavel_apimachinery::field::{self, Error, Errors, Path};
use gavel_apimachinery::meta::{self, MetadataView};
use gavel_apimachinery::names::{self, NameRule};
use gavel_apimachinery::server::{Difference, Server};
use gavel_engine::program::Interrupt;
use gavel_engine::types::TypeTextError;
use gavel_engine::value::Json;
use gavel_golang::quote::quote;
use gavel_libraries::EnvSet;

use crate::api::{
    self, GROUP, ObjectMeta, Registration, Resource, ValidatingAdmissionPolicy,
    ValidatingAdmissionPolicyBinding,
};
use expressions::{Compilers, Interruptible};

/// Validates objects as an API server does.
#[derive(Debug, Clone)]
pub struct Validator {
    server: Server,
    compilers: Compilers,
    /// Whether objects are validated as a running API server does: more than the validation functions do.
    is_running: bool,
    /// Whether reserved names cause a warning instead of an error.
    accepts_static: bool,
}

/// The result of validating an object.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// The errors, in the API server's order. An error can be repeated for the same field.
    pub errors: Vec<Error>,
    /// The warnings for the client; empty if there are errors.
    pub warnings: Vec<String>,
    kind: &'static str,
    name: String,
}

/// The suffix of reserved names. Only objects that an API server loads from manifest files may have such names.
const STATIC_SUFFIX: &str = ".static.k8s.io";

impl Validator {
    /// A validator for the objects of this API server. An API server validates new expressions with the features of the previous version;
    /// to do the same, pass [`Server::compatible`].
    ///
    /// # Errors
    ///
    /// An environment cannot be built.
    pub fn new(server: Server) -> Result<Self, TypeTextError> {
        let environments = EnvSet::new(server)?;
        Ok(Validator {
            server,
            compilers: Compilers::new(&environments),
            is_running: false,
            accepts_static: false,
        })
    }

    /// The validator with the errors of a running API server, which removes `metadata.namespace` before it validates an object, and validates
    /// some fields declaratively after all others ([`Difference::BindingsAreValidatedDeclaratively`]). Without this, the errors are those of
    /// the API server's validation functions.
    #[must_use]
    pub fn of_a_running_server(self) -> Self {
        Validator {
            is_running: true,
            ..self
        }
    }

    /// The validator with a warning instead of an error for names that end with `.static.k8s.io`. An API server refuses such names, because
    /// it reads objects with these names from manifest files.
    #[must_use]
    pub fn accepting_static_names(self) -> Self {
        Validator {
            accepts_static: true,
            ..self
        }
    }

    /// Validates an object to create. If its name must be generated, the name is assumed to end in `22222`. After an interrupt, the report
    /// has an error for each expression that was not compiled.
    pub fn create(&self, object: &Resource, interrupt: Interrupt<'_>) -> Report {
        match object {
            Resource::ValidatingAdmissionPolicy(object) => self.create_one(&**object, interrupt),
            Resource::ValidatingAdmissionPolicyBinding(object) => {
                self.create_one(&**object, interrupt)
            }
            Resource::MutatingAdmissionPolicy(object) => self.create_one(&**object, interrupt),
            Resource::MutatingAdmissionPolicyBinding(object) => {
                self.create_one(&**object, interrupt)
            }
            Resource::ValidatingWebhookConfiguration(object) => {
                self.create_one(&**object, interrupt)
            }
            Resource::MutatingWebhookConfiguration(object) => self.create_one(&**object, interrupt),
        }
    }

    /// Validates an object that replaces an old one, like [`create`](Self::create). Returns `None` if the two objects have different kinds.
    pub fn update(
        &self,
        object: &Resource,
        old: &Resource,
        interrupt: Interrupt<'_>,
    ) -> Option<Report> {
        Some(match (object, old) {
            (
                Resource::ValidatingAdmissionPolicy(object),
                Resource::ValidatingAdmissionPolicy(old),
            ) => self.update_one(&**object, &**old, interrupt),
            (
                Resource::ValidatingAdmissionPolicyBinding(object),
                Resource::ValidatingAdmissionPolicyBinding(old),
            ) => self.update_one(&**object, &**old, interrupt),
            (Resource::MutatingAdmissionPolicy(object), Resource::MutatingAdmissionPolicy(old)) => {
                self.update_one(&**object, &**old, interrupt)
            }
            (
                Resource::MutatingAdmissionPolicyBinding(object),
                Resource::MutatingAdmissionPolicyBinding(old),
            ) => self.update_one(&**object, &**old, interrupt),
            (
                Resource::ValidatingWebhookConfiguration(object),
                Resource::ValidatingWebhookConfiguration(old),
            ) => self.update_one(&**object, &**old, interrupt),
            (
                Resource::MutatingWebhookConfiguration(object),
                Resource::MutatingWebhookConfiguration(old),
            ) => self.update_one(&**object, &**old, interrupt),
            _ => return None,
        })
    }

    /// Validates an update of a policy's status.
    pub fn update_status(
        &self,
        object: &ValidatingAdmissionPolicy,
        old: &ValidatingAdmissionPolicy,
    ) -> Report {
        let mut metadata = object.metadata.clone();
        let before = old.metadata.clone();
        metadata.deletion_timestamp = before.deletion_timestamp;
        metadata.labels = before.labels;
        metadata.annotations = before.annotations;
        metadata.finalizers = before.finalizers;
        metadata.owner_references = before.owner_references;
        let mut errors = Errors::from_iter(update_metadata(&metadata, &old.metadata, self.server));
        let path = Path::new("status");
        status::validate(&mut errors, &object.status, &path, self.server);
        self.report(object, errors, metadata.name)
    }

    fn create_one<T: Validated>(&self, object: &T, interrupt: Interrupt<'_>) -> Report {
        let mut metadata = self.stored_metadata(object);
        metadata.generation = 1;
        if metadata.name.is_empty() && !metadata.generate_name.is_empty() {
            metadata.name = names::generated_name(&metadata.generate_name);
        }
        let errors = validate_metadata(&metadata, names::subdomain_name, self.server);
        let mut errors = Errors::from_iter(errors);
        object.validate(&mut errors, &metadata.name, None, self.compiling(interrupt));
        if self.server.has(Difference::StaticNamesAreRefused) && !self.accepts_static {
            let fault = reserved_name_fault(&metadata.name);
            let path = Path::new("metadata");
            let path = path.child("name");
            errors.extend(fault.map(|fault| Error::invalid(&path, &metadata.name, fault)));
        }
        if errors.is_empty() {
            errors.extend(validate_metadata(
                &metadata,
                names::path_segment,
                self.server,
            ));
        }
        self.report(object, errors, metadata.name)
    }

    fn update_one<T: Validated>(&self, object: &T, old: &T, interrupt: Interrupt<'_>) -> Report {
        let mut metadata = self.stored_metadata(object);
        let errors = update_metadata(&metadata, &self.stored_metadata(old), self.server);
        let mut errors = Errors::from_iter(errors);
        metadata.generation = 1;
        errors.extend(validate_metadata(
            &metadata,
            names::subdomain_name,
            self.server,
        ));
        let compilers = self.compiling(interrupt);
        object.validate(&mut errors, &metadata.name, Some(old), compilers);
        self.report(object, errors, metadata.name)
    }

    /// The metadata that is validated and stored. No kind that is validated here has namespaces.
    fn stored_metadata<T: Registration>(&self, object: &T) -> ObjectMeta {
        let mut metadata = object.metadata().clone();
        if self.is_running {
            metadata.namespace.clear();
        }
        metadata
    }

    fn report<T: Validated>(&self, object: &T, errors: Errors, name: String) -> Report {
        let mut errors = errors.into_vec();
        names::reword(&mut errors, self.server);
        let of_bindings = self
            .server
            .has(Difference::BindingsAreValidatedDeclaratively);
        if self.is_running && of_bindings && T::KIND == ValidatingAdmissionPolicyBinding::KIND {
            binding::validate_declaratively(&mut errors);
        }
        let mut warnings = Vec::new();
        let warns_of_names =
            self.accepts_static || self.server.has(Difference::StaticNamesAreWarnedOf);
        if errors.is_empty() && warns_of_names {
            let fault = reserved_name_fault(&name);
            warnings.extend(fault.map(|fault| format!("metadata.name: {fault}")));
        }
        if errors.is_empty() && self.server.has(Difference::ReviewsCallNoWebhooks) {
            warnings.extend(object.warnings());
        }
        Report {
            errors,
            warnings,
            kind: T::KIND,
            name,
        }
    }

    fn compiling<'v>(&'v self, interrupt: Interrupt<'v>) -> Interruptible<'v> {
        Interruptible {
            compilers: &self.compilers,
            interrupt,
        }
    }
}

impl Report {
    /// The message with which the API server rejects the object; `None` if there are no errors.
    pub fn message(&self) -> Option<String> {
        let errors = field::aggregate(&self.errors)?;
        let name = quote(&self.name);
        Some(format!("{}.{GROUP} {name} is invalid: {errors}", self.kind))
    }
}

/// A kind that can be validated.
trait Validated: Registration {
    /// Appends all errors except those of the metadata. `name` is the name of the object. For an update, `old` is the object before the
    /// update.
    fn validate(
        &self,
        errors: &mut Errors,
        name: &str,
        old: Option<&Self>,
        compilers: Interruptible<'_>,
    );

    /// The warnings about the rules of a webhook configuration.
    fn warnings(&self) -> Vec<String> {
        Vec::new()
    }
}

/// The error for a reserved name; `None` if the name is not reserved.
fn reserved_name_fault(name: &str) -> Option<String> {
    let suffix = quote(STATIC_SUFFIX);
    name.ends_with(STATIC_SUFFIX).then(|| {
        format!(
            "names ending with {suffix} are reserved for static manifest-based configurations and cannot be managed via the API"
        )
    })
}

/// Validates the metadata of an update. Fields that the API server copies from the old object are copied first.
fn update_metadata(metadata: &ObjectMeta, old: &ObjectMeta, server: Server) -> Vec<Error> {
    let old = ObjectMeta {
        generation: 1,
        ..old.clone()
    };
    let (mut metadata, old) = (to_json(metadata), to_json(&old));
    meta::keep_system_fields(&mut metadata, &old);
    let (metadata, old) = (MetadataView::new(&metadata), MetadataView::new(&old));
    meta::validate_any_update(metadata, old, false, &Path::new("metadata"), server)
}

fn validate_metadata(metadata: &ObjectMeta, rule: NameRule, server: Server) -> Vec<Error> {
    let metadata = to_json(metadata);
    meta::validate(
        MetadataView::new(&metadata),
        false,
        rule,
        &Path::new("metadata"),
        server,
    )
}

/// The metadata as JSON, without `managedFields[*].fieldsV1`, which is not validated.
fn to_json(metadata: &ObjectMeta) -> Json {
    let mut metadata = metadata.clone();
    for entry in &mut metadata.managed_fields {
        entry.fields_v1 = None;
    }
    api::to_json(&metadata).unwrap_or_default()
}

#[cfg(test)]
mod tests;

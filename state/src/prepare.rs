//! Objects, validated and compiled one by one.

use std::sync::Arc;

use gavel_apimachinery::serializer::{StrictFault, StrictFaultKind};
use gavel_crd::definition::{Definition, written_field};
use gavel_libraries::authorizer::Rbac;
use gavel_policy::api::{GROUP, Resource};
use gavel_policy::validation::Validator;
use gavel_policy::{
    CompiledBinding, CompiledMutatingBinding, CompiledMutatingPolicy, CompiledPolicy, PolicyIndex,
};

use crate::definitions::Compiled;
use crate::environments::{environments, validator};
use crate::object::Object;

/// An object that can be used.
#[derive(Debug, Clone)]
pub(crate) struct Good {
    pub(crate) object: Arc<Object>,
    pub(crate) prepared: Prepared,
}

/// What an object is good for.
#[derive(Debug, Clone)]
pub(crate) enum Prepared {
    Policy(Arc<CompiledPolicy>),
    Binding(Arc<CompiledBinding>),
    MutatingPolicy(Arc<CompiledMutatingPolicy>),
    MutatingBinding(Arc<CompiledMutatingBinding>),
    Definition(Arc<Compiled>),
    /// A role, or a binding of one.
    Rbac,
    Namespace,
    /// Perhaps one that a policy uses as params.
    Other,
}

/// Validates and compiles objects.
pub(crate) struct Preparation {
    validator: Validator,
    /// Compiles policies, and knows of nothing.
    index: PolicyIndex,
}

impl Preparation {
    pub(crate) fn new() -> Result<Self, String> {
        Ok(Preparation {
            validator: validator()?,
            index: PolicyIndex::new(&environments()?.stored),
        })
    }

    /// An index that knows of nothing.
    pub(crate) fn index(&self) -> PolicyIndex {
        self.index.clone()
    }

    /// Prepares an object.
    ///
    /// # Errors
    ///
    /// What an API server would refuse when the object is written, each with its place.
    pub(crate) fn prepare(&mut self, object: &Object) -> Result<Prepared, Vec<String>> {
        let api_version = object.text("apiVersion");
        let group = api_version.split_once('/').map_or("", |(group, _)| group);
        match (group, object.text("kind")) {
            (GROUP, _) => self.registration(object),
            ("apiextensions.k8s.io", "CustomResourceDefinition") => definition(object),
            ("rbac.authorization.k8s.io", _) => {
                let read = Rbac::from_manifests([object.value()]);
                let read = read.map_err(|error| vec![object.problem("", error)]);
                read.map(|_| Prepared::Rbac)
            }
            ("", "Namespace") => {
                let read = gavel_policy::validate_namespace(object.value());
                let read = read.map_err(|error| vec![object.problem("", error)]);
                read.map(|()| Prepared::Namespace)
            }
            _ => Ok(Prepared::Other),
        }
    }

    /// Prepares a policy or a binding. Webhooks are others' work.
    fn registration(&mut self, object: &Object) -> Result<Prepared, Vec<String>> {
        let decoded =
            Resource::decode(object.value()).map_err(|error| vec![object.problem("", error)])?;
        let mut problems = Vec::new();
        for fault in &decoded.strict {
            problems.push(object.problem(&fault.field, fault));
        }
        let report = self.validator.create(&decoded.object);
        let errors = report.errors.iter();
        problems.extend(errors.map(|error| object.field_problem(error, &error.field)));
        if !problems.is_empty() {
            return Err(problems);
        }
        Ok(match decoded.object {
            Resource::ValidatingAdmissionPolicy(policy) => {
                Prepared::Policy(Arc::new(self.index.compile(*policy)))
            }
            Resource::ValidatingAdmissionPolicyBinding(binding) => {
                Prepared::Binding(Arc::new(CompiledBinding::new(*binding)))
            }
            Resource::MutatingAdmissionPolicy(policy) => {
                Prepared::MutatingPolicy(Arc::new(self.index.compile_mutating(*policy)))
            }
            Resource::MutatingAdmissionPolicyBinding(binding) => {
                Prepared::MutatingBinding(Arc::new(CompiledMutatingBinding::new(*binding)))
            }
            _ => Prepared::Other,
        })
    }
}

/// Prepares the definition of a custom resource.
fn definition(object: &Object) -> Result<Prepared, Vec<String>> {
    let rules = &environments().map_err(|error| vec![error])?.rules;
    let definition =
        Definition::read(object.value()).map_err(|error| vec![object.problem("spec", error)])?;
    let unknown = Definition::unknown_fields(object.value()).into_iter();
    let unknown = unknown.map(|field| {
        let kind = StrictFaultKind::Unknown;
        let fault = StrictFault { kind, field };
        object.problem(&fault.field, &fault)
    });
    let errors = definition.validate(rules).into_iter();
    let errors = errors.map(|error| object.field_problem(&error, &written_field(&error.field)));
    let problems: Vec<String> = unknown.chain(errors).collect();
    if !problems.is_empty() {
        return Err(problems);
    }
    let compiled = Compiled::new(definition);
    let compiled = compiled.map_err(|error| vec![object.problem("spec", error)])?;
    Ok(Prepared::Definition(Arc::new(compiled)))
}

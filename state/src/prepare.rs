//! Validates and compiles single objects.

use std::sync::Arc;

use gavel_apimachinery::serializer::{StrictFault, StrictFaultKind};
use gavel_crd::definition::{Definition, written_field};
use gavel_libraries::Server;
use gavel_libraries::authorizer::Rbac;
use gavel_manifest::Problem;
use gavel_policy::api::{
    GROUP, MutatingAdmissionPolicy, ParamKind, Registration, Resource, ValidatingAdmissionPolicy,
};
use gavel_policy::validation::Validator;
use gavel_policy::{
    CompiledBinding, CompiledMutatingBinding, CompiledMutatingPolicy, CompiledPolicy, Namespace,
    PolicyIndex,
};

use crate::definitions::Compiled;
use crate::environments::{Environments, environments};
use crate::object::Object;
use crate::registrations::Registrations;

/// A valid object in compiled form.
#[derive(Debug, Clone)]
pub(crate) struct Good {
    pub(crate) object: Arc<Object>,
    pub(crate) prepared: Prepared,
}

impl Good {
    /// Whether the object is a role or a role binding.
    pub(crate) fn is_role(&self) -> bool {
        matches!(self.prepared, Prepared::Rbac)
    }
}

/// The compiled form of an object, which depends on its kind.
#[derive(Debug, Clone)]
pub(crate) enum Prepared {
    Policy(Arc<CompiledPolicy>),
    Binding(Arc<CompiledBinding>),
    MutatingPolicy(Arc<CompiledMutatingPolicy>),
    MutatingBinding(Arc<CompiledMutatingBinding>),
    Definition(Arc<Compiled>),
    /// A role or a role binding.
    Rbac,
    Namespace(Arc<Namespace>),
    /// Any other object, which policies can use as a param.
    Other,
}

impl Prepared {
    /// If the object is a policy: whether it is validating or mutating, its name, and the kind of its params.
    pub(crate) fn policy(&self) -> Option<((Sort, &str), Option<&ParamKind>)> {
        match self {
            Prepared::Policy(policy) => {
                let kind = policy.policy().spec.param_kind.as_ref();
                Some(((Sort::Validating, policy.name()), kind))
            }
            Prepared::MutatingPolicy(policy) => {
                let kind = policy.policy().spec.param_kind.as_ref();
                Some(((Sort::Mutating, policy.name()), kind))
            }
            _ => None,
        }
    }

    /// If the object is a binding: whether its policy is validating or mutating, and the name of the policy.
    pub(crate) fn bound_policy(&self) -> Option<(Sort, &str)> {
        match self {
            Prepared::Binding(binding) => {
                Some((Sort::Validating, &binding.binding().spec.policy_name))
            }
            Prepared::MutatingBinding(binding) => {
                Some((Sort::Mutating, &binding.binding().spec.policy_name))
            }
            _ => None,
        }
    }
}

/// The two kinds of policies. Policies of different kinds may have the same name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sort {
    /// ValidatingAdmissionPolicies.
    Validating,
    /// MutatingAdmissionPolicies.
    Mutating,
}

impl Sort {
    /// The kind of the policies.
    pub fn kind(self) -> &'static str {
        match self {
            Sort::Validating => ValidatingAdmissionPolicy::KIND,
            Sort::Mutating => MutatingAdmissionPolicy::KIND,
        }
    }

    /// Whether policies with this `kind` are validating or mutating; `None` if it is not the kind of a policy.
    pub(crate) fn of_kind(kind: &str) -> Option<Self> {
        let sorts = [Sort::Validating, Sort::Mutating];
        sorts.into_iter().find(|sort| sort.kind() == kind)
    }
}

/// Validates objects as the API server does, and compiles them for the index.
pub(crate) struct Preparation {
    /// A validator for the policies of manifests.
    validator: Validator,
    /// A validator for policies that requests write.
    registrations: Registrations,
    /// Whether invalid objects are rejected. Objects are validated as if they were new.
    pub(crate) validates: bool,
    /// An empty index, which compiles policies.
    index: PolicyIndex,
    environments: Arc<Environments>,
}

impl Preparation {
    pub(crate) fn new(server: Server) -> Result<Self, String> {
        let environments = environments(server)?;
        let validator = environments.validator()?;
        Ok(Preparation {
            validator: validator.clone().accepting_static_names(),
            registrations: Registrations::new(Arc::new(validator)),
            validates: true,
            index: PolicyIndex::new(&environments.set),
            environments,
        })
    }

    /// An empty index.
    pub(crate) fn index(&self) -> PolicyIndex {
        self.index.clone()
    }

    /// The API server for which objects are validated and compiled.
    pub(crate) fn server(&self) -> Server {
        self.environments.set.server()
    }

    /// A validator for policies that requests write.
    pub(crate) fn registrations(&self) -> Registrations {
        self.registrations.clone()
    }

    /// Validates and compiles an object.
    ///
    /// # Errors
    ///
    /// The object is invalid. Each problem is an error for which an API server would reject the object, and the error's position.
    pub(crate) fn prepare(&mut self, object: &Object) -> Result<Prepared, Vec<Problem>> {
        let group = object.api_version().split_once('/');
        let group = group.map_or("", |(group, _)| group);
        match (group, object.kind()) {
            (GROUP, _) => self.registration(object),
            ("apiextensions.k8s.io", "CustomResourceDefinition") => self.definition(object),
            ("rbac.authorization.k8s.io", _) => {
                let read = Rbac::from_manifests([&*object.value()]);
                let read = read.map_err(|error| vec![object.problem("", error)]);
                read.map(|_| Prepared::Rbac)
            }
            ("", "Namespace") => {
                let read = Namespace::of_manifest(&object.value());
                let read = read.map_err(|error| vec![object.problem(&error.field, &error)]);
                read.map(|namespace| Prepared::Namespace(Arc::new(namespace)))
            }
            _ => Ok(Prepared::Other),
        }
    }

    /// Validates and compiles a policy or a binding. Webhook configurations are validated, but not used.
    fn registration(&mut self, object: &Object) -> Result<Prepared, Vec<Problem>> {
        let value = object.value();
        let decoded = Resource::decode(&*value)
            .map_err(|error| vec![object.problem(&error.field, error.plain())])?;
        let mut problems = Vec::new();
        for fault in &decoded.strict {
            problems.push(object.strict_problem(fault));
        }
        let report = self.validator.create(&decoded.object, None);
        let errors = report.errors.iter();
        problems.extend(errors.map(|error| object.field_problem(error, &error.field)));
        if self.validates && !problems.is_empty() {
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

    /// Validates and compiles a CustomResourceDefinition.
    fn definition(&self, object: &Object) -> Result<Prepared, Vec<Problem>> {
        let rules = &self.environments.rules;
        let value = object.value();
        let definition =
            Definition::read(&value).map_err(|error| vec![object.problem(&error.field, &error)])?;
        let definition = definition.without_namespace();
        let unknown = Definition::unknown_fields(&value).into_iter();
        let unknown = unknown.map(|field| {
            let kind = StrictFaultKind::Unknown;
            object.strict_problem(&StrictFault { kind, field })
        });
        let errors = definition.validate(rules).into_iter();
        let errors = errors.map(|error| object.field_problem(&error, &written_field(&error.field)));
        let problems: Vec<Problem> = unknown.chain(errors).collect();
        if self.validates && !problems.is_empty() {
            return Err(problems);
        }
        let compiled = Compiled::new(definition, self.server());
        let compiled = compiled.map_err(|error| vec![object.problem("spec", error)])?;
        Ok(Prepared::Definition(Arc::new(compiled)))
    }
}

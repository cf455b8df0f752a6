//! The answers of an API server about policies, bindings and webhook configurations.

use gavel_crd::definition::Definition;
use gavel_engine::types::TypeTextError;
use gavel_libraries::{EnvSet, Server};
use gavel_policy::GroupVersionKind;
use gavel_policy::api::Resource;
use gavel_policy::typecheck::{Estimate, KindCosts, TypeChecker};
use gavel_policy::validation::Validator;

use crate::expressions;
use crate::facts::{Facts, Topic};

/// The checkers of policies.
#[derive(Debug)]
pub(crate) struct Policies {
    validator: Validator,
    types: TypeChecker,
    environments: EnvSet,
}

impl Policies {
    /// The checkers of a server that has these definitions.
    pub(crate) fn new<'d>(
        server: Server,
        definitions: impl Iterator<Item = &'d Definition>,
    ) -> Result<Self, TypeTextError> {
        let mut types = TypeChecker::new(server)?;
        definitions.for_each(|definition| declare(&mut types, definition));
        Ok(Policies {
            validator: Validator::new(server.compatible())?,
            types,
            environments: EnvSet::new(server)?,
        })
    }

    /// The result of creating an object, and of compiling its expressions when it is read from storage.
    pub(crate) fn facts(&self, resource: &Resource) -> Facts {
        let mut facts = Facts::default();
        let report = self.validator.create(resource);
        for error in &report.errors {
            facts.add(Topic::Creation, &error.field, error.to_string());
        }
        for warning in &report.warnings {
            facts.add(Topic::Warning, "", warning);
        }
        let costs = match resource {
            Resource::ValidatingAdmissionPolicy(policy) => {
                for warning in self.types.check(policy) {
                    facts.add(Topic::TypeChecking, warning.field_ref, warning.warning);
                }
                self.types.analyze(&**policy).costs
            }
            Resource::MutatingAdmissionPolicy(policy) => self.types.analyze(&**policy).costs,
            _ => Vec::new(),
        };
        costs.iter().for_each(|costs| add_costs(&mut facts, costs));
        let stored = self.environments.stored_expressions();
        expressions::add(&mut facts, resource, stored, !costs.is_empty());
        facts
    }
}

fn add_costs(facts: &mut Facts, costs: &KindCosts) {
    let kind = format!("{} {}", costs.kind.api_version(), costs.kind.kind);
    for each in &costs.expressions {
        let cost = match each.cost {
            Estimate::Bounded(cost) => cost.max.to_string(),
            Estimate::Unbounded => "unbounded".to_owned(),
            // The types are wrong, which is told elsewhere.
            Estimate::Unknown => continue,
        };
        facts.add_about(Topic::Estimate, &each.field, &kind, cost);
    }
}

/// Adds the kinds of a definition.
fn declare(types: &mut TypeChecker, definition: &Definition) {
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
}

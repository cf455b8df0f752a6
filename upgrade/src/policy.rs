//! The answers of an API server about policies, bindings and webhook configurations.

use std::collections::BTreeSet;

use gavel_crd::definition::Definition;
use gavel_engine::types::TypeTextError;
use gavel_libraries::{EnvSet, Server};
use gavel_policy::GroupVersionKind;
use gavel_policy::api::{MatchResources, ParamKind, Resource};
use gavel_policy::typecheck::{Estimate, KindCosts, TypeChecker, plural};
use gavel_policy::validation::Validator;
use gavel_schema::JsonSchema;
use gavel_schema::built_in::Kubernetes;

use crate::expressions;
use crate::facts::{Facts, Topic};

/// Kubernetes' own kinds that policies name, with their schemas.
#[derive(Debug)]
pub(crate) struct BuiltInKinds(Vec<(GroupVersionKind, JsonSchema)>);

impl BuiltInKinds {
    /// The kinds of this API server that these objects name as resources or params.
    pub(crate) fn named_by<'r>(
        resources: impl Iterator<Item = &'r Resource>,
        server: Server,
    ) -> Self {
        let mut named = BTreeSet::new();
        for resource in resources {
            let (constraints, params) = match resource {
                Resource::ValidatingAdmissionPolicy(policy) => {
                    (&policy.spec.match_constraints, &policy.spec.param_kind)
                }
                Resource::MutatingAdmissionPolicy(policy) => {
                    (&policy.spec.match_constraints, &policy.spec.param_kind)
                }
                _ => continue,
            };
            add_names(constraints.as_ref(), params.as_ref(), &mut named);
        }
        let kubernetes = Kubernetes::of(server);
        let kinds = kubernetes.kinds().filter(|(_, kind)| {
            let lower = kind.to_lowercase();
            named.contains(&plural(&lower)) || named.contains(&lower)
        });
        let kinds = kinds.filter_map(|(api_version, kind)| {
            let schema = kubernetes.resolved(api_version, kind)?;
            Some((GroupVersionKind::new(api_version, kind), schema))
        });
        BuiltInKinds(kinds.collect())
    }
}

/// Adds the names of resources and of the kind of params, in lower case.
fn add_names(
    constraints: Option<&MatchResources>,
    params: Option<&ParamKind>,
    named: &mut BTreeSet<String>,
) {
    let rules = constraints.into_iter();
    let rules = rules.flat_map(|constraints| &constraints.resource_rules);
    let resources = rules.flat_map(|named| &named.rule.resources);
    named.extend(resources.map(|resource| resource.to_lowercase()));
    named.extend(params.map(|params| params.kind.to_lowercase()));
}

/// Validates and type-checks policies as one of the compared API servers does.
#[derive(Debug)]
pub(crate) struct Policies {
    validator: Validator,
    types: TypeChecker,
    environments: EnvSet,
}

impl Policies {
    /// The checkers of a server that has these definitions in addition to its own kinds.
    pub(crate) fn new<'d>(
        server: Server,
        built_in: &BuiltInKinds,
        definitions: impl Iterator<Item = &'d Definition>,
    ) -> Result<Self, TypeTextError> {
        let mut types = TypeChecker::new(server)?;
        for (kind, schema) in &built_in.0 {
            types.add_kind(kind.clone(), schema);
        }
        definitions.for_each(|definition| declare(&mut types, definition));
        Ok(Policies {
            validator: Validator::new(server.compatible())?.of_a_running_server(),
            types,
            environments: EnvSet::new(server)?,
        })
    }

    /// The result of creating an object, and of compiling its expressions when it is read from storage.
    pub(crate) fn facts(&self, resource: &Resource) -> Facts {
        let mut facts = Facts::default();
        let report = self.validator.create(resource, None);
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
            // The expression has a type error, which is reported separately.
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

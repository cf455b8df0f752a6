//! The kinds that a policy names (apiserver `pkg/admission/plugin/policy/validating/typechecking.go`).

use super::{Extent, TypeChecker, param_kind};
use crate::api::{RuleWithOperations, ValidatingAdmissionPolicy};
use crate::resource::{GroupVersionKind, GroupVersionResource};

/// How many kinds upstream looks at.
const MAX_KINDS: usize = 10;

/// Something that a policy is about and of which nothing is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unchecked {
    /// Where the policy names it, such as `spec.matchConstraints.resourceRules[0]`.
    pub field: String,
    /// What it is, and why it was not checked.
    pub reason: String,
}

impl TypeChecker {
    /// The kinds that the policy matches, in order.
    pub(super) fn kinds(
        &self,
        policy: &ValidatingAdmissionPolicy,
        extent: Extent,
    ) -> Vec<GroupVersionKind> {
        let mut kinds = Vec::new();
        let constraints = policy.spec.match_constraints.as_ref();
        let rules = constraints
            .into_iter()
            .flat_map(|constraints| &constraints.resource_rules);
        'rules: for rule in rules {
            let mut found = 0_usize;
            for kind in self.kinds_of_rule(&rule.rule) {
                kinds.push(kind.clone());
                found = found.saturating_add(1);
                if extent == Extent::Upstream && found == MAX_KINDS {
                    break 'rules;
                }
            }
        }
        kinds.sort();
        kinds.dedup();
        kinds
    }

    /// What the policy is about and no schema is known of.
    pub(super) fn unchecked(&self, policy: &ValidatingAdmissionPolicy) -> Vec<Unchecked> {
        let mut unchecked = Vec::new();
        if let Some(kind) = param_kind(policy).filter(|kind| !self.schemas.contains_key(kind)) {
            unchecked.push(Unchecked {
                field: "spec.paramKind".to_owned(),
                reason: format!(
                    "the schema of {} {} is not known",
                    kind.api_version(),
                    kind.kind
                ),
            });
        }
        let constraints = policy.spec.match_constraints.as_ref();
        let rules = constraints.map_or(&[][..], |constraints| &constraints.resource_rules);
        for (n, rule) in rules.iter().enumerate() {
            let mut tell = |reason| {
                let field = format!("spec.matchConstraints.resourceRules[{n}]");
                unchecked.push(Unchecked { field, reason });
            };
            let rule = &rule.rule;
            if names_no_kinds(rule) {
                tell("a wildcard in apiGroups or apiVersions names no kinds".to_owned());
                continue;
            }
            for name in rule.resources.iter().filter(|name| !is_resource(name)) {
                let what = if name.contains('/') {
                    "a subresource"
                } else {
                    "a wildcard"
                };
                tell(format!(
                    "the resource {name:?} is {what}, which names no kind"
                ));
            }
            for resource in resources_of(rule) {
                let kinds = self.kinds_for(&resource);
                if !kinds.iter().any(|kind| self.schemas.contains_key(kind)) {
                    let GroupVersionResource { version, .. } = &resource;
                    let name = resource.qualified();
                    tell(format!("the schema of {name} in {version} is not known"));
                }
            }
        }
        unchecked
    }

    /// The kinds of a rule's resources, some of them several times.
    fn kinds_of_rule(&self, rule: &RuleWithOperations) -> Vec<&GroupVersionKind> {
        if names_no_kinds(rule) {
            return Vec::new();
        }
        let resources = resources_of(rule);
        resources
            .flat_map(|resource| self.kinds_for(&resource))
            .collect()
    }

    /// The kinds of a resource. An empty group or version stands for any, and a group also for those that begin with it
    /// where it has no such resource itself (apimachinery `pkg/api/meta/restmapper.go`).
    fn kinds_for(&self, wanted: &GroupVersionResource) -> Vec<&GroupVersionKind> {
        let GroupVersionResource {
            group,
            version,
            resource,
        } = wanted;
        let named = |of_group: &dyn Fn(&str) -> bool| {
            let matches = |known: &GroupVersionResource| {
                known.resource == *resource
                    && of_group(&known.group)
                    && (version.is_empty() || known.version == *version)
            };
            let found = self.resources.iter().filter(|(known, _)| matches(known));
            found.map(|(_, kind)| kind).collect::<Vec<_>>()
        };
        let exact = named(&|known| group.is_empty() || known == group.as_str());
        match exact.is_empty() && !group.is_empty() && version.is_empty() {
            true => named(&|known| known.starts_with(group.as_str())),
            false => exact,
        }
    }
}

/// Whether a rule has a wildcard where groups and versions are.
fn names_no_kinds(rule: &RuleWithOperations) -> bool {
    let mut names = rule.api_groups.iter().chain(&rule.api_versions);
    names.any(|name| name.contains('*'))
}

/// Whether a name is that of a resource, and neither a wildcard nor a subresource.
fn is_resource(name: &str) -> bool {
    !name.contains(['*', '/'])
}

/// The resources that a rule names, in upstream's order.
fn resources_of(rule: &RuleWithOperations) -> impl Iterator<Item = GroupVersionResource> {
    let sorted = |names: &[String]| {
        let mut names = names.to_vec();
        names.sort();
        names
    };
    let groups = sorted(&rule.api_groups);
    let versions = sorted(&rule.api_versions);
    let mut resources = sorted(&rule.resources);
    resources.retain(|name| is_resource(name));
    let mut named = Vec::new();
    for group in &groups {
        for version in &versions {
            named.extend(resources.iter().map(|resource| GroupVersionResource {
                group: group.clone(),
                version: version.clone(),
                resource: resource.to_lowercase(),
            }));
        }
    }
    named.into_iter()
}

//! Finds the kinds that the rules of a policy name (apiserver `pkg/admission/plugin/policy/validating/typechecking.go`).

use std::collections::BTreeSet;

use super::{Extent, Subject, TypeChecker};
use crate::api::RuleWithOperations;
use crate::resource::{GroupVersionKind, GroupVersionResource};

/// The maximum number of kinds that upstream checks for each rule.
const MAX_KINDS: usize = 10;

/// A resource rule or the `paramKind` of a policy for which the expressions were not checked, because it names no kind or no schema of its
/// kind is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unchecked {
    /// The field, such as `spec.matchConstraints.resourceRules[0]`.
    pub field: String,
    /// The reason why the expressions were not checked, with the kind or resource.
    pub reason: String,
}

impl TypeChecker {
    /// The kinds that the policy's rules name.
    pub(super) fn kinds(
        &self,
        policy: &Subject<'_>,
        extent: Extent,
    ) -> BTreeSet<&GroupVersionKind> {
        let most = match extent {
            Extent::Upstream => MAX_KINDS,
            Extent::Everything => usize::MAX,
        };
        let mut kinds = BTreeSet::new();
        for rule in policy.rules() {
            let found = self.kinds_of_rule(&rule.rule);
            kinds.extend(found.iter().take(most));
            // As upstream, the search ends after a rule that reaches the limit, even if some of its kinds are equal.
            if found.len() >= most {
                break;
            }
        }
        kinds
    }

    /// The resource rules and the `paramKind` for which the expressions of a policy are not checked.
    pub(super) fn unchecked(&self, policy: &Subject<'_>) -> Vec<Unchecked> {
        let mut unchecked = Vec::new();
        if let Some(kind) = policy
            .param_kind()
            .filter(|kind| !self.schemas.contains_key(kind))
        {
            unchecked.push(Unchecked {
                field: "spec.paramKind".to_owned(),
                reason: format!(
                    "the schema of {} {} is not known",
                    kind.api_version(),
                    kind.kind
                ),
            });
        }
        for (n, rule) in policy.rules().map(|named| &named.rule).enumerate() {
            let mut report = |reason| {
                let field = format!("spec.matchConstraints.resourceRules[{n}]");
                unchecked.push(Unchecked { field, reason });
            };
            if names_no_kinds(rule) {
                report("a wildcard in apiGroups or apiVersions names no kinds".to_owned());
                continue;
            }
            for name in rule.resources.iter().filter(|name| !is_resource(name)) {
                let what = if name.contains('/') {
                    "a subresource"
                } else {
                    "a wildcard"
                };
                report(format!(
                    "the resource {name:?} is {what}, which names no kind"
                ));
            }
            for resource in resources_of(rule) {
                let kinds = self.kinds_for(&resource);
                if !kinds.iter().any(|kind| self.schemas.contains_key(kind)) {
                    let (name, version) = (resource.qualified(), &resource.version);
                    report(format!("the schema of {name} in {version} is not known"));
                }
            }
        }
        unchecked
    }

    /// The kinds of a rule's resources. A kind can occur several times.
    fn kinds_of_rule(&self, rule: &RuleWithOperations) -> Vec<&GroupVersionKind> {
        if names_no_kinds(rule) {
            return Vec::new();
        }
        let resources = resources_of(rule);
        resources
            .flat_map(|resource| self.kinds_for(&resource))
            .collect()
    }

    /// The kinds of a resource. An empty group or version matches any. If no group matches exactly and the version is empty, groups that
    /// begin with the given group match (apimachinery `pkg/api/meta/restmapper.go`).
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

/// Whether the groups or versions of a rule contain a wildcard. Upstream finds no kinds for such rules.
fn names_no_kinds(rule: &RuleWithOperations) -> bool {
    let mut names = rule.api_groups.iter().chain(&rule.api_versions);
    names.any(|name| name.contains('*'))
}

/// Whether a name in `resources` is a plain resource, not a wildcard or a subresource.
fn is_resource(name: &str) -> bool {
    !name.contains(['*', '/'])
}

/// All combinations of the groups, versions and resources of a rule, in upstream's order.
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
                group: group.into(),
                version: version.into(),
                resource: resource.to_lowercase().into(),
            }));
        }
    }
    named.into_iter()
}

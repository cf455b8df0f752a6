//! Matches requests with rules, which list operations and resources (apiserver `pkg/admission/plugin/webhook/predicates/rules`).

use super::{EquivalentResources, Matched};
use crate::api::{NamedRuleWithOperations, RuleWithOperations};
use crate::request::AdmissionRequest;
use crate::resource::GroupVersionResource;

/// The resource and kind with which the first matching rule matches the request; `None` if no rule matches.
///
/// The rules are first matched with the request's own resource. If no rule matches and `match_policy` is not `Exact`, they are matched with
/// equivalent resources.
pub(super) fn matches<'a>(
    rules: &[NamedRuleWithOperations],
    match_policy: Option<&str>,
    request: &'a AdmissionRequest<'_>,
    equivalents: &'a EquivalentResources,
) -> Result<Option<Matched<'a>>, String> {
    if rules.is_empty() {
        return Ok(None);
    }
    let named = |rule: &NamedRuleWithOperations| {
        rule.resource_names.is_empty()
            || rule.resource_names.iter().any(|name| name == request.name)
    };
    let resource = &request.resource;
    if rules
        .iter()
        .any(|rule| rule_matches(&rule.rule, request, resource) && named(rule))
    {
        return Ok(Some(Matched {
            resource,
            kind: &request.kind,
        }));
    }
    if matches!(match_policy, None | Some("Exact")) {
        return Ok(None);
    }
    let all = equivalents.of(resource, request.subresource);
    for rule in rules {
        for equivalent in all {
            if equivalent == resource || !rule_matches(&rule.rule, request, equivalent) {
                continue;
            }
            let Some(kind) = equivalents.kind(equivalent, request.subresource) else {
                return Err(format!("unable to convert to {equivalent}: unknown kind"));
            };
            if named(rule) {
                return Ok(Some(Matched {
                    resource: equivalent,
                    kind,
                }));
            }
        }
    }
    Ok(None)
}

fn rule_matches(
    rule: &RuleWithOperations,
    request: &AdmissionRequest<'_>,
    resource: &GroupVersionResource,
) -> bool {
    scope_matches(rule.scope.as_deref(), request, resource)
        && listed(&rule.operations, request.operation)
        && listed(&rule.api_groups, &resource.group)
        && listed(&rule.api_versions, &resource.version)
        && rule
            .resources
            .iter()
            .any(|pattern| resource_matches(pattern, &resource.resource, request.subresource))
}

/// Whether the scope of a rule matches. Namespaces count as cluster-scoped, although a request for a namespace contains the name of that
/// namespace.
fn scope_matches(
    scope: Option<&str>,
    request: &AdmissionRequest<'_>,
    resource: &GroupVersionResource,
) -> bool {
    let in_cluster = || resource.is("", "v1", "namespaces") || request.namespace.is_empty();
    match scope {
        None | Some("*") => true,
        Some("Namespaced") => !in_cluster(),
        Some("Cluster") => in_cluster(),
        Some(_) => false,
    }
}

fn listed(items: &[String], wanted: &str) -> bool {
    items.iter().any(|item| item == "*" || item == wanted)
}

/// The resource names of a rule, without subresources; `*` stands for all resources.
pub(super) fn resource_names(rule: &RuleWithOperations) -> impl Iterator<Item = &str> {
    rule.resources.iter().map(|pattern| parts(pattern).0)
}

/// Whether a pattern, as in a rule's `resources`, matches a resource and its subresource. An empty `subresource` means that there is none.
pub fn resource_matches(pattern: &str, resource: &str, subresource: &str) -> bool {
    let (main, sub) = parts(pattern);
    (main == "*" || main == resource) && (sub == "*" || sub == subresource)
}

/// The resource and the subresource in a pattern. Patterns are short, so a byte loop is faster than a vectorized search.
fn parts(pattern: &str) -> (&str, &str) {
    let slash = pattern.bytes().position(|byte| byte == b'/');
    let (main, rest) = pattern.split_at(slash.unwrap_or(pattern.len()));
    (main, rest.strip_prefix('/').unwrap_or_default())
}

//! The resources to audit: those that are matched by a policy with a binding.

use std::collections::BTreeSet;

use gavel_policy::api::{MatchResources, NamedRuleWithOperations};
use gavel_policy::{GroupVersionKind, resource_matches};
use gavel_state::State;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::APIResourceList;
use kube::Client;

use super::object::Audited;
use crate::access::message;

/// The resources of a cluster that are matched by a policy with a binding, each once, in the version that the cluster prefers.
///
/// # Errors
///
/// The API server is unreachable. Groups that do not answer are returned separately, with the API server's message.
pub(super) async fn plan(
    client: &Client,
    state: &State,
) -> kube::Result<(Vec<Audited>, Vec<String>)> {
    let mut versions: Vec<(String, String)> = Vec::new();
    for group in client.list_api_groups().await?.groups {
        let preferred = group.preferred_version.map(|preferred| preferred.version);
        let mut names: Vec<String> = group
            .versions
            .into_iter()
            .map(|each| each.version)
            .collect();
        names.sort_by_key(|version| Some(version) != preferred.as_ref());
        versions.extend(
            names
                .into_iter()
                .map(|version| (group.name.clone(), version)),
        );
    }
    let (mut plan, mut unread) = (Vec::new(), Vec::new());
    let mut seen = BTreeSet::new();
    let core = client.list_core_api_resources("v1").await?;
    add(&mut plan, &mut seen, state, ("", "v1"), core);
    for (group, version) in versions {
        let name = format!("{group}/{version}");
        match client.list_api_group_resources(&name).await {
            Ok(listed) => add(&mut plan, &mut seen, state, (&group, &version), listed),
            Err(error) => unread.push(format!("{name}: {}", message(error))),
        }
    }
    Ok((plan, unread))
}

fn add(
    plan: &mut Vec<Audited>,
    seen: &mut BTreeSet<(String, String)>,
    state: &State,
    (group, version): (&str, &str),
    listed: APIResourceList,
) {
    for resource in listed.resources {
        let is_listed = resource.verbs.iter().any(|verb| verb == "list");
        let is_new = seen.insert((group.to_owned(), resource.name.clone()));
        if !is_listed || !is_new || !concerns(state, group, &resource.name) {
            continue;
        }
        plan.push(Audited {
            kind: GroupVersionKind {
                group: group.into(),
                version: version.into(),
                kind: resource.kind.as_str().into(),
            },
            plural: resource.name,
            namespaced: resource.namespaced,
        });
    }
}

/// Whether a bound policy can match objects of a resource, in any version.
fn concerns(state: &State, group: &str, plural: &str) -> bool {
    let bound: BTreeSet<&str> = state.bound().map(|(policy, _)| policy).collect();
    let mut policies = state
        .policies()
        .filter(|policy| bound.contains(policy.name()));
    policies.any(|policy| {
        let constraints = policy.policy().spec.match_constraints.as_ref();
        constraints.is_some_and(|MatchResources { resource_rules, .. }| {
            let mut rules = resource_rules.iter();
            rules.any(|NamedRuleWithOperations { rule, .. }| {
                let has = |list: &[String], name: &str| {
                    list.iter().any(|each| each == "*" || each == name)
                };
                has(&rule.operations, "CREATE")
                    && has(&rule.api_groups, group)
                    && rule
                        .resources
                        .iter()
                        .any(|pattern| resource_matches(pattern, plural, ""))
            })
        })
    })
}

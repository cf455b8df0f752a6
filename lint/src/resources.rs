//! The resources that policies and webhooks name.

use std::collections::BTreeSet;

use gavel_apimachinery::server::Difference;
use gavel_manifest::{Document, Problem, Suggestion};
use gavel_policy::api::{GROUP, MatchResources, OWN_GROUP, ParamKind, RuleWithOperations};
use gavel_policy::typecheck::plural;
use gavel_policy::{is_exempt, is_review};
use gavel_schema::built_in::Kubernetes;

use crate::apis::{Api, End, find};
use crate::context::Linter;
use crate::expressions::problem;
use crate::kinds::{group_of, text};
use crate::meant;
use crate::rules::{DEPRECATED_API, EXEMPT_RESOURCE, REMOVED_API, UNKNOWN_RESOURCE};
use gavel_manifest::nearest;

/// Reports the problems of the resources and the kind of params that a policy names.
pub(crate) fn check_policy(
    linter: &Linter,
    document: &Document,
    constraints: Option<&MatchResources>,
    param_kind: Option<&ParamKind>,
    problems: &mut Vec<Problem>,
) {
    if let Some(param_kind) = param_kind {
        check_param_kind(linter, document, param_kind, problems);
    }
    let rules = constraints
        .into_iter()
        .flat_map(|constraints| &constraints.resource_rules);
    let rules: Vec<_> = rules.map(|named| named.rule.clone()).collect();
    check_rules(
        linter,
        document,
        &rules,
        "spec.matchConstraints.resourceRules",
        problems,
    );
}

/// Reports the problems of the resources in rules; `list` is the path of the list of rules.
pub(crate) fn check_rules(
    linter: &Linter,
    document: &Document,
    rules: &[RuleWithOperations],
    list: &str,
    problems: &mut Vec<Problem>,
) {
    for (n, rule) in rules.iter().enumerate() {
        let field = format!("{list}[{n}]");
        check_groups(linter, document, rule, &field, problems);
        check_names(linter, document, rule, &field, problems);
        check_exempt(linter, document, rule, &field, problems);
        check_versions(linter, document, rule, &field, problems);
    }
}

/// Reports a kind of params that its version of a built-in group does not have.
fn check_param_kind(
    linter: &Linter,
    document: &Document,
    param_kind: &ParamKind,
    problems: &mut Vec<Problem>,
) {
    let ParamKind { api_version, kind } = param_kind;
    let (group, _) = api_version.split_once('/').unwrap_or(("", api_version));
    if let Some(found) = unknown_group(linter, document, group, "spec.paramKind.apiVersion") {
        problems.push(found);
        return;
    }
    let known = Kubernetes::of(linter.server).kinds();
    let known = known.filter(|(version, _)| version == api_version);
    let known: Vec<&str> = known.map(|(_, kind)| kind).collect();
    if !known.is_empty() && !known.contains(&&**kind) {
        let message = format!("{api_version} has no kind {kind:?}, so the policy fails");
        let found = problem(document, &UNKNOWN_RESOURCE, "spec.paramKind.kind", message);
        problems.push(meant::name(found, nearest(kind, known)));
    }
}

fn check_groups(
    linter: &Linter,
    document: &Document,
    rule: &RuleWithOperations,
    field: &str,
    problems: &mut Vec<Problem>,
) {
    for (n, group) in rule.api_groups.iter().enumerate() {
        let is_removed = rule.resources.iter().any(|name| is_removed(rule, name));
        if group != "*" && !is_removed {
            let field = format!("{field}.apiGroups[{n}]");
            problems.extend(unknown_group(linter, document, group, &field));
        }
    }
}

/// The problem of the name of a group without a dot, which only Kubernetes' own groups have, or with a slash.
fn unknown_group(
    linter: &Linter,
    document: &Document,
    group: &str,
    field: &str,
) -> Option<Problem> {
    let is_possible = group.contains('.') && !group.contains('/');
    if is_possible || linter.kinds.knows_group(group) {
        return None;
    }
    let message = format!("there is no API group {group:?}");
    let found = problem(document, &UNKNOWN_RESOURCE, field, message);
    let (name, _) = group.split_once('/').unwrap_or((group, ""));
    Some(match name {
        "core" | "v1" => found.with_help("the name of the core group is empty"),
        _ if linter.kinds.knows_group(name) => meant::name(found, Some(name)),
        _ => meant::name(found, nearest(name, linter.kinds.groups())),
    })
}

fn check_names(
    linter: &Linter,
    document: &Document,
    rule: &RuleWithOperations,
    field: &str,
    problems: &mut Vec<Problem>,
) {
    let groups = &rule.api_groups;
    let kinds = &linter.kinds;
    if groups.is_empty() || !groups.iter().all(|group| kinds.knows_group(group)) {
        return;
    }
    let is_complete = groups.iter().all(|group| kinds.is_complete(group));
    for (n, name) in rule.resources.iter().enumerate() {
        if name.contains(['*', '/']) || is_removed(rule, name) {
            continue;
        }
        let shown: Vec<_> = groups.iter().map(|group| shown(group)).collect();
        let versions = groups
            .iter()
            .filter_map(|group| kinds.versions_of(group, name));
        let versions: BTreeSet<&str> = versions.flatten().map(String::as_str).collect();
        if !versions.is_empty() {
            if is_complete && has_only_unknown_versions(rule, &versions) {
                let named = rule.api_versions.join(" or ");
                let message = format!(
                    "{} no resource {name:?} in version {named}, so the rule does not match it",
                    has(&shown)
                );
                let field = format!("{field}.apiVersions[0]");
                let found = problem(document, &UNKNOWN_RESOURCE, &field, message);
                let meant = versions.iter().rev().find(|version| !is_early(version));
                problems.push(meant::name(found, meant.copied()));
            }
            continue;
        }
        let names: Vec<&str> = groups
            .iter()
            .flat_map(|group| kinds.resources_of(group))
            .collect();
        let guess = plural(&name.to_lowercase());
        let meant = names.iter().find(|known| **known == guess).copied();
        let meant = meant.or_else(|| nearest(name, names));
        let message = match is_complete {
            true => format!(
                "{} no resource {name:?}, so the rule does not match it",
                has(&shown)
            ),
            // A definition that is not among the files may define the resource, so only names that look misspelled are reported.
            false if meant.is_none() => continue,
            false => format!(
                "no linted definition of {} has the resource {name:?}",
                shown.join(" or ")
            ),
        };
        let field = format!("{field}.resources[{n}]");
        let found = problem(document, &UNKNOWN_RESOURCE, &field, message);
        problems.push(meant::name(found, meant));
    }
}

/// Whether a rule names no version of a resource. Alpha and beta versions count as known, because other Kubernetes versions may serve them.
fn has_only_unknown_versions(rule: &RuleWithOperations, known: &BTreeSet<&str>) -> bool {
    let is_unknown = |version: &String| {
        version != "*" && !is_early(version) && !known.contains(version.as_str())
    };
    !rule.api_versions.is_empty() && rule.api_versions.iter().all(is_unknown)
}

/// Whether a version is an alpha or beta version.
fn is_early(version: &str) -> bool {
    version.contains("alpha") || version.contains("beta")
}

/// Reports resources for which the policies or webhooks of a document's kind are never asked.
fn check_exempt(
    linter: &Linter,
    document: &Document,
    rule: &RuleWithOperations,
    field: &str,
    problems: &mut Vec<Problem>,
) {
    let is_own = group_of(document) == OWN_GROUP;
    let is_webhook = text(document, "kind").ends_with("WebhookConfiguration");
    let why = match (is_own, is_webhook) {
        (true, _) => "`gavel serve` evaluates no policies for requests about",
        (_, true) => "API servers call no webhooks for requests about",
        _ => "API servers evaluate no policies for requests about",
    };
    let calls_no_webhooks = linter.server.has(Difference::ReviewsCallNoWebhooks);
    let is_exempt_in = |group: &String, resource: &str| {
        let is_registration = group == GROUP && (is_own || is_webhook);
        let is_exempt = match is_webhook {
            true => calls_no_webhooks && is_review(group, resource),
            false => is_exempt(group, resource),
        };
        (is_own && group == OWN_GROUP) || is_registration || is_exempt
    };
    for (n, name) in rule.resources.iter().enumerate() {
        let (resource, _) = name.split_once('/').unwrap_or((name, ""));
        let mut groups = rule.api_groups.iter();
        if !rule.api_groups.is_empty() && groups.all(|group| is_exempt_in(group, resource)) {
            let field = format!("{field}.resources[{n}]");
            let message = format!("{why} {resource}.{}", rule.api_groups.join(" or "));
            problems.push(problem(document, &EXEMPT_RESOURCE, &field, message));
        }
    }
}

fn has(groups: &[String]) -> String {
    match groups {
        [group] => format!("{group} has"),
        groups => format!("{} have", groups.join(" and ")),
    }
}

fn shown(group: &str) -> String {
    match group {
        "" => "the core group".to_owned(),
        group => group.to_owned(),
    }
}

fn is_removed(rule: &RuleWithOperations, resource: &str) -> bool {
    let mut groups = rule.api_groups.iter();
    groups.any(|group| {
        let mut versions = rule.api_versions.iter();
        versions.any(|version| find(group, version, resource).is_some())
    })
}

/// Reports removed or deprecated APIs, if the rule names no other served version of the resource.
fn check_versions(
    linter: &Linter,
    document: &Document,
    rule: &RuleWithOperations,
    field: &str,
    problems: &mut Vec<Problem>,
) {
    let version_now = linter.server.language();
    if rule.api_versions.iter().any(|version| version == "*") {
        return;
    }
    for group in &rule.api_groups {
        for (n, resource) in rule.resources.iter().enumerate() {
            let (resource, _) = resource.split_once('/').unwrap_or((resource, ""));
            let known: Option<Vec<&Api>> = rule
                .api_versions
                .iter()
                .map(|version| find(group, version, resource))
                .collect();
            // A version that is not in the table is still served.
            let Some([first, ..]) = known.as_deref() else {
                continue;
            };
            let Api { version, end, .. } = first;
            let api = match group.as_str() {
                "" => format!("{resource} in {version}"),
                group => format!("{resource} in {group}/{version}"),
            };
            let (id, message) = match end {
                End::Removed(removed) if *removed <= version_now => {
                    (&REMOVED_API, format!("Kubernetes {removed} removed {api}"))
                }
                End::Removed(removed) => (
                    &DEPRECATED_API,
                    format!("{api} is deprecated; Kubernetes {removed} removes it"),
                ),
                End::Deprecated(since) if *since <= version_now => (
                    &DEPRECATED_API,
                    format!("{api} is deprecated since Kubernetes {since}"),
                ),
                End::Deprecated(_) => continue,
            };
            let found = problem(document, id, &format!("{field}.resources[{n}]"), message);
            let found = match first.replacement {
                "" => found,
                replacement => found.with_help(format!("use {replacement}")),
            };
            problems.push(match newer(document, rule, field) {
                Some(suggestion) => found.with_suggestion(suggestion),
                None => found,
            });
        }
    }
}

/// Suggests a version of the same group in place of the version in a rule. `None` unless this version replaces the old one for all
/// resources of the rule.
fn newer(document: &Document, rule: &RuleWithOperations, field: &str) -> Option<Suggestion> {
    let ([group], [version]) = (rule.api_groups.as_slice(), rule.api_versions.as_slice()) else {
        return None;
    };
    let mut replacements = rule.resources.iter().map(|resource| {
        let (resource, _) = resource.split_once('/').unwrap_or((resource, ""));
        find(group, version, resource).map(|api| api.replacement)
    });
    let replacement = replacements.next()??;
    let newer = replacement
        .strip_prefix(group.as_str())?
        .strip_prefix('/')?;
    let is_of_all = replacements.all(|other| other == Some(replacement));
    let columns = u32::try_from(version.chars().count()).ok()?;
    let range = document.range_within(&format!("{field}.apiVersions[0]"), 1, 1, columns);
    range.filter(|_| is_of_all).map(|range| Suggestion {
        range,
        replacement: newer.to_owned(),
    })
}

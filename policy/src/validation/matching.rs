//! Validates match constraints, rules, selectors and match conditions.

use std::collections::BTreeSet;

use gavel_apimachinery::field::{BadValue, Error, Errors, Path};
use gavel_apimachinery::json;
use gavel_apimachinery::labels::LabelSelector;
use gavel_apimachinery::names;
use gavel_engine::value::Json;

use super::expressions::{Expressions, OldExpressions};
use crate::api::{MatchCondition, MatchResources, NamedRuleWithOperations, RuleWithOperations};
use crate::cel::{Declarations, ExpressionKind};

const OPERATIONS: [&str; 5] = ["*", "CONNECT", "CREATE", "DELETE", "UPDATE"];
/// The operations that mutating policies can match: all but deletions.
const MUTATING_OPERATIONS: [&str; 4] = ["*", "CONNECT", "CREATE", "UPDATE"];
const SCOPES: [&str; 3] = ["*", "Cluster", "Namespaced"];
const MATCH_POLICIES: [&str; 2] = ["Equivalent", "Exact"];
const FAILURE_POLICIES: [&str; 2] = ["Fail", "Ignore"];
const MOST_CONDITIONS: usize = 64;

/// Appends an error if the text is not one of the supported values. The error shows the text as JSON, as upstream does for Go's string
/// types.
pub(super) fn one_of(errors: &mut Errors, text: &str, supported: &[&str], path: &Path<'_>) {
    if !supported.contains(&text) {
        let value = BadValue::Text(json::quoted(text));
        errors.push(Error::not_supported(path, value, supported));
    }
}

/// Appends the errors of a failure policy, which may be absent.
pub(super) fn failure_policy(errors: &mut Errors, policy: Option<&str>, path: &Path<'_>) {
    if let Some(policy) = policy {
        one_of(errors, policy, &FAILURE_POLICIES, path);
    }
}

/// Appends the errors of a match policy, which may be absent.
pub(super) fn match_policy(errors: &mut Errors, policy: Option<&str>, path: &Path<'_>) {
    if let Some(policy) = policy {
        one_of(errors, policy, &MATCH_POLICIES, path);
    }
}

/// Appends the errors of the match constraints of a policy or binding.
pub(super) fn match_resources(errors: &mut Errors, resources: &MatchResources, path: &Path<'_>) {
    let MatchResources {
        namespace_selector,
        object_selector,
        resource_rules,
        exclude_resource_rules,
        match_policy: policy,
    } = resources;
    required(errors, policy.is_some(), &path.child("matchPolicy"));
    match_policy(errors, policy.as_deref(), &path.child("matchPolicy"));
    for (selector, name) in [
        (namespace_selector, "namespaceSelector"),
        (object_selector, "objectSelector"),
    ] {
        let path = path.child(name);
        required(errors, selector.is_some(), &path);
        label_selector(errors, selector.as_ref(), false, &path);
    }
    for (rules, name) in [
        (resource_rules, "resourceRules"),
        (exclude_resource_rules, "excludeResourceRules"),
    ] {
        let path = path.child(name);
        for (n, rule) in rules.iter().enumerate() {
            named_rule(errors, rule, &path.index(n));
        }
    }
}

/// Appends an error if a required field is absent.
pub(super) fn required(errors: &mut Errors, is_there: bool, path: &Path<'_>) {
    if !is_there {
        errors.push(Error::required(path, ""));
    }
}

/// Appends the errors of a selector, which may be absent.
pub(super) fn label_selector(
    errors: &mut Errors,
    selector: Option<&LabelSelector>,
    lenient: bool,
    path: &Path<'_>,
) {
    if let Some(selector) = selector {
        selector.validate(errors, lenient, path);
    }
}

/// Appends an error for each operation that mutating policies do not support. As in upstream, the path of the error does not contain the
/// rule's index.
pub(super) fn mutating_operations(
    errors: &mut Errors,
    resources: &MatchResources,
    path: &Path<'_>,
) {
    let path = path.child("resourceRules");
    let operations = resources
        .resource_rules
        .iter()
        .flat_map(|rule| &rule.rule.operations);
    for operation in operations {
        one_of(
            errors,
            operation,
            &MUTATING_OPERATIONS,
            &path.child("operations"),
        );
    }
}

fn named_rule(errors: &mut Errors, named: &NamedRuleWithOperations, path: &Path<'_>) {
    let names_path = path.child("resourceNames");
    let mut seen = BTreeSet::new();
    for (n, name) in named.resource_names.iter().enumerate() {
        let path = names_path.index(n);
        for fault in names::path_segment(name, false) {
            errors.push(Error::invalid(&path, name, fault));
        }
        if !seen.insert(name) {
            errors.push(Error::duplicate(&path, name.as_str()));
        }
    }
    rule(errors, &named.rule, path);
}

/// Appends the errors of a rule.
pub(super) fn rule(errors: &mut Errors, rule: &RuleWithOperations, path: &Path<'_>) {
    let operations = path.child("operations");
    some_or_all(errors, &rule.operations, "operations", &operations);
    for (n, operation) in rule.operations.iter().enumerate() {
        one_of(errors, operation, &OPERATIONS, &operations.index(n));
    }
    some_or_all(
        errors,
        &rule.api_groups,
        "API groups",
        &path.child("apiGroups"),
    );
    let versions = path.child("apiVersions");
    some_or_all(errors, &rule.api_versions, "API versions", &versions);
    for (n, version) in rule.api_versions.iter().enumerate() {
        required(errors, !version.is_empty(), &versions.index(n));
    }
    resources(errors, &rule.resources, &path.child("resources"));
    if let Some(scope) = &rule.scope {
        one_of(errors, scope, &SCOPES, &path.child("scope"));
    }
}

/// Appends an error if a list is empty, or contains `*` and other items.
fn some_or_all(errors: &mut Errors, list: &[String], others: &str, path: &Path<'_>) {
    required(errors, !list.is_empty(), path);
    if list.len() > 1 && list.iter().any(|text| text == "*") {
        let detail = format!("if '*' is present, must not specify other {others}");
        errors.push(Error::invalid(path, texts(list), detail));
    }
}

fn resources(errors: &mut Errors, resources: &[String], path: &Path<'_>) {
    required(errors, !resources.is_empty(), path);
    // The resources that are listed with all subresources (`pods/*`), and the subresources that are listed for all resources (`*/scale`).
    let mut whole = BTreeSet::new();
    let mut everywhere = BTreeSet::new();
    // Upstream only considers the latest resource without a subresource.
    let mut names_plain = false;
    for (n, text) in resources.iter().enumerate() {
        let path = path.index(n);
        let Some((resource, subresource)) = text.split_once('/') else {
            required(errors, !text.is_empty(), &path);
            names_plain = match text.as_str() {
                "" => names_plain,
                text => text != "*",
            };
            continue;
        };
        let mut covered = |by: String| {
            let detail = format!("if '{by}' is present, must not specify {text}");
            errors.push(Error::invalid(&path, text, detail));
        };
        if whole.contains(resource) {
            covered(format!("{resource}/*"));
        }
        if everywhere.contains(subresource) {
            covered(format!("*/{subresource}"));
        }
        if subresource == "*" {
            whole.insert(resource);
        }
        if resource == "*" {
            everywhere.insert(subresource);
        }
    }
    let has = |wanted: &str| resources.iter().any(|text| text == wanted);
    if resources.len() > 1 && has("*/*") {
        let detail = "if '*/*' is present, must not specify other resources";
        errors.push(Error::invalid(path, texts(resources), detail));
    }
    if has("*") && names_plain {
        let detail = "if '*' is present, must not specify other resources without subresources";
        errors.push(Error::invalid(path, texts(resources), detail));
    }
}

fn texts(list: &[String]) -> Json {
    Json::from(list.to_vec())
}

/// Appends the errors of match conditions. `expressions` must come from `Interruptible::plain`, because match conditions cannot read variables.
pub(super) fn match_conditions(
    errors: &mut Errors,
    conditions: &[MatchCondition],
    params: bool,
    old: &OldExpressions<'_>,
    expressions: &Expressions<'_>,
    path: &Path<'_>,
) {
    if conditions.len() > MOST_CONDITIONS {
        let count = |length: usize| i64::try_from(length).unwrap_or(i64::MAX);
        errors.push(Error::too_many(
            path,
            count(conditions.len()),
            count(MOST_CONDITIONS),
        ));
    }
    let declarations = Declarations::with_authorizer(params);
    let mut seen = BTreeSet::new();
    for (n, MatchCondition { name, expression }) in conditions.iter().enumerate() {
        let path = path.index(n);
        let expression_path = path.child("expression");
        match expression.trim() {
            "" => errors.push(Error::required(&expression_path, "")),
            text => {
                let is_old = old.match_conditions.contains(text);
                let kind = ExpressionKind::MatchCondition;
                errors.extend(expressions.check_trimmed(
                    kind,
                    expression,
                    declarations,
                    is_old,
                    &expression_path,
                ));
            }
        }
        let path = path.child("name");
        if name.is_empty() {
            errors.push(Error::required(&path, ""));
            continue;
        }
        for fault in names::qualified_name(name) {
            errors.push(Error::invalid(&path, name, fault));
        }
        if !seen.insert(name) {
            errors.push(Error::duplicate(&path, name.as_str()));
        }
    }
}

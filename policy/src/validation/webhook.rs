//! Validates webhook configurations. An update may keep some errors of the old configuration.

use std::collections::BTreeSet;

use gavel_apimachinery::field::{Error, Errors, Path};
use gavel_apimachinery::labels::LabelSelector;
use gavel_apimachinery::names;
use gavel_engine::value::Json;

use super::Validated;
use super::client::client_config;
use super::expressions::{Interruptible, OldExpressions};
use super::matching::{
    failure_policy, label_selector, match_conditions, match_policy, one_of, rule,
};
use crate::api::{
    MatchCondition, MutatingWebhook, MutatingWebhookConfiguration, RuleWithOperations,
    ValidatingWebhook, ValidatingWebhookConfiguration, WebhookClientConfig,
};
use crate::resource::is_review;

/// The values of `reinvocationPolicy` in policies and webhooks.
pub(super) const REINVOCATION_POLICIES: [&str; 2] = ["IfNeeded", "Never"];
const SIDE_EFFECTS: [&str; 4] = ["None", "NoneOnDryRun", "Some", "Unknown"];
const NO_SIDE_EFFECTS: [&str; 2] = ["None", "NoneOnDryRun"];
const REVIEW_VERSIONS: [&str; 2] = ["v1", "v1beta1"];

/// The fields of a validating or mutating webhook.
#[derive(Debug, Clone, Copy)]
struct Webhook<'w> {
    name: &'w str,
    client: &'w WebhookClientConfig,
    rules: &'w [RuleWithOperations],
    failure_policy: Option<&'w str>,
    match_policy: Option<&'w str>,
    namespace_selector: Option<&'w LabelSelector>,
    object_selector: Option<&'w LabelSelector>,
    side_effects: Option<&'w str>,
    timeout_seconds: Option<i32>,
    review_versions: &'w [String],
    reinvocation_policy: Option<&'w str>,
    match_conditions: Option<&'w [MatchCondition]>,
}

macro_rules! webhook {
    ($webhook:expr, $reinvocation_policy:expr) => {
        Webhook {
            name: &$webhook.name,
            client: &$webhook.client_config,
            rules: &$webhook.rules,
            failure_policy: $webhook.failure_policy.as_deref(),
            match_policy: $webhook.match_policy.as_deref(),
            namespace_selector: $webhook.namespace_selector.as_ref(),
            object_selector: $webhook.object_selector.as_ref(),
            side_effects: $webhook.side_effects.as_deref(),
            timeout_seconds: $webhook.timeout_seconds,
            review_versions: $webhook
                .admission_review_versions
                .as_deref()
                .unwrap_or_default(),
            reinvocation_policy: $reinvocation_policy,
            match_conditions: $webhook.match_conditions.as_deref(),
        }
    };
}

impl<'w> From<&'w ValidatingWebhook> for Webhook<'w> {
    fn from(webhook: &'w ValidatingWebhook) -> Self {
        webhook!(webhook, None)
    }
}

impl<'w> From<&'w MutatingWebhook> for Webhook<'w> {
    fn from(webhook: &'w MutatingWebhook) -> Self {
        webhook!(webhook, webhook.reinvocation_policy.as_deref())
    }
}

macro_rules! validated {
    ($configuration:ident) => {
        impl Validated for $configuration {
            fn validate(
                &self,
                errors: &mut Errors,
                _: &str,
                old: Option<&Self>,
                compilers: Interruptible<'_>,
            ) {
                fn webhooks(of: &$configuration) -> Vec<Webhook<'_>> {
                    of.webhooks.iter().map(Webhook::from).collect()
                }
                let old = old.map(webhooks);
                webhooks_are_valid(errors, &webhooks(self), old.as_deref(), compilers);
            }

            fn warnings(&self) -> Vec<String> {
                let rules = self.webhooks.iter().map(|webhook| &*webhook.rules);
                warnings_of_reviews(rules)
            }
        }
    };
}

validated!(ValidatingWebhookConfiguration);
validated!(MutatingWebhookConfiguration);

/// Which requirements a webhook configuration must meet. An update need not meet a requirement that the old configuration violates.
struct Demands<'o> {
    match_conditions: bool,
    no_side_effects: bool,
    known_review_version: bool,
    unique_names: bool,
    /// Whether selectors may contain values that no label can have.
    lenient_selectors: bool,
    old: OldExpressions<'o>,
}

impl<'o> Demands<'o> {
    /// All requirements, as for a new configuration.
    fn all() -> Self {
        Demands {
            match_conditions: true,
            no_side_effects: true,
            known_review_version: true,
            unique_names: true,
            lenient_selectors: false,
            old: OldExpressions::default(),
        }
    }

    /// The requirements for an update: those that the old webhooks meet. Match conditions are validated only if they changed.
    fn of_update(webhooks: &[Webhook<'_>], old: &[Webhook<'o>]) -> Self {
        let conditions = webhooks.iter().map(|webhook| webhook.match_conditions);
        let old_conditions = old.iter().map(|webhook| webhook.match_conditions);
        let names: BTreeSet<_> = old.iter().map(|webhook| webhook.name).collect();
        let texts = old
            .iter()
            .flat_map(|webhook| webhook.match_conditions.unwrap_or_default());
        Demands {
            match_conditions: conditions.ne(old_conditions),
            no_side_effects: old.iter().all(|webhook| {
                webhook
                    .side_effects
                    .is_some_and(|class| NO_SIDE_EFFECTS.contains(&class))
            }),
            known_review_version: old.iter().all(|webhook| {
                webhook.review_versions.is_empty() || knows_review_version(webhook.review_versions)
            }),
            unique_names: names.len() == old.len(),
            lenient_selectors: old.iter().any(has_bad_selector),
            old: OldExpressions {
                match_conditions: texts
                    .map(|condition| condition.expression.as_str())
                    .collect(),
                ..OldExpressions::default()
            },
        }
    }
}

/// A warning for each review of users or permissions that a rule names, given the rules of each webhook. Webhooks are not called for reviews.
fn warnings_of_reviews<'w>(
    webhooks: impl Iterator<Item = &'w [RuleWithOperations]>,
) -> Vec<String> {
    let mut warnings = Vec::new();
    let rules = webhooks.enumerate().flat_map(|(n, rules)| {
        let rules = rules.iter().enumerate();
        rules.map(move |(rule_n, rule)| (format!("webhooks[{n}].rules[{rule_n}]"), rule))
    });
    for (path, rule) in rules {
        if rule
            .api_groups
            .iter()
            .chain(&rule.resources)
            .any(|name| name == "*")
        {
            continue;
        }
        let mut seen = BTreeSet::new();
        for group in &rule.api_groups {
            for resource in &rule.resources {
                if is_review(group, resource) && seen.insert((group, resource)) {
                    warnings.push(format!("{path}: {resource}.{group} is excluded from admission webhooks; this rule will have no effect"));
                }
            }
        }
    }
    warnings
}

fn has_bad_selector(webhook: &Webhook<'_>) -> bool {
    let mut errors = Errors::default();
    label_selector(
        &mut errors,
        webhook.namespace_selector,
        false,
        &Path::root(),
    );
    label_selector(&mut errors, webhook.object_selector, false, &Path::root());
    !errors.is_empty()
}

fn knows_review_version(versions: &[String]) -> bool {
    versions
        .iter()
        .any(|version| REVIEW_VERSIONS.contains(&version.as_str()))
}

fn webhooks_are_valid(
    errors: &mut Errors,
    webhooks: &[Webhook<'_>],
    old: Option<&[Webhook<'_>]>,
    compilers: Interruptible<'_>,
) {
    let demands = old.map_or_else(Demands::all, |old| Demands::of_update(webhooks, old));
    let path = Path::new("webhooks");
    let mut names = BTreeSet::new();
    for (n, webhook) in webhooks.iter().enumerate() {
        let path = path.index(n);
        one_webhook(errors, webhook, &demands, compilers, &path);
        let versions = path.child("admissionReviewVersions");
        review_versions(
            errors,
            webhook.review_versions,
            demands.known_review_version,
            &versions,
        );
        let is_repeated = !webhook.name.is_empty() && !names.insert(webhook.name);
        if demands.unique_names && is_repeated {
            errors.push(Error::duplicate(&path.child("name"), webhook.name));
        }
    }
}

fn one_webhook(
    errors: &mut Errors,
    webhook: &Webhook<'_>,
    demands: &Demands<'_>,
    compilers: Interruptible<'_>,
    path: &Path<'_>,
) {
    qualified_domain(errors, webhook.name, &path.child("name"));
    let rules = path.child("rules");
    for (n, one) in webhook.rules.iter().enumerate() {
        rule(errors, one, &rules.index(n));
    }
    failure_policy(errors, webhook.failure_policy, &path.child("failurePolicy"));
    match_policy(errors, webhook.match_policy, &path.child("matchPolicy"));
    side_effects(
        errors,
        webhook.side_effects,
        demands.no_side_effects,
        &path.child("sideEffects"),
    );
    if let Some(seconds) = webhook.timeout_seconds
        && !(1..=30).contains(&seconds)
    {
        let detail = "the timeout value must be between 1 and 30 seconds";
        errors.push(Error::invalid(
            &path.child("timeoutSeconds"),
            seconds,
            detail,
        ));
    }
    let lenient = demands.lenient_selectors;
    label_selector(
        errors,
        webhook.namespace_selector,
        lenient,
        &path.child("namespaceSelector"),
    );
    label_selector(
        errors,
        webhook.object_selector,
        lenient,
        &path.child("objectSelector"),
    );
    if let Some(policy) = webhook.reinvocation_policy {
        one_of(
            errors,
            policy,
            &REINVOCATION_POLICIES,
            &path.child("reinvocationPolicy"),
        );
    }
    client_config(errors, webhook.client, &path.child("clientConfig"));
    if demands.match_conditions {
        let conditions = webhook.match_conditions.unwrap_or_default();
        let path = path.child("matchConditions");
        match_conditions(
            errors,
            conditions,
            false,
            &demands.old,
            &compilers.plain(),
            &path,
        );
    }
}

fn qualified_domain(errors: &mut Errors, name: &str, path: &Path<'_>) {
    let faults = names::dns1123_subdomain(name.as_bytes());
    if name.is_empty() {
        errors.push(Error::required(path, ""));
    } else if !faults.is_empty() {
        errors.push(Error::invalid(path, name, faults.join(",")));
    } else if name.split('.').count() < 3 {
        let detail = "should be a domain with at least three segments separated by dots";
        errors.push(Error::invalid(path, name, detail));
    }
}

fn side_effects(errors: &mut Errors, class: Option<&str>, none: bool, path: &Path<'_>) {
    let allowed = if none {
        &NO_SIDE_EFFECTS[..]
    } else {
        &SIDE_EFFECTS[..]
    };
    match class {
        None => {
            let detail = format!("must specify one of {}", allowed.join(", "));
            errors.push(Error::required(path, detail));
        }
        Some(class) => one_of(errors, class, allowed, path),
    }
}

fn review_versions(errors: &mut Errors, versions: &[String], must_know_one: bool, path: &Path<'_>) {
    let known = REVIEW_VERSIONS.join(", ");
    if versions.is_empty() {
        let detail = format!("must specify one of {known}");
        return errors.push(Error::required(path, detail));
    }
    let mut seen = BTreeSet::new();
    for (n, version) in versions.iter().enumerate() {
        let path = path.index(n);
        if !seen.insert(version) {
            errors.push(Error::invalid(&path, version, "duplicate version"));
            continue;
        }
        for fault in names::dns1035_label(version.as_bytes()) {
            errors.push(Error::invalid(&path, version, fault));
        }
    }
    if must_know_one && !knows_review_version(versions) {
        let detail = format!("must include at least one of {known}");
        errors.push(Error::invalid(path, Json::from(versions.to_vec()), detail));
    }
}

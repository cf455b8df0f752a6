//! Policies, bindings and webhook configurations.

use gavel_apimachinery::serializer::{Decoded, StrictFaultKind};
use gavel_libraries::Server;
use gavel_manifest::{Document, Problem};
use gavel_policy::api::{
    DecodeError, MatchCondition, OWN_GROUP, Resource, RuleWithOperations, as_built_in,
};

use crate::context::Linter;
use crate::expressions::{Subject, problem};
use crate::kinds::{self, GROUPS, group_of, text};
use crate::rules::{SERVER_WARNING, UNKNOWN_FIELD};
use crate::{meant, policy, refusal, resources, strict, types};

/// Whether the linter checks a document as an object of one of the [`GROUPS`]. The API group may be missing or misspelled.
pub(crate) fn is_subject(document: &Document) -> bool {
    GROUPS.contains(&group_of(document)) || misspelled_group(document).is_some()
}

/// Decodes an object of one of the [`GROUPS`].
pub(crate) fn decode(document: &Document) -> Result<Decoded<Resource>, DecodeError> {
    match as_built_in(document.value()) {
        Some(built_in) => Resource::decode(&built_in),
        None => Resource::decode(document.value()),
    }
}

/// The group of the [`KINDS`] that the group of a document misspells.
pub(crate) fn misspelled_group(document: &Document) -> Option<&'static str> {
    let meant = kinds::misspelled_group(document, &GROUPS);
    meant.filter(|_| KINDS.contains(&text(document, "kind")))
}

/// The problems of fields that the kind of an object does not have.
pub(crate) fn unknown_fields(
    document: &Document,
    decoded: &Decoded<Resource>,
    server: Server,
) -> Vec<Problem> {
    let (version, kind) = (text(document, "apiVersion"), text(document, "kind"));
    // Duplicate keys were already reported when the document was read.
    let faults = decoded.strict.iter();
    let faults = faults.filter(|fault| fault.kind == StrictFaultKind::Unknown);
    let problems = faults.map(|fault| {
        let found = problem(document, &UNKNOWN_FIELD, &fault.field, fault.to_string());
        meant::unknown_field(found, version, kind, server)
    });
    problems.collect()
}

/// Reports the problems of a single object of `admissionregistration.k8s.io`.
pub(crate) fn check(linter: &Linter, document: &Document, problems: &mut Vec<Problem>) {
    let version = text(document, "apiVersion");
    let is_own = group_of(document) == OWN_GROUP;
    let is_of_other_version = is_own && version.strip_prefix(OWN_GROUP) != Some("/v1");
    let own = is_of_other_version.then_some(OWN_GROUP);
    if let Some(group) = own.or_else(|| misspelled_group(document)) {
        problems.push(strict::no_such_kind(document, group));
        return;
    }
    let decoded = match decode(document) {
        Ok(decoded) => decoded,
        Err(error) => {
            problems.push(undecodable(document, &error));
            return;
        }
    };
    strict::check_version(linter, document, problems);
    problems.extend(unknown_fields(document, &decoded, linter.server));
    let report = linter.validator.create(&decoded.object, None);
    for error in &report.errors {
        let found = refusal::refused(document, error);
        let found = meant::expression(found, &linter.new);
        let found = meant::in_policy(found, document);
        problems.push(newer(linter, &decoded.object, found));
    }
    // The other warnings are about rules of webhooks, as are those of `resources`.
    let reserved = report
        .warnings
        .iter()
        .filter_map(|warning| warning.split_once(": "));
    for (field, message) in reserved.filter(|(field, _)| *field == "metadata.name") {
        problems.push(problem(document, &SERVER_WARNING, field, message));
    }
    let refused = report.errors.iter().map(|error| error.field.as_str());
    let refused: Vec<&str> = refused.collect();
    match &decoded.object {
        Resource::ValidatingAdmissionPolicy(object) => {
            let constraints = object.spec.match_constraints.as_ref();
            let param_kind = object.spec.param_kind.as_ref();
            resources::check_policy(linter, document, constraints, param_kind, problems);
            policy::check_validating(linter, document, object, &refused, problems);
            let texts = policy::texts_of_validating(&object.spec);
            let analysis = linter.kinds.types.analyze(&**object);
            types::check(linter, document, &texts, &analysis, &refused, problems);
        }
        Resource::MutatingAdmissionPolicy(object) => {
            let constraints = object.spec.match_constraints.as_ref();
            let param_kind = object.spec.param_kind.as_ref();
            resources::check_policy(linter, document, constraints, param_kind, problems);
            policy::check_mutating(linter, document, object, &refused, problems);
            let texts = policy::texts_of_mutating(&object.spec);
            let analysis = linter.kinds.types.analyze(&**object);
            types::check(linter, document, &texts, &analysis, &refused, problems);
        }
        Resource::ValidatingWebhookConfiguration(object) => {
            let webhooks = object.webhooks.iter();
            let webhooks = webhooks.map(|each| (&each.rules[..], each.match_conditions.as_deref()));
            check_webhooks(linter, document, webhooks, problems);
        }
        Resource::MutatingWebhookConfiguration(object) => {
            let webhooks = object.webhooks.iter();
            let webhooks = webhooks.map(|each| (&each.rules[..], each.match_conditions.as_deref()));
            check_webhooks(linter, document, webhooks, problems);
        }
        Resource::ValidatingAdmissionPolicyBinding(_)
        | Resource::MutatingAdmissionPolicyBinding(_) => {}
    }
}

/// Checks the rules and match conditions of webhooks.
fn check_webhooks<'w>(
    linter: &Linter,
    document: &Document,
    webhooks: impl Iterator<Item = (&'w [RuleWithOperations], Option<&'w [MatchCondition]>)>,
    problems: &mut Vec<Problem>,
) {
    for (n, (rules, conditions)) in webhooks.enumerate() {
        let field = format!("webhooks[{n}]");
        let of_rules = format!("{field}.rules");
        resources::check_rules(linter, document, rules, &of_rules, problems);
        check_conditions(
            linter,
            document,
            conditions.unwrap_or_default(),
            &field,
            problems,
        );
    }
}

/// Checks the match conditions of a webhook, which have no variables and no params.
fn check_conditions(
    linter: &Linter,
    document: &Document,
    conditions: &[MatchCondition],
    webhook: &str,
    problems: &mut Vec<Problem>,
) {
    let compiler = gavel_policy::cel::Compiler::new(&linter.new);
    let declarations = gavel_policy::cel::Declarations::with_authorizer(false);
    for (n, condition) in conditions.iter().enumerate() {
        if let Ok(checked) = compiler.check(&condition.expression, declarations) {
            let subject = Subject {
                document,
                field: &format!("{webhook}.matchConditions[{n}].expression"),
                checked: &checked,
                decides: true,
            };
            subject.check(&linter.stored, problems);
        }
    }
}

/// The problem of an object that cannot be decoded, at the field that the error names.
fn undecodable(document: &Document, error: &DecodeError) -> Problem {
    let found = strict::undecodable(document, &error.field, error.plain());
    if !error.is_of_kind() {
        return found;
    }
    match gavel_manifest::nearest(text(document, "kind"), KINDS) {
        Some(meant) => found.with_help(format!("did you mean {meant}?")),
        None => found.with_help(
            "the group has policies and bindings in v1 and v1beta1, and webhook configurations in v1",
        ),
    }
}

/// The kinds of `admissionregistration.k8s.io` that the linter checks.
const KINDS: [&str; 6] = [
    "ValidatingAdmissionPolicy",
    "ValidatingAdmissionPolicyBinding",
    "MutatingAdmissionPolicy",
    "MutatingAdmissionPolicyBinding",
    "ValidatingWebhookConfiguration",
    "MutatingWebhookConfiguration",
];

/// Adds help to a problem with an invalid expression: the first later Kubernetes version that accepts the expression. Returns the problem
/// unchanged if it already has help, or if there is no such version.
fn newer(linter: &Linter, object: &Resource, found: Problem) -> Problem {
    if found.rule != crate::rules::INVALID_EXPRESSION.id || !found.help().is_empty() {
        return found;
    }
    match linter.first_version_without(object, &found.field) {
        Some(version) => found.with_help(format!(
            "Kubernetes {version} is the first that accepts the expression in new objects"
        )),
        None => found,
    }
}

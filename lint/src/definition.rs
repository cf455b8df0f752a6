//! CustomResourceDefinitions and their rules.

use std::collections::BTreeSet;

use gavel_apimachinery::meta::keep_system_fields;
use gavel_crd::definition::{Definition, RuleOutcome, RuleReport, written_field};
use gavel_golang::quote::quote;
use gavel_libraries::Server;
use gavel_manifest::{Document, Problem};
use gavel_schema::JsonSchema;

use crate::context::Linter;
use crate::expressions::path::{Aliases, FieldPath, Reads};
use crate::expressions::{Distinct, Subject, optional_fields, problem, without_copy};
use crate::kinds::{DEFINITIONS, is_definition, is_definition_of_misspelled_group};
use crate::messages::check_message;
use crate::refusal::refused;
use crate::rules::{DUPLICATE_VALIDATION, OVER_BUDGET, UNKNOWN_FIELD};
use crate::{bounds, builtin, contradictions, meant, schema_keywords, strict, stricter};

/// Whether a document is a definition. The API group may be missing or misspelled.
pub(crate) fn is_subject(document: &Document) -> bool {
    is_definition(document) || is_definition_of_misspelled_group(document)
}

/// Reports the problems of a definition.
pub(crate) fn check(linter: &Linter, document: &Document, problems: &mut Vec<Problem>) {
    if !is_definition(document) {
        problems.push(strict::no_such_kind(document, DEFINITIONS));
        return;
    }
    let Some(definition) = read(document, linter.server, problems) else {
        return;
    };
    let (errors, reports) = definition.validate_with_rules(&linter.rules);
    let mut versions = definition.spec.versions.iter();
    let schema = versions.find_map(|version| definition.schema(&version.name));
    for error in &errors {
        let found = refused(document, error);
        let found = meant::expression(found, &linter.new);
        problems.push(meant::in_definition(found, schema));
    }
    let over_budget: Vec<String> = problems
        .iter()
        .filter(|problem| problem.rule == OVER_BUDGET.id)
        .map(|problem| problem.field.to_string())
        .collect();
    let has_refused = |path: &str| {
        errors
            .iter()
            .any(|error| error.field.starts_with(path) && !over_budget.contains(&error.field))
    };
    for report in &reports {
        let of_nodes = report
            .rules
            .chunk_by(|one, other| list(&one.path) == list(&other.path));
        for rules in of_nodes {
            let mut siblings = Siblings::of(rules);
            for each in rules.iter().filter(|each| !has_refused(&each.path)) {
                check_rule(linter, document, each, &mut siblings, problems);
            }
        }
        bounds::check(linter, document, &definition, report, problems);
    }
    contradictions::check(document, &definition, linter.server, problems);
}

/// The path of the list that a rule is in; `rule` is the path of the rule.
fn list(rule: &str) -> Option<&str> {
    let (list, _) = rule.rsplit_once('[')?;
    Some(list)
}

/// The rules of one schema node.
struct Siblings<'r> {
    /// The rules before the current one, with their paths.
    before: Distinct<'r, String>,
    /// The fields whose absence makes one of the rules fail.
    required: BTreeSet<FieldPath>,
}

impl<'r> Siblings<'r> {
    fn of(rules: &'r [RuleReport<'_>]) -> Self {
        let trees = rules.iter().filter_map(|rule| rule.outcome.as_ref().ok());
        let trees = trees.filter_map(|outcome| outcome.trees.rule.as_ref());
        Siblings {
            before: Distinct::new(),
            required: trees.flat_map(schema_keywords::required).collect(),
        }
    }
}

/// The problems of fields that definitions of version v1 do not have.
pub(crate) fn unknown_fields(document: &Document, server: Server) -> impl Iterator<Item = Problem> {
    let unknown = Definition::unknown_fields(document.value()).into_iter();
    unknown.map(move |field| {
        let message = format!("unknown field {}", quote(&field));
        let found = problem(document, &UNKNOWN_FIELD, &field, message);
        let (version, kind) = ("apiextensions.k8s.io/v1", "CustomResourceDefinition");
        meant::unknown_field(found, version, kind, server)
    })
}

/// Decodes a definition as strictly as the API server does, and reports what is wrong. `None` if it cannot be decoded.
fn read(document: &Document, server: Server, problems: &mut Vec<Problem>) -> Option<Definition> {
    let read = Definition::read(document.value());
    // The fields of another version are not those of v1.
    let is_of_other_version = matches!(&read, Err(error) if error.field == "apiVersion");
    if !is_of_other_version {
        problems.extend(unknown_fields(document, server));
    }
    match read {
        Ok(definition) => Some(definition.without_namespace()),
        Err(error) => {
            problems.push(strict::undecodable(document, &error.field, error.message));
            None
        }
    }
}

/// Reports the problems of a rule that the API server accepts.
fn check_rule<'r>(
    linter: &Linter,
    document: &Document,
    report: &'r RuleReport<'_>,
    siblings: &mut Siblings<'r>,
    problems: &mut Vec<Problem>,
) {
    let Ok(RuleOutcome { trees, .. }) = &report.outcome else {
        return;
    };
    let path = written_field(&report.path);
    check_message(
        document,
        &path,
        &report.rule.message,
        &report.rule.message_expression,
        problems,
    );
    let field = format!("{path}.messageExpression");
    if let Some(checked) = &trees.message {
        let subject = Subject {
            document,
            field: &field,
            checked,
            decides: false,
        };
        subject.check(&linter.stored, problems);
    }
    let Some(checked) = &trees.rule else { return };
    let field = format!("{path}.rule");
    let subject = Subject {
        document,
        field: &field,
        checked,
        decides: true,
    };
    subject.check(&linter.stored, problems);
    let is_root = report
        .path
        .contains("openAPIV3Schema.x-kubernetes-validations");
    let is_object = is_root || report.schema.embedded_resource;
    let required = &siblings.required;
    check_optional(&subject, report.schema, required, is_object, problems);
    schema_keywords::check(&subject, report, problems);
    let path = path.into_owned();
    if let Some(known) = siblings.before.add(checked.ast().root(), path) {
        let message = format!("the rule is the same as {known}");
        let found = problem(document, &DUPLICATE_VALIDATION, &field, message);
        let known = format!("{known}.rule");
        problems.push(without_copy(found, document, [&known, &field]));
    }
}

fn check_optional(
    subject: &Subject<'_>,
    schema: &JsonSchema,
    required: &BTreeSet<FieldPath>,
    is_object: bool,
    problems: &mut Vec<Problem>,
) {
    let reads = Reads::of(subject.checked, &Aliases::new());
    let root = |variable: &str| matches!(variable, "self" | "oldSelf").then_some(schema);
    let is_set = |path: &[smol_str::SmolStr]| is_object && builtin::is_set_in_objects(path);
    for (expr, path) in optional_fields(&reads, required, &root, &is_set) {
        problems.push(subject.optional(expr, path));
    }
}

/// Reports the problems of a definition that replaces an older one.
pub(crate) fn check_update(linter: &Linter, document: &Document, old: &Document) -> Vec<Problem> {
    let read = |document: &Document| Definition::read(document.value());
    let (Ok(definition), Ok(before)) = (read(document), read(old)) else {
        return Vec::new();
    };
    let mut definition = definition.without_namespace();
    // Manifests do not tell whether the older definition is established, but definitions in a cluster are.
    let before = before.without_namespace().established();
    keep_system_fields(&mut definition.metadata, &before.metadata);
    let mut problems = Vec::new();
    let alone = definition.validate(&linter.rules);
    let errors = definition.validate_update(&before, &linter.rules);
    for error in errors.iter().filter(|error| !alone.contains(error)) {
        problems.push(refused(document, error));
    }
    stricter::check(document, &definition, &before, &mut problems);
    problems
}

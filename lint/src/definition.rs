//! CustomResourceDefinitions and their rules.

use gavel_apimachinery::field::Error;
use gavel_crd::definition::{Definition, RuleOutcome, RuleReport, written_field};
use gavel_crd::rule::{self, Age};
use gavel_engine::check::CheckedAst;
use gavel_golang::quote::quote;
use gavel_manifest::{Document, Problem};
use gavel_schema::JsonSchema;

use crate::context::Linter;
use crate::expressions::path::{Aliases, Reads};
use crate::expressions::{Subject, is_same, optional_fields, problem, shown};
use crate::kinds::{is_definition, pointer};
use crate::messages::check_message;
use crate::refusal::refused;
use crate::rules::{
    DUPLICATE_VALIDATION, INVALID_OBJECT, OPTIONAL_FIELD, OVER_BUDGET, UNKNOWN_FIELD,
};
use crate::{bounds, builtin, meant, said_by_schema, stricter};

/// Whether a document is a definition.
pub(crate) fn is_subject(document: &Document) -> bool {
    is_definition(document)
}

/// Finds what is wrong with a definition.
pub(crate) fn check(linter: &Linter, document: &Document, problems: &mut Vec<Problem>) {
    let Some(definition) = read(document, problems) else {
        return;
    };
    let errors = definition.validate(&linter.rules);
    for error in &errors {
        let found = refused(document, error);
        problems.push(meant::function(found, &linter.new));
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
    for report in definition.rules(&linter.rules, Age::New) {
        let mut before: Vec<(String, CheckedAst)> = Vec::new();
        for each in &report.rules {
            if has_refused(&each.path) {
                continue;
            }
            check_rule(linter, document, each, &mut before, problems);
        }
        bounds::check(linter, document, &definition, &report, problems);
    }
}

/// Decodes a definition, as strictly as the API server does.
fn read(document: &Document, problems: &mut Vec<Problem>) -> Option<Definition> {
    for field in Definition::unknown_fields(document.value()) {
        let message = format!("unknown field {}", quote(&field));
        let found = problem(document, &UNKNOWN_FIELD, &field, message);
        let found =
            meant::unknown_field(found, "apiextensions.k8s.io/v1", "CustomResourceDefinition");
        problems.push(found);
    }
    match Definition::read(document.value()) {
        Ok(definition) => Some(definition),
        Err(error) => {
            let message = error.to_string();
            let field = message.split_once(": ").map(|(field, _)| field.to_owned());
            let field = field.filter(|field| document.value().pointer(&pointer(field)).is_some());
            let field = field.unwrap_or_default();
            problems.push(problem(document, &INVALID_OBJECT, &field, message));
            None
        }
    }
}

/// Finds what is wrong with a rule that the API server accepts. `before` has the rules that came before.
fn check_rule(
    linter: &Linter,
    document: &Document,
    report: &RuleReport<'_>,
    before: &mut Vec<(String, CheckedAst)>,
    problems: &mut Vec<Problem>,
) {
    let Ok(RuleOutcome { node, .. }) = &report.outcome else {
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
    let checked = rule::check(report.rule, report.schema, node, &linter.rules, Age::New);
    let field = format!("{path}.messageExpression");
    if let Some(Ok(checked)) = &checked.message {
        let subject = Subject {
            document,
            field: &field,
            checked,
            decides: false,
        };
        subject.check(problems);
    }
    let Ok(checked) = checked.rule else { return };
    let field = format!("{path}.rule");
    let subject = Subject {
        document,
        field: &field,
        checked: &checked,
        decides: true,
    };
    subject.check(problems);
    let is_root = report
        .path
        .contains("openAPIV3Schema.x-kubernetes-validations");
    let is_object = is_root || report.schema.embedded_resource;
    check_optional(&subject, report.schema, is_object, problems);
    said_by_schema::check(&subject, report, problems);
    let list = |path: &str| path.rsplit_once('[').map(|(list, _)| list.to_owned());
    let same = before
        .iter()
        .rev()
        .take_while(|(known, _)| list(known) == list(&path));
    let mut same = same.filter(|(_, known)| is_same(known.ast().root(), checked.ast().root()));
    if let Some((known, _)) = same.next() {
        let message = format!("the rule is the same as {known}");
        problems.push(problem(document, &DUPLICATE_VALIDATION, &field, message));
    }
    before.push((path.into_owned(), checked));
}

fn check_optional(
    subject: &Subject<'_>,
    schema: &JsonSchema,
    is_object: bool,
    problems: &mut Vec<Problem>,
) {
    let reads = Reads::of(subject.checked, &Aliases::new());
    let root = |variable: &str| matches!(variable, "self" | "oldSelf").then_some(schema);
    let is_set = |path: &[smol_str::SmolStr]| is_object && builtin::is_set_in_objects(path);
    for (expr, path) in optional_fields(&reads, &[], &root, &is_set) {
        let path = shown(path);
        let message = format!("`{path}` is optional and may be absent");
        let found = subject.problem(&OPTIONAL_FIELD, expr, message);
        problems.push(found.with_help(format!("ask with `has({path})` first")));
    }
}

/// Finds what is wrong with a definition that takes the place of an older one.
pub(crate) fn check_update(linter: &Linter, document: &Document, old: &Document) -> Vec<Problem> {
    let (Ok(definition), Ok(before)) = (
        Definition::read(document.value()),
        Definition::read(old.value()),
    ) else {
        return Vec::new();
    };
    let mut problems = Vec::new();
    let alone = definition.validate(&linter.rules);
    let errors = definition.validate_update(&before, &linter.rules);
    // Manifests say nothing of the version in which an object is stored, without which nothing is updated.
    let of_manifest = |error: &&Error| error.field != "metadata.resourceVersion";
    let errors = errors.iter().filter(of_manifest);
    for error in errors.filter(|error| !alone.contains(error)) {
        problems.push(refused(document, error));
    }
    stricter::check(document, &definition, &before, &mut problems);
    problems
}

//! The findings about an object, each with its file and position.

use gavel_check::Action;
use gavel_lint::rules::INVALID_OBJECT;
use gavel_manifest::{Document, Problem, Severity};

use super::Found;
use crate::findings::{Finding, Report, object_name, path_of};

/// The rule name of a denial that no finding of a policy explains: a namespace is missing, or a mutating policy failed.
const ADMISSION: &str = "admission";

/// Adds the findings about an object to the report, and a test case that fails if the object is denied.
pub(super) fn add(report: &mut Report, document: &Document, found: &Found) {
    let findings = of(document, found);
    let name = object_name(document.value());
    report.add_object(name, path_of(document.file()), findings);
}

/// Adds a problem of a policy or a definition.
pub(super) fn add_problem(report: &mut Report, problem: &Problem) {
    let finding = Finding {
        rule: INVALID_OBJECT.id.to_owned(),
        ..Finding::of(problem)
    };
    report.add(finding);
}

fn of(document: &Document, found: &Found) -> Vec<Finding> {
    let mut findings = Vec::new();
    let name = object_name(document.value());
    let problems = found.checked.problems.iter().chain(&found.checked.warnings);
    findings.extend(problems.map(|problem| Finding::of_object(document, problem)));
    let at_object = |rule: String, severity, message: &str| Finding {
        rule,
        severity,
        file: path_of(document.file()),
        range: Some(document.place().into()),
        message: format!("{name}: {message}"),
        help: String::new(),
        suggestion: None,
    };
    findings.extend(found.ruling.findings.iter().map(|finding| {
        let severity = match finding.action {
            Action::Deny => Severity::Error,
            Action::Warn => Severity::Warning,
            Action::Audit => Severity::Note,
        };
        at_object(
            format!("policy/{}", finding.policy),
            severity,
            &finding.message,
        )
    }));
    if let Some(status) = found.unexplained() {
        findings.push(at_object(
            ADMISSION.to_owned(),
            Severity::Error,
            &status.message,
        ));
    }
    findings
}

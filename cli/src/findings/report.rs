//! The results of a run, for output formats that programs read: findings with files and positions, and test cases that passed or failed.

use std::path::Path;

use gavel_engine::value::Json;
use gavel_manifest::{Document, Problem, Range, Severity, Suggestion};

use super::message_of;

/// The results of a run, for output formats that programs read.
#[derive(Debug)]
pub(crate) struct Report {
    /// The name of the command, such as `gavel lint`.
    pub(crate) name: &'static str,
    /// The findings, in order.
    pub(crate) findings: Vec<Finding>,
    /// The test cases, in order: one for each object, test or finding.
    pub(crate) cases: Vec<Case>,
    /// The inputs that could not be used; set when the report is written.
    pub(super) unusable: Vec<Finding>,
}

/// A finding.
#[derive(Debug, Clone)]
pub(crate) struct Finding {
    /// The name of the rule, such as `failed-test`. A finding of a policy has the rule `policy/NAME`, with the name of the policy.
    pub(crate) rule: String,
    /// The severity.
    pub(crate) severity: Severity,
    /// The file, as [`path_of`] formats it; empty if the finding has no file.
    pub(crate) file: String,
    /// The range in the file; `None` if it is unknown.
    pub(crate) range: Option<Range>,
    /// The message.
    pub(crate) message: String,
    /// The help text; can be empty.
    pub(crate) help: String,
    /// The suggested replacement.
    pub(crate) suggestion: Option<Suggestion>,
}

/// The result for an object, test or finding, as a test case that passed or failed.
#[derive(Debug, Clone, Default)]
pub(crate) struct Case {
    /// The file, as [`path_of`] formats it.
    pub(crate) file: String,
    /// The name of the test case.
    pub(crate) name: String,
    /// Why the test case failed; `None` if it passed or was skipped.
    pub(crate) failure: Option<Failure>,
    /// Why the test case was skipped.
    pub(crate) skipped: Option<String>,
    /// The messages of findings that are not errors; can be empty.
    pub(crate) output: String,
}

/// The reason why a test case failed.
#[derive(Debug, Clone)]
pub(crate) struct Failure {
    /// The rule, as in [`Finding::rule`].
    pub(crate) rule: String,
    /// The message of the first error.
    pub(crate) message: String,
    /// The messages of all errors, or a help text; can be empty.
    pub(crate) details: String,
}

impl Report {
    /// An empty report.
    pub(crate) fn new(name: &'static str) -> Self {
        Report {
            name,
            findings: Vec::new(),
            cases: Vec::new(),
            unusable: Vec::new(),
        }
    }

    /// Adds a finding that is not about an object, and a test case, which fails if the finding is an error.
    pub(crate) fn add(&mut self, finding: Finding) {
        self.cases.push(finding.case());
        self.findings.push(finding);
    }

    /// Adds the findings about an object, and a test case for the object. The test case fails if a finding is an error.
    pub(crate) fn add_object(&mut self, name: String, file: String, findings: Vec<Finding>) {
        let is_error = |finding: &&Finding| finding.severity == Severity::Error;
        let messages = |are_errors: bool| {
            let wanted = findings.iter().filter(|each| is_error(each) == are_errors);
            let messages: Vec<&str> = wanted.map(|each| each.message.as_str()).collect();
            messages.join("\n")
        };
        let first = findings.iter().find(is_error);
        self.cases.push(Case {
            file,
            name,
            failure: first.map(|first| Failure {
                rule: first.rule.clone(),
                message: first.message.clone(),
                details: messages(true),
            }),
            skipped: None,
            output: messages(false),
        });
        self.findings.extend(findings);
    }
}

/// The name of an object in reports: `Pod/web`.
pub(crate) fn object_name(object: &Json) -> String {
    let text = |pointer: &str| object.pointer(pointer).and_then(Json::as_str);
    let name = text("/metadata/name").or(text("/metadata/generateName"));
    let kind = text("/kind").unwrap_or_default();
    format!("{kind}/{}", name.unwrap_or_default())
}

impl Finding {
    /// Converts a problem to a finding.
    pub(crate) fn of(problem: &Problem) -> Self {
        Finding {
            rule: problem.rule.to_owned(),
            severity: problem.severity,
            file: path_of(problem.file.as_deref()),
            range: problem.range,
            message: message_of(problem),
            help: problem.help().to_owned(),
            suggestion: problem.suggestion().cloned(),
        }
    }

    /// Converts a problem of an object to a finding. The message of the finding names the object.
    pub(crate) fn of_object(document: &Document, problem: &Problem) -> Self {
        let finding = Finding::of(problem);
        Finding {
            message: format!("{}: {}", object_name(document.value()), finding.message),
            range: finding.range.or(Some(document.place().into())),
            ..finding
        }
    }

    /// The message and the help text.
    pub(super) fn text(&self) -> String {
        match self.help.as_str() {
            "" => self.message.clone(),
            help => format!("{}\n{help}", self.message),
        }
    }

    /// The finding as a test case, which fails if the finding is an error.
    pub(crate) fn case(&self) -> Case {
        let place = self.range.map(|range| range.start.to_string());
        let name = format!("{} {}", self.rule, place.unwrap_or_default());
        let is_error = self.severity == Severity::Error;
        let failure = is_error.then(|| Failure {
            rule: self.rule.clone(),
            message: self.message.clone(),
            details: self.help.clone(),
        });
        Case {
            file: self.file.clone(),
            name: name.trim_end().to_owned(),
            failure,
            skipped: None,
            output: match is_error {
                true => String::new(),
                false => format!("{}: {}", self.severity.name(), self.message),
            },
        }
    }
}

/// The path of a file in reports: `stdin` for standard input, and empty if there is no file.
pub(crate) fn path_of(path: Option<&Path>) -> String {
    let path = path.map(|path| path.display().to_string().replace('\\', "/"));
    match path.as_deref() {
        None => String::new(),
        Some("-") => "stdin".to_owned(),
        Some(path) => path.strip_prefix("./").unwrap_or(path).to_owned(),
    }
}

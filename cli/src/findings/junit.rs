//! Findings as JUnit XML: a suite for each file, a case for each finding; errors are failures.

use std::collections::BTreeMap;
use std::io::{self, Write};

use gavel_manifest::{Problem, Severity};
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use super::{Findings, message_of, path_of};

pub(super) fn write(findings: &Findings, out: &mut impl Write) -> io::Result<()> {
    let mut files: BTreeMap<String, Vec<&Problem>> = BTreeMap::new();
    for problem in &findings.problems {
        files.entry(path_of(problem)).or_default().push(problem);
    }
    let mut report = Report::new("gavel lint");
    for (file, problems) in files {
        let mut suite = TestSuite::new(file.as_str());
        suite.add_test_cases(problems.into_iter().map(case));
        report.add_test_suite(suite);
    }
    report.serialize(&mut *out).map_err(io::Error::other)?;
    writeln!(out)
}

fn case(problem: &Problem) -> TestCase {
    let place = problem.range.map(|range| range.start.to_string());
    let place = place.unwrap_or_default();
    let name = format!("{} {place}", problem.rule);
    let message = message_of(problem);
    let mut status = match problem.severity {
        Severity::Error => TestCaseStatus::non_success(NonSuccessKind::Failure),
        Severity::Warning | Severity::Note => TestCaseStatus::success(),
    };
    if problem.severity == Severity::Error {
        status.set_type(problem.rule).set_message(message.as_str());
        status.set_description(problem.help());
    }
    let mut case = TestCase::new(name.trim_end(), status);
    case.set_classname(path_of(problem));
    if problem.severity != Severity::Error {
        case.set_system_out(format!("{}: {message}", problem.severity.name()));
    }
    case
}

//! Writes the test cases of a report as JUnit XML, with one test suite for each file.

use std::collections::BTreeMap;
use std::io::{self, Write};

use quick_junit::{NonSuccessKind, TestCase, TestCaseStatus, TestSuite};

use super::{Case, Report};

pub(super) fn write(report: &Report, out: &mut impl Write) -> io::Result<()> {
    let mut files: BTreeMap<&str, Vec<&Case>> = BTreeMap::new();
    for case in &report.cases {
        files.entry(&case.file).or_default().push(case);
    }
    let mut written = quick_junit::Report::new(report.name);
    for (file, cases) in files {
        let mut suite = TestSuite::new(file);
        suite.add_test_cases(cases.into_iter().map(test_case));
        written.add_test_suite(suite);
    }
    written.serialize(&mut *out).map_err(io::Error::other)?;
    writeln!(out)
}

fn test_case(case: &Case) -> TestCase {
    let mut status = TestCaseStatus::success();
    if let Some(failure) = &case.failure {
        status = TestCaseStatus::non_success(NonSuccessKind::Failure);
        status.set_type(failure.rule.as_str());
        status.set_message(failure.message.as_str());
        status.set_description(failure.details.as_str());
    }
    let mut written = TestCase::new(case.name.as_str(), status);
    written.set_classname(case.file.as_str());
    if !case.output.is_empty() {
        written.set_system_out(case.output.as_str());
    }
    written
}

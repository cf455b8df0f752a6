//! Writes the test cases of a report as JUnit XML, with one test suite for each file. An input that could not be used is a test case with
//! an error; a test case that did not pass is a failure, unless it was skipped.

use std::collections::BTreeMap;
use std::io::{self, Write};

use quick_junit::{NonSuccessKind, TestCase, TestCaseStatus, TestSuite};

use super::{Case, Report};

pub(super) fn write(report: &Report, out: &mut impl Write) -> io::Result<()> {
    let mut files: BTreeMap<String, Vec<TestCase>> = BTreeMap::new();
    let mut add = |case: Case, kind| {
        // An input without a file is added to the suite of the command.
        let suite = match case.file.as_str() {
            "" => report.name.to_owned(),
            file => file.to_owned(),
        };
        let written = test_case(&case, &suite, kind);
        files.entry(suite).or_default().push(written);
    };
    for case in &report.cases {
        add(case.clone(), NonSuccessKind::Failure);
    }
    for input in &report.unusable {
        add(input.case(), NonSuccessKind::Error);
    }
    let mut written = quick_junit::Report::new(report.name);
    for (file, cases) in files {
        let mut suite = TestSuite::new(file);
        suite.add_test_cases(cases);
        written.add_test_suite(suite);
    }
    // `Report::serialize` would hide the kind of an error of `out`.
    let text = written.to_string().map_err(io::Error::other)?;
    // XML 1.0 forbids these two characters, too; `quick_junit` leaves out only control characters.
    let text = text.replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}");
    writeln!(out, "{text}")
}

/// A test case of a suite. If it did not pass, the result is of the given kind.
fn test_case(case: &Case, suite: &str, kind: NonSuccessKind) -> TestCase {
    let mut status = TestCaseStatus::success();
    if let Some(reason) = &case.skipped {
        status = TestCaseStatus::skipped();
        status.set_message(reason.as_str());
    }
    if let Some(failure) = &case.failure {
        status = TestCaseStatus::non_success(kind);
        status.set_type(failure.rule.as_str());
        status.set_message(failure.message.as_str());
        status.set_description(failure.details.as_str());
    }
    let mut written = TestCase::new(case.name.as_str(), status);
    written.set_classname(suite);
    if !case.output.is_empty() {
        written.set_system_out(case.output.as_str());
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_that_xml_forbids_are_replaced() {
        let mut report = Report::new("gavel check");
        report.cases.push(Case {
            name: "a\u{fffe}b\u{ffff}".to_owned(),
            ..Case::default()
        });
        let mut out = Vec::new();
        write(&report, &mut out).unwrap();
        let out = String::from_utf8(out).unwrap();
        assert!(out.contains("\"a\u{fffd}b\u{fffd}\""), "{out}");
        assert!(!out.contains(['\u{fffe}', '\u{ffff}']), "{out}");
    }
}

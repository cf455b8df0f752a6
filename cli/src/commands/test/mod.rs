//! `gavel test`: runs tests of policies and of CustomResourceDefinitions.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::builder::styling::{AnsiColor, Style};
use gavel_check::suite::{Difference, Files, Skipped, Suite, Test};
use gavel_engine::value::Json;
use gavel_manifest::{Document, Place, Problem};
use serde_json::json;

use crate::args::TestArgs;
use crate::exit_code::Exit;
use crate::findings::{Finding, Format, Report, path_of};
use crate::input;
use crate::manifests::Manifests;
use crate::progress::Progress;
use crate::report::{self, visible};

mod coverage;
mod failures;
mod init;

use coverage::{Coverage, name_of};

const PASSED: Style = AnsiColor::Green.on_default().bold();
const FAILED: Style = AnsiColor::Red.on_default().bold();
const SKIPPED: Style = AnsiColor::Yellow.on_default().bold();

/// Runs the tests that the arguments name.
pub(crate) fn run(args: &TestArgs) -> io::Result<Exit> {
    write(args, Box::new(anstream::AutoStream::auto(io::stdout())))
}

/// Like [`run`], but prints to `out`.
pub(super) fn write(args: &TestArgs, mut out: Box<dyn Write>) -> io::Result<Exit> {
    let mut manifests = Manifests::new(args.folders.clone(), Progress::new(false));
    if let Some(policy) = &args.init {
        return init::run(policy, args, &mut manifests, &mut out);
    }
    let mut run = TestRun {
        args,
        out,
        passed: 0,
        failed: 0,
        skipped: 0,
        coverage: Coverage::default(),
        report: Report::new("gavel test"),
    };
    let mut suites = 0_usize;
    for document in manifests.objects(&args.paths) {
        if !Suite::is_suite(document.value()) {
            continue;
        }
        let path = document.file().map(Path::to_owned).unwrap_or_default();
        suites = suites.saturating_add(1);
        match Suite::read(&document, args.kubernetes_version.into(), &Beside(&path)) {
            Ok(suite) => {
                manifests.report_all(suite.problems.clone());
                run.warn(&suite.warnings);
                run.suite(&document, &suite)?;
            }
            Err(problems) => manifests.report_all(problems),
        }
    }
    let ran = run.passed.saturating_add(run.failed);
    if ran == 0 && !manifests.unusable() {
        match &args.filter {
            _ if run.skipped > 0 => manifests.complain(format!(
                "no test ran; {} skipped: Gavel only evaluates ValidatingAdmissionPolicies and MutatingAdmissionPolicies",
                report::count(run.skipped, "test")
            )),
            Some(filter) => {
                manifests.complain(format!("no test ran: no test has {filter:?} in its name"));
            }
            None if suites > 0 => manifests.complain("no test ran: the test files have no tests"),
            None => manifests.complain_of_nothing(
                "no test ran: no file has the kind PolicyTest, or is a test of kaptest or kyverno; `gavel test --init FILE` prints tests \
                 for the policies and definitions in FILE",
            ),
        }
    }
    if args.output == Format::Text && ran > 0 {
        let tests = report::count(ran, "test");
        let skipped = match run.skipped {
            0 => String::new(),
            skipped => format!(", {skipped} skipped"),
        };
        report::summary(&format!("{tests}, {} failed{skipped}", run.failed));
    }
    let least = args.coverage_threshold.unwrap_or(0);
    let mut uncovered = None;
    if args.coverage && run.coverage.percent() < u64::from(least) {
        let mut missing = Vec::new();
        run.coverage.write(&mut missing)?;
        let problem = Problem::new("coverage", format!("less than {least} % is covered"));
        uncovered = Some(problem.with_help(String::from_utf8_lossy(&missing).trim_end()));
    }
    if let Some(uncovered) = &uncovered {
        run.report.add(Finding::of(uncovered));
    }
    if let Some(path) = &args.lcov {
        manifests.write(path, &run.coverage.lcov());
    }
    if let Some(path) = &args.html {
        manifests.write(path, &run.coverage.html());
    }
    let report = std::mem::replace(&mut run.report, Report::new("gavel test"));
    report.finish(args.output, manifests.problems(), &mut run.out)?;
    let mut wrong = run.failed;
    if args.coverage && ran > 0 {
        run.report_coverage()?;
    }
    if let Some(uncovered) = uncovered {
        report::complain(&uncovered);
        wrong = wrong.saturating_add(1);
    }
    run.out.flush()?;
    Ok(manifests.exit(wrong))
}

/// One run of the command.
struct TestRun<'a> {
    args: &'a TestArgs,
    out: Box<dyn Write>,
    passed: usize,
    failed: usize,
    skipped: usize,
    coverage: Coverage,
    /// The results, for output formats that are written at the end of the run.
    report: Report,
}

/// The outcome of a test.
struct Outcome<'t> {
    test: &'t Test,
    /// The file of the test suite.
    file: &'t Path,
    /// The position of the test in the file.
    place: Place,
    differences: Vec<Difference>,
    /// Why the test could not run; `None` if it ran.
    error: Option<String>,
}

impl Outcome<'_> {
    fn passes(&self) -> bool {
        self.differences.is_empty() && self.error.is_none()
    }
}

impl TestRun<'_> {
    /// Prints the warnings of a suite to standard error, or adds them to the report, if the output format has findings.
    fn warn(&mut self, warnings: &[Problem]) {
        match self.args.output {
            Format::Text | Format::Json => warnings.iter().for_each(report::warning),
            Format::Sarif | Format::Junit | Format::Github => {
                for warning in warnings {
                    self.report.add(Finding::of(warning));
                }
            }
        }
    }

    fn suite(&mut self, document: &Document, suite: &Suite) -> io::Result<()> {
        let filter = self.args.filter.as_deref().unwrap_or_default();
        let server = self.args.kubernetes_version.into();
        let tests = suite.tests.iter();
        let tests = tests.filter(|test| test.name.contains(filter));
        for test in tests.clone().filter(|_| self.args.coverage) {
            self.coverage.expect(test, server);
        }
        for test in tests {
            let outcome = self.test(document, test);
            let count = match outcome.passes() {
                true => &mut self.passed,
                false => &mut self.failed,
            };
            *count = count.saturating_add(1);
            self.report_outcome(&outcome)?;
        }
        let skipped = suite.skipped.iter();
        for test in skipped.filter(|test| test.name.contains(filter)) {
            self.skipped = self.skipped.saturating_add(1);
            self.report_skipped(document, test)?;
        }
        Ok(())
    }

    fn test<'t>(&mut self, document: &'t Document, test: &'t Test) -> Outcome<'t> {
        let server = self.args.kubernetes_version.into();
        let (differences, error) = match test.run(server, report::written) {
            Ok(found) => {
                self.coverage.note(test, &found.steps);
                if let Some((definition, validated)) = test.definition().zip(found.validated) {
                    self.coverage.note_rules(definition, &validated);
                }
                if self.args.coverage {
                    self.note_conditions(test);
                }
                (found.differences, None)
            }
            Err(error) => (Vec::new(), Some(error)),
        };
        Outcome {
            test,
            file: document.file().unwrap_or(Path::new("-")),
            place: document.place_of(&test.field),
            differences,
            error,
        }
    }

    /// Records the outcomes of the conditions within the validations of policies and within the rules of the object's definition.
    fn note_conditions(&mut self, test: &Test) {
        let server = self.args.kubernetes_version.into();
        // The test ran, so that its policies and its definition have no problems.
        for policy in test.policies() {
            if let Ok(found) = test.conditions(server, name_of(policy)) {
                self.coverage.note_conditions(policy, found);
            }
        }
        let definition = test.definition();
        if let Some(definition) = definition.filter(|each| self.coverage.counts_rules(each))
            && let Ok(found) = test.conditions_of_rules(server)
        {
            self.coverage.note_conditions(definition, found);
        }
    }

    fn report_outcome(&mut self, outcome: &Outcome<'_>) -> io::Result<()> {
        let file = outcome.file.display().to_string();
        match self.args.output {
            Format::Json => {
                let line = json!({
                    "file": path_of(Some(outcome.file)),
                    "line": outcome.place.line,
                    "test": outcome.test.name,
                    "passed": outcome.passes(),
                    "skipped": Json::Null,
                    "error": outcome.error,
                    "differences": outcome.differences.iter().map(written).collect::<Vec<Json>>(),
                });
                writeln!(self.out, "{}", gavel_apimachinery::json::to_string(&line))
            }
            Format::Text => {
                let verdict = match outcome.passes() {
                    true => format!("{PASSED}ok{PASSED:#}    "),
                    false => format!("{FAILED}FAILED{FAILED:#}"),
                };
                writeln!(
                    self.out,
                    "{verdict} {}: {}",
                    visible(&file),
                    visible(&outcome.test.name)
                )?;
                for line in outcome.error.iter().flat_map(|error| error.lines()) {
                    writeln!(self.out, "    {}", visible(line))?;
                }
                for difference in &outcome.differences {
                    self.difference(difference)?;
                }
                Ok(())
            }
            Format::Sarif | Format::Junit | Format::Github => {
                failures::add(&mut self.report, outcome);
                Ok(())
            }
        }
    }

    fn report_skipped(&mut self, document: &Document, test: &Skipped) -> io::Result<()> {
        let file = document.file().unwrap_or(Path::new("-"));
        match self.args.output {
            Format::Json => {
                let line = json!({
                    "file": path_of(Some(file)),
                    "line": document.place_of(&test.field).line,
                    "test": test.name,
                    "passed": Json::Null,
                    "skipped": test.reason,
                    "error": Json::Null,
                    "differences": [],
                });
                writeln!(self.out, "{}", gavel_apimachinery::json::to_string(&line))
            }
            Format::Text => {
                let file = file.display().to_string();
                let (file, name) = (visible(&file), visible(&test.name));
                writeln!(self.out, "{SKIPPED}skipped{SKIPPED:#} {file}: {name}")?;
                writeln!(self.out, "    {}", visible(&test.reason))
            }
            Format::Sarif | Format::Junit | Format::Github => {
                failures::add_skipped(&mut self.report, document, test);
                Ok(())
            }
        }
    }

    /// Prints the coverage.
    fn report_coverage(&mut self) -> io::Result<()> {
        match self.args.output {
            Format::Text => self.coverage.write(&mut self.out)?,
            Format::Json => {
                let line = gavel_apimachinery::json::to_string(&self.coverage.json());
                writeln!(self.out, "{line}")?;
            }
            Format::Sarif | Format::Junit | Format::Github => {}
        }
        Ok(())
    }

    /// Prints the differences between the expected and the actual value, as `diff` does.
    fn difference(&mut self, difference: &Difference) -> io::Result<()> {
        writeln!(self.out, "    {}:", difference.what)?;
        let [expected, actual] = [&difference.expected, &difference.actual].map(lines);
        let diff = similar::TextDiff::from_lines(&expected, &actual);
        for change in diff.iter_all_changes() {
            let line = visible(change.value().trim_end_matches('\n')).to_string();
            let (sign, style) = match change.tag() {
                similar::ChangeTag::Delete => ('-', FAILED),
                similar::ChangeTag::Insert => ('+', PASSED),
                similar::ChangeTag::Equal => (' ', Style::new()),
            };
            writeln!(self.out, "      {style}{sign} {line}{style:#}")?;
        }
        Ok(())
    }
}

/// A value as YAML. A string is written without quotes, and null not at all.
fn lines(value: &Json) -> String {
    match value {
        Json::Null => String::new(),
        Json::String(text) => format!("{text}\n"),
        other => report::yaml::to_string(other),
    }
}

fn written(difference: &Difference) -> Json {
    let Difference {
        what,
        expected,
        actual,
    } = difference;
    json!({"what": what, "expected": expected, "actual": actual})
}

/// Reads files whose paths are relative to the folder of the given file.
pub(super) struct Beside<'p>(pub(super) &'p Path);

impl Files for Beside<'_> {
    fn objects(&self, path: &str) -> Result<Vec<Document>, String> {
        let folder = self.0.parent().unwrap_or(Path::new(""));
        let path: PathBuf = folder.join(path);
        let documents = input::all_documents(&path).map_err(|problems| input::lines(&problems))?;
        let objects = documents.into_iter().flat_map(Document::into_objects);
        Ok(objects.collect())
    }
}

#[cfg(test)]
mod tests;

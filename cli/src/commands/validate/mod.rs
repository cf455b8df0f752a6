//! `gavel validate`: validates custom resources against their definitions, as an API server does.

use std::io::{self, IsTerminal, Write};

use gavel_check::custom::{self, Checked, Key, KnownDefinitions, OldObjects, Taken};
use gavel_engine::value::Json;
use gavel_manifest::{Document, Problem};

use crate::args::ValidateArgs;
use crate::exit_code::Exit;
use crate::findings::{Finding, Format, Report, object_name, path_of};
use crate::manifests::Manifests;
use crate::progress::Progress;
use crate::report;

/// Validates the objects that the arguments name.
pub(crate) fn run(args: &ValidateArgs) -> io::Result<Exit> {
    let out = io::stdout().lock();
    // If JSON is written to a pipe, there is no progress bar.
    let progress = Progress::new(args.output == Format::Text || out.is_terminal());
    let mut run = Run {
        args,
        out,
        manifests: Manifests::new(args.folders.clone(), progress),
        objects: 0,
        invalid: 0,
        refused: 0,
        passed_over: 0,
        report: Report::new("gavel validate"),
    };
    let definitions = run.definitions()?;
    let old = run.manifests.objects(&args.old);
    let old = OldObjects::new(old, &args.namespace);
    let objects = run.manifests.objects(&args.objects);
    run.manifests.progress().expect(objects.len());
    for document in objects {
        run.object(&document, &definitions, &old)?;
        run.manifests.progress().step();
    }
    run.manifests.progress().end();
    if run.objects == 0 && run.refused == 0 && !run.manifests.unusable() {
        let message = "nothing was validated: no object is of a kind with a definition";
        run.manifests.complain(message);
    }
    run.report
        .finish(args.output, run.manifests.problems(), &mut run.out)?;
    run.out.flush()?;
    // If nothing was validated, an error was printed instead of the summary.
    if args.output == Format::Text && (run.objects > 0 || run.refused > 0) {
        let objects = report::count(run.objects, "object");
        let mut summary = format!("{objects}, {} invalid", run.invalid);
        if run.passed_over > 0 {
            summary.push_str(&format!(", {} without a definition", run.passed_over));
        }
        if run.refused > 0 {
            let refused = report::count(run.refused, "definition");
            summary.push_str(&format!("; {refused} invalid"));
        }
        report::summary(&summary);
    }
    Ok(run.manifests.exit(run.invalid.saturating_add(run.refused)))
}

/// One run of the command.
struct Run<'a> {
    args: &'a ValidateArgs,
    out: io::StdoutLock<'static>,
    manifests: Manifests,
    objects: usize,
    invalid: usize,
    /// The number of definitions that an API server would reject.
    refused: usize,
    /// The number of documents that `--ignore-missing-schemas` ignores.
    passed_over: usize,
    /// The findings, for output formats that are written at the end of the run.
    report: Report,
}

impl Run<'_> {
    fn definitions(&mut self) -> io::Result<KnownDefinitions> {
        let mut definitions = KnownDefinitions::default();
        for document in self.manifests.objects(&self.args.crd) {
            let server = self.args.kubernetes_version.into();
            match definitions.add(&document, server, self.args.validate.into()) {
                Ok(checked) => {
                    if !checked.is_valid() {
                        self.refused = self.refused.saturating_add(1);
                        self.print(&document, &checked)?;
                    }
                    self.warn(&checked);
                }
                Err(message) => self.manifests.refuse(&document, message),
            }
        }
        if definitions.is_empty() && !self.manifests.unusable() {
            let message = "--crd must name a CustomResourceDefinition, but there is none";
            self.manifests.complain(message);
        }
        Ok(definitions)
    }

    fn object(
        &mut self,
        document: &Document,
        definitions: &KnownDefinitions,
        old: &OldObjects,
    ) -> io::Result<()> {
        let key = match Key::of(document.value()) {
            Ok(key) => key,
            Err(message) => {
                self.pass_over(document, message);
                return Ok(());
            }
        };
        if definitions.is_refused(&key) {
            return Ok(());
        }
        let Some(definition) = definitions.find(&key) else {
            let message = format!(
                "no definition of {key} was given; name it with --crd, or skip such objects with --ignore-missing-schemas"
            );
            self.pass_over(document, message);
            return Ok(());
        };
        let found = old.find(&key);
        if found.is_none() && !old.is_empty() {
            let path = path_of(document.file());
            let name = object_name(document.value());
            report::warning(&format!(
                "{path}: {name} is not in --old, so it is validated as a new object"
            ));
        }
        let taken = Taken {
            namespace: &self.args.namespace,
            strictness: self.args.validate.into(),
            is_status: false,
            records_rules: false,
        };
        let checked = custom::check(document, found, &key, definition, taken);
        self.objects = self.objects.saturating_add(1);
        if !checked.is_valid() {
            self.invalid = self.invalid.saturating_add(1);
        }
        self.print(document, &checked)?;
        self.warn(&checked);
        Ok(())
    }

    /// Reports that no definition applies to an object. With `--ignore-missing-schemas`, only counts the object.
    fn pass_over(&mut self, document: &Document, message: String) {
        match self.args.ignore_missing_schemas {
            true => self.passed_over = self.passed_over.saturating_add(1),
            false => self.manifests.refuse(document, message),
        }
    }

    /// Prints the problems of an object or a definition. In the text format, each problem is one line.
    fn print(&mut self, document: &Document, checked: &Checked) -> io::Result<()> {
        let progress = self.manifests.progress();
        match (self.args.output, Key::of(document.value())) {
            (Format::Text, _) => {
                for problem in &checked.problems {
                    let line = problem.to_string();
                    progress.aside(|| writeln!(self.out, "{}", report::visible(&line)))?;
                }
            }
            (Format::Json, Ok(key)) => {
                let status = checked.status(document.value(), &key).into_object();
                // Serializing cannot fail: all keys of maps are strings.
                let mut status = serde_json::to_value(status).unwrap_or_default();
                if let Json::Object(status) = &mut status {
                    let warnings: Vec<String> =
                        checked.warnings.iter().map(Problem::text).collect();
                    status.insert("file".to_owned(), path_of(document.file()).into());
                    status.insert("line".to_owned(), document.place().line.into());
                    status.insert("warnings".to_owned(), warnings.into());
                }
                let line = gavel_apimachinery::json::to_string(&status);
                progress.aside(|| writeln!(self.out, "{line}"))?;
            }
            (Format::Json, Err(_)) => {}
            (Format::Sarif | Format::Junit | Format::Github, _) => {
                let problems = checked.problems.iter().chain(&checked.warnings);
                let findings = problems.map(|problem| Finding::of_object(document, problem));
                let name = object_name(document.value());
                let file = path_of(document.file());
                self.report.add_object(name, file, findings.collect());
            }
        }
        Ok(())
    }

    /// Prints warnings to standard error, if the output format does not contain them.
    fn warn(&mut self, checked: &Checked) {
        if !matches!(self.args.output, Format::Text | Format::Json) {
            return;
        }
        for warning in &checked.warnings {
            let progress = self.manifests.progress();
            progress.aside(|| report::warning(warning));
        }
    }
}

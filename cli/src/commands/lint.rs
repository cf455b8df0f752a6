//! `gavel lint`: finds mistakes in policies, definitions and other objects that contain expressions.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gavel_engine::value::Json;
use gavel_libraries::{KubeVersion, Server};
use gavel_lint::{Linter, Options, Selection, Suppressions};
use gavel_manifest::{Document, Problem, Severity};

use crate::args::LintArgs;
use crate::baseline::{self, Baseline};
use crate::config::{Config, LintConfig};
use crate::exit_code::Exit;
use crate::findings::{Findings, Format};
use crate::manifests::{Manifests, in_parallel, unusable};
use crate::progress::Progress;
use crate::{fix, input, report};

/// Lints the files that the arguments name.
pub(crate) fn run(args: &LintArgs) -> io::Result<Exit> {
    let progress = Progress::new(args.output == Format::Text);
    let mut manifests = Manifests::new(args.recursive, progress);
    let settings = match Settings::new(args) {
        Ok(settings) => settings,
        Err(problems) => {
            for problem in problems {
                manifests.report(problem);
            }
            Findings::default().print(args.output, manifests.problems())?;
            return Ok(Exit::Usage);
        }
    };
    let mut run = LintRun {
        findings: Findings::default(),
        suppressions: HashMap::new(),
        documents: Vec::new(),
    };
    let files = manifests.files(&args.all_paths());
    let count = files.len();
    for file in files {
        run.findings.add_text(&file.path, &file.text);
        let suppressions = Suppressions::read(&file.text);
        run.suppressions.insert(file.path, suppressions);
        run.findings.problems.extend(file.problems);
        run.documents.extend(file.objects);
    }
    let old = manifests.objects(&args.old);
    if !args.old.is_empty() && !old.iter().any(Linter::is_subject) {
        report::warning(&"--old: there is no older definition to compare with");
    }
    let examined = run.documents.iter().filter(|each| Linter::is_subject(each));
    let examined = examined.count();
    run.lint(&settings, &old, &mut manifests);
    manifests.progress().end();
    if examined == 0 && run.findings.problems.is_empty() && !manifests.unusable() {
        let files = report::count(count, "file");
        manifests.complain_of_nothing(&format!(
            "nothing to lint: {files} with no policy, binding, webhook configuration, definition or other object with expressions"
        ));
    }
    if let Some(path) = &args.write_baseline {
        std::fs::write(path, baseline::written(&run.findings.problems))?;
        let count = report::count(run.findings.problems.len(), "finding");
        report::summary(&format!("{}: {count}", path.display()));
        return Ok(manifests.exit(0));
    }
    if args.fix {
        run.fix()?;
    }
    if let Some(path) = &settings.baseline {
        match Baseline::read(path) {
            Ok(mut known) => run
                .findings
                .problems
                .retain(|problem| !known.takes(problem)),
            Err(problem) => manifests.report(problem),
        }
    }
    run.findings.print(args.output, manifests.problems())?;
    // If nothing was linted, an error was printed instead of the summary.
    let is_reported = examined == 0 && run.findings.problems.is_empty();
    if args.output == Format::Text && !is_reported {
        summarize(&run.findings, examined);
    }
    Ok(manifests.exit(run.findings.count(Severity::Error)))
}

fn summarize(findings: &Findings, examined: usize) {
    let objects = report::count(examined, "object");
    let errors = report::count(findings.count(Severity::Error), "error");
    let warnings = report::count(findings.count(Severity::Warning), "warning");
    let notes = report::count(findings.count(Severity::Note), "note");
    report::summary(&format!("{objects}: {errors}, {warnings}, {notes}"));
}

/// The settings from the arguments and from `gavel.yaml`.
struct Settings {
    selection: Selection,
    versions: Vec<KubeVersion>,
    options: Options,
    openapi: Vec<PathBuf>,
    baseline: Option<PathBuf>,
}

impl Settings {
    fn new(args: &LintArgs) -> Result<Self, Vec<Problem>> {
        let config = Config::read(args.config.as_deref())?;
        let LintConfig {
            select,
            ignore,
            deny,
            kubernetes_version,
            max_object,
            baseline,
            openapi,
        } = config.lint;
        let selection = Selection {
            select: [select, args.select.clone()].concat(),
            ignore: [ignore, args.ignore.clone()].concat(),
            deny: [deny, args.deny.clone()].concat(),
        };
        if let Some((name, meant)) = selection.unknown().first() {
            let hint = match meant {
                Some(meant) => format!("did you mean {meant}?"),
                None => "`gavel explain` lists all rules".to_owned(),
            };
            return Err(vec![unusable(format!("there is no rule {name:?}; {hint}"))]);
        }
        let versions = args.kubernetes_version.clone().or(kubernetes_version);
        let versions = versions.map_or_else(|| vec![KubeVersion::default()], |given| given.0);
        let defaults = Options::default();
        Ok(Settings {
            selection,
            versions,
            options: Options {
                max_object: args
                    .max_object
                    .or(max_object)
                    .unwrap_or(defaults.max_object),
                ..defaults
            },
            openapi: [openapi, args.openapi.clone()].concat(),
            baseline: args.baseline.clone().or(baseline),
        })
    }
}

struct LintRun {
    findings: Findings,
    suppressions: HashMap<Arc<Path>, Suppressions>,
    documents: Vec<Document>,
}

impl LintRun {
    /// Lints the documents for each Kubernetes version, and drops findings that are not selected or are suppressed.
    fn lint(&mut self, settings: &Settings, old: &[Document], manifests: &mut Manifests) {
        let mut openapi = read_openapi(&settings.openapi, manifests);
        let mut found: Vec<(Problem, Vec<KubeVersion>)> = Vec::new();
        for version in &settings.versions {
            let options = Options {
                server: Server::new(*version),
                ..settings.options
            };
            let Some(linter) = self.linter(&options, &mut openapi, manifests) else {
                continue;
            };
            for problem in self.of_version(&linter, old, manifests) {
                // If one version reports the same problem twice, both occurrences stay separate entries.
                let known = found.iter_mut().find(|(known, versions)| {
                    *known == problem && versions.last() != Some(version)
                });
                match known {
                    Some((_, versions)) => versions.push(*version),
                    None => found.push((problem, vec![*version])),
                }
            }
        }
        let all = settings.versions.len();
        let problems = found.into_iter().map(|(problem, versions)| {
            if versions.len() == all {
                return problem;
            }
            let versions: Vec<_> = versions.iter().map(ToString::to_string).collect();
            let message = format!("{} (Kubernetes {})", problem.message, versions.join(", "));
            Problem { message, ..problem }
        });
        self.findings.problems.extend(problems);
        settings.selection.apply(&mut self.findings.problems);
        let suppressions = &self.suppressions;
        self.findings.problems.retain(|problem| {
            let file = problem.file.as_ref();
            let of_file = file.and_then(|file| suppressions.get(file));
            !of_file.is_some_and(|suppressions| suppressions.cover(problem))
        });
        self.findings
            .problems
            .sort_by(|one, other| (&one.file, one.range).cmp(&(&other.file, other.range)));
    }

    /// A linter that knows the kinds of the OpenAPI documents. A document that the linter cannot use is reported and removed from
    /// `openapi`, so that it is reported only once. `None` if the linter itself cannot be made; the error is reported.
    fn linter(
        &self,
        options: &Options,
        openapi: &mut Vec<(PathBuf, Json)>,
        manifests: &mut Manifests,
    ) -> Option<Linter> {
        let mut linter = match Linter::new(options, &self.documents) {
            Ok(linter) => linter,
            Err(error) => {
                manifests.complain(error.to_string());
                return None;
            }
        };
        openapi.retain(|(path, document)| match linter.add_openapi(document) {
            Ok(()) => true,
            Err(message) => {
                manifests.report(Problem::unreadable(path, message));
                false
            }
        });
        Some(linter)
    }

    fn of_version(
        &self,
        linter: &Linter,
        old: &[Document],
        manifests: &mut Manifests,
    ) -> Vec<Problem> {
        manifests.progress().expect(self.documents.len());
        let mut problems: Vec<Problem> = Vec::new();
        for of_document in in_parallel(&self.documents, |document| {
            let mut problems = linter.document(document);
            let older = old.iter().find(|old| is_same_object(old, document));
            problems.extend(
                older
                    .map(|old| linter.update(document, old))
                    .into_iter()
                    .flatten(),
            );
            problems
        }) {
            problems.extend(of_document);
            manifests.progress().step();
        }
        problems.extend(linter.references(&self.documents));
        problems
    }

    /// Writes the fixes into the files.
    fn fix(&mut self) -> io::Result<()> {
        let before = self.findings.problems.len();
        let (files, left) = fix::fixed(&self.findings);
        for (path, text) in &files {
            std::fs::write(path, text)?;
        }
        let fixed = report::count(before.saturating_sub(left.len()), "finding");
        let files = report::count(files.len(), "file");
        let why = match self.findings.problems.len() == left.len() && !left.is_empty() {
            true => ": only findings with a single correct fix are fixed",
            false => "",
        };
        report::summary(&format!("fixed {fixed} in {files}{why}"));
        self.findings.problems = left;
        Ok(())
    }
}

/// The OpenAPI documents of files.
fn read_openapi(paths: &[PathBuf], manifests: &mut Manifests) -> Vec<(PathBuf, Json)> {
    let mut documents = Vec::new();
    for path in paths {
        match input::document(path) {
            Ok(document) => documents.push((path.clone(), document)),
            Err(problem) => manifests.report(problem),
        }
    }
    documents
}

fn is_same_object(one: &Document, other: &Document) -> bool {
    ["/kind", "/metadata/name"]
        .iter()
        .all(|pointer| one.value().pointer(pointer) == other.value().pointer(pointer))
}

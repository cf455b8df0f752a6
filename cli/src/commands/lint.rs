//! `gavel lint`: finds mistakes in policies, definitions and other objects that contain expressions.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gavel_check::Role;
use gavel_check::custom::{Key, OldObjects};
use gavel_engine::value::Json;
use gavel_libraries::{KubeVersion, Server};
use gavel_lint::{Linter, Options, Selection, Suppressions};
use gavel_manifest::{Document, Problem, Severity, Source};
use glob::Pattern;
use indexmap::IndexMap;

use crate::args::LintArgs;
use crate::baseline::{self, Baseline};
use crate::config::{Config, LintConfig, unknown_rules};
use crate::exit_code::Exit;
use crate::findings::{Findings, Format};
use crate::manifests::{ManifestFile, Manifests, in_parallel, unusable};
use crate::progress::Progress;
use crate::{fix, input, report};

/// Lints the files that the arguments name.
pub(crate) fn run(args: &LintArgs) -> io::Result<Exit> {
    let progress = Progress::new(args.output == Format::Text);
    let mut manifests = Manifests::new(args.folders.clone(), progress);
    let settings = match Settings::new(args) {
        Ok(settings) => settings,
        Err(problems) => {
            manifests.report_all(problems);
            Findings::default().print(args.output, manifests.problems())?;
            return Ok(Exit::Usage);
        }
    };
    manifests.exclude(&settings.exclude);
    let mut run = LintRun::new(manifests.files(&args.all_paths()));
    let mut openapi = read_openapi(&settings.openapi, &mut manifests);
    let old = manifests.objects(&args.old);
    if !args.old.is_empty()
        && !old
            .iter()
            .any(|each| Role::of(each.value()) == Role::Definition)
    {
        report::warning(&"--old: there is no older definition to compare with");
    }
    // Definitions and policies have no namespace.
    let old = OldObjects::new(old, "");
    let examined = run.documents.iter().filter(|each| Linter::is_subject(each));
    let examined = examined.count();
    run.lint(&settings, &old, &mut openapi, &mut manifests);
    manifests.progress().end();
    if examined == 0 && run.findings.problems.is_empty() && !manifests.unusable() {
        let files = report::count(run.paths.len(), "file");
        manifests.complain_of_nothing(&format!(
            "nothing to lint: {files} with no policy, binding, webhook configuration, definition or other object with expressions"
        ));
    }
    if let Some(path) = &args.write_baseline {
        let baseline = baseline::written(path, &run.findings.problems);
        if manifests.write(path, &baseline) {
            let count = report::count(run.findings.problems.len(), "finding");
            report::summary(&format!("{}: {count}", path.display()));
        }
        Findings::default().print(args.output, manifests.problems())?;
        return Ok(manifests.exit(0));
    }
    if args.fix {
        run.fix(&settings, &old, &mut openapi, &mut manifests);
    }
    if let Some(path) = &settings.baseline {
        match Baseline::read(path) {
            Ok(mut known) => run
                .findings
                .problems
                .retain(|problem| !known.takes(problem)),
            Err(problems) => manifests.report_all(problems),
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
    exclude: Vec<Pattern>,
}

impl Settings {
    fn new(args: &LintArgs) -> Result<Self, Vec<Problem>> {
        if args.fix && args.all_paths().iter().any(|path| path.as_os_str() == "-") {
            let message = "--fix cannot change standard input; write the manifests to a file, and name the file";
            return Err(vec![unusable(message)]);
        }
        let config = Config::read(args.config.as_deref())?;
        let LintConfig {
            select,
            ignore,
            deny,
            kubernetes_version,
            max_object,
            baseline,
            exclude,
            openapi,
        } = config.lint;
        let selection = Selection {
            select: [select, args.select.clone()].concat(),
            ignore: [ignore, args.ignore.clone()].concat(),
            deny: [deny, args.deny.clone()].concat(),
        };
        let unknown = unknown_rules(&selection);
        if !unknown.is_empty() {
            return Err(unknown.into_iter().map(unusable).collect());
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
            exclude,
        })
    }
}

struct LintRun {
    findings: Findings,
    suppressions: HashMap<Arc<Path>, Suppressions>,
    documents: Vec<Document>,
    /// The files, in the order in which they were named.
    paths: Vec<Arc<Path>>,
}

/// The maximum number of times that `--fix` writes files: a fix may cause a finding with another fix.
const MOST_FIXES: usize = 10;

impl LintRun {
    fn new(files: Vec<ManifestFile>) -> Self {
        let mut run = LintRun {
            findings: Findings::default(),
            suppressions: HashMap::new(),
            documents: Vec::new(),
            paths: Vec::new(),
        };
        for file in files {
            let suppressions = Suppressions::read(file.text.text(), &file.objects);
            run.findings.add_text(&file.path, file.text);
            let unknown = suppressions.problems();
            let unknown = unknown.map(|problem| problem.in_file(&file.path));
            run.findings.problems.extend(unknown);
            run.suppressions
                .insert(Arc::clone(&file.path), suppressions);
            run.findings.problems.extend(file.problems);
            run.documents.extend(file.objects);
            run.paths.push(file.path);
        }
        run
    }

    /// Lints the documents for each Kubernetes version, and drops findings that are not selected or are suppressed.
    fn lint(
        &mut self,
        settings: &Settings,
        old: &OldObjects,
        openapi: &mut Vec<(PathBuf, Json)>,
        manifests: &mut Manifests,
    ) {
        let mut found: IndexMap<Problem, BTreeSet<KubeVersion>> = IndexMap::new();
        for version in &settings.versions {
            let options = Options {
                server: Server::new(*version),
                ..settings.options
            };
            let Some(linter) = self.linter(&options, openapi, manifests) else {
                continue;
            };
            for problem in self.of_version(&linter, old, manifests) {
                found.entry(problem).or_default().insert(*version);
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
        old: &OldObjects,
        manifests: &mut Manifests,
    ) -> Vec<Problem> {
        manifests.progress().expect(self.documents.len());
        let mut problems: Vec<Problem> = Vec::new();
        for of_document in in_parallel(&self.documents, |document| {
            let mut problems = linter.document(document);
            let key = Key::of(document.value()).ok();
            if let Some(old) = key.and_then(|key| old.find(&key)) {
                problems.extend(linter.update(document, old));
            }
            problems
        }) {
            problems.extend(of_document);
            manifests.progress().step();
        }
        problems.extend(linter.references(&self.documents));
        problems
    }

    /// Writes the fixes into the files and lints the files again, until there is nothing to fix.
    fn fix(
        &mut self,
        settings: &Settings,
        old: &OldObjects,
        openapi: &mut Vec<(PathBuf, Json)>,
        manifests: &mut Manifests,
    ) {
        let mut fixed: usize = 0;
        let mut written = BTreeSet::new();
        for _ in 0..MOST_FIXES {
            let before = self.findings.problems.len();
            let (mut texts, left) = fix::fixed(&self.findings);
            let applied = before.saturating_sub(left.len());
            if applied == 0 {
                break;
            }
            fixed = fixed.saturating_add(applied);
            let count = texts.len();
            texts.retain(|path, text| manifests.write(path, text));
            written.extend(texts.keys().cloned());
            *self = LintRun::new(self.files_with(&texts));
            self.lint(settings, old, openapi, manifests);
            if texts.len() < count {
                return;
            }
        }
        manifests.progress().end();
        let why = match fixed == 0 && !self.findings.problems.is_empty() {
            true => ": only findings with a single correct fix are fixed",
            false => "",
        };
        let fixed = report::count(fixed, "finding");
        let files = report::count(written.len(), "file");
        report::summary(&format!("fixed {fixed} in {files}{why}"));
    }

    /// The files, some of them with new texts.
    fn files_with(&self, texts: &BTreeMap<Arc<Path>, String>) -> Vec<ManifestFile> {
        let files = self.paths.iter().map(|path| {
            let known = self.findings.text(path).map_or("", Source::text);
            let text = texts.get(path).map_or(known, String::as_str);
            ManifestFile::new(Arc::clone(path), text)
        });
        files.collect()
    }
}

/// The OpenAPI documents of files.
fn read_openapi(paths: &[PathBuf], manifests: &mut Manifests) -> Vec<(PathBuf, Json)> {
    let mut documents = Vec::new();
    for path in paths {
        match input::document(path) {
            Ok(document) => documents.push((path.clone(), document)),
            Err(problems) => manifests.report_all(problems),
        }
    }
    documents
}

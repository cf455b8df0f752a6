//! `gavel upgrade-check`: reports what an upgrade of the API server would change.

use std::io::{self, IsTerminal, Write};

use gavel_check::custom::Key;
use gavel_check::{Kinds, Operation, Role};
use gavel_engine::value::Json;
use gavel_libraries::Server;
use gavel_libraries::authorizer::UserInfo;
use gavel_lint::Linter;
use gavel_manifest::Document;
use gavel_manifest::problem::rule;
use gavel_policy::api::GROUP;
use gavel_state::as_built_in;
use gavel_upgrade::{Subject, Upgrade};

use crate::args::{Output, UpgradeCheckArgs};
use crate::exit_code::Exit;
use crate::findings::write_errors;
use crate::manifests::Manifests;
use crate::progress::Progress;
use crate::report;

mod print;

use print::Printer;

/// Rehearses the upgrade that the arguments name.
pub(crate) fn run(args: &UpgradeCheckArgs) -> io::Result<Exit> {
    let mut out = io::stdout().lock();
    // If JSON is written to a pipe, there is no progress bar.
    let progress = Progress::new(args.output == Output::Text || out.is_terminal());
    let mut run = Rehearsal {
        upgrade: Upgrade::new(Server::new(args.from), Server::new(args.to)),
        kinds: Kinds::default(),
        user: args.requester.user(),
        manifests: Manifests::new(args.folders.clone(), progress),
    };
    if args.from == args.to {
        let message = format!(
            "nothing changes: --from and --to are both {}; name the version to upgrade to",
            args.to
        );
        report::warning(&message);
    }
    let objects = run.objects(args);
    let samples = run.samples(args);
    let checked = objects.iter().filter(|(document, _)| is_checked(document));
    let checked = checked.count();
    if checked == 0 && !run.manifests.unusable() {
        let message = "PATH must name a definition, policy, binding or webhook configuration, but there is none";
        run.manifests.complain_of_nothing(message);
    }
    if samples.is_empty() && !args.sample.is_empty() && !run.manifests.unusable() {
        let message = "--sample must name an object or AdmissionReview, but there is none";
        run.manifests.complain(message);
    }
    for (subject, error) in run.upgrade.unserved() {
        if let Some((document, _)) = objects.iter().find(|(_, known)| *known == subject) {
            report::warning(&document.problem(rule::OBJECT, "apiVersion", error));
        }
    }
    let mut printer = Printer::new(args.from, args.to, args.output);
    run.manifests.progress().expect(run.upgrade.steps());
    let progress = run.manifests.progress();
    let changes = run.upgrade.changes(|| progress.step());
    run.manifests.progress().end();
    match changes {
        Ok(changes) => {
            let all: Vec<_> = objects.iter().chain(&samples).collect();
            for (subject, changes) in &changes {
                let document = all.iter().find(|(_, known)| known == subject);
                if let Some((document, subject)) = document {
                    printer.print(document, *subject, changes, &mut out)?;
                }
            }
        }
        Err(error) => run.manifests.complain(error.to_string()),
    }
    printer.end(&mut out)?;
    if args.output == Output::Json {
        write_errors(run.manifests.problems(), &mut out)?;
    }
    out.flush()?;
    // If nothing was checked, an error was printed instead of the summary.
    if args.output == Output::Text && checked > 0 {
        let counts = [
            report::count(checked, "object"),
            report::count(samples.len(), "sample"),
            report::count(printer.changes(), "change"),
        ];
        report::summary(&counts.join(", "));
    }
    Ok(run.manifests.exit(printer.changes()))
}

/// Whether the document is a CustomResourceDefinition or belongs to the API group `admissionregistration.k8s.io`.
fn is_checked(document: &Document) -> bool {
    let api_version = document.value().get("apiVersion").and_then(Json::as_str);
    let group = api_version.and_then(|api_version| api_version.split_once('/'));
    group.is_some_and(|(group, _)| group == GROUP) || Role::of(document.value()) == Role::Definition
}

/// One run of the command.
struct Rehearsal {
    upgrade: Upgrade,
    kinds: Kinds,
    /// The user who creates the samples.
    user: UserInfo,
    manifests: Manifests,
}

impl Rehearsal {
    /// Reads the objects that the `PATH` arguments name, and adds them to the upgrade.
    fn objects(&mut self, args: &UpgradeCheckArgs) -> Vec<(Document, Subject)> {
        let mut objects = Vec::new();
        for document in self.manifests.strict_objects(&args.paths) {
            if self.manifests.refuse_misspelled(&document) {
                continue;
            }
            let added = self.upgrade.add(document.value());
            let unknown = Linter::unknown_fields(&document, Server::new(args.to));
            self.manifests.report_all(unknown);
            let document = as_built_in(document);
            match added {
                Ok(subject) => {
                    self.kinds.define(document.value());
                    objects.push((document, subject));
                }
                Err(error) => {
                    let problem = document.problem(rule::OBJECT, error.field(), error.to_string());
                    self.manifests.report(problem);
                }
            }
        }
        objects
    }

    /// Reads the objects and requests that `--sample` names, and adds them to the upgrade.
    fn samples(&mut self, args: &UpgradeCheckArgs) -> Vec<(Document, Subject)> {
        let mut samples = Vec::new();
        for document in self.manifests.strict_objects(&args.sample) {
            let request = match Key::of(document.value()) {
                Ok(key) if key.kind == "AdmissionReview" => {
                    document.value().get("request").cloned()
                }
                Ok(_) => Some(self.creation(document.value(), &args.namespace)),
                Err(message) => {
                    self.manifests.refuse(&document, message);
                    continue;
                }
            };
            match self.upgrade.add_request(request.unwrap_or_default()) {
                Ok(subject) => samples.push((document, subject)),
                Err(error) => self.manifests.refuse(&document, error.to_string()),
            }
        }
        samples
    }

    /// The request that creates an object. If the object names no namespace, the request uses `namespace`.
    fn creation(&self, object: &Json, namespace: &str) -> Json {
        let subject = gavel_check::Subject {
            operation: Operation::Create,
            object,
            old: None,
            namespace,
            user: &self.user,
        };
        subject.request(&self.kinds)
    }
}

//! `gavel audit`: evaluates policies over existing objects.

use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::time::Instant;

use gavel_cluster::audit::{Audit, Audited, Finding, Observer, Outcome, Reports, Summary};
use gavel_cluster::{AuthorizerCache, Authorizing, Cluster, Options};
use gavel_engine::value::Json;
use gavel_manifest::{Problem, Range, Severity};
use serde_json::json;

use crate::args::AuditArgs;
use crate::exit_code::Exit;
use crate::findings::{self, Format, Report, path_of};
use crate::manifests::unusable;
use crate::progress::Progress;
use crate::report::{self, visible};

mod dump;
mod manifests;

/// Audits the objects that the arguments name.
pub(crate) fn run(args: AuditArgs) -> io::Result<Exit> {
    let began = Instant::now();
    let (metrics, exit_zero) = (args.metrics.clone(), args.exit_zero);
    let mut problems = Vec::new();
    let mut printer = AuditPrinter {
        output: args.output,
        report: Report::new("gavel audit"),
    };
    let summary = match args.policies.is_empty() {
        false => manifests::run(&args, &mut printer, &mut problems)?,
        true => match of_cluster(&args, &mut printer) {
            Ok(summary) => summary,
            Err(error) => {
                report::complain(&error);
                let problems = [unusable(error)];
                let mut out = io::stdout().lock();
                printer.report.finish(args.output, &problems, &mut out)?;
                return Ok(Exit::Usage);
            }
        },
    };
    let is_usable = problems.is_empty();
    for unread in &summary.unread {
        report::complain(unread);
        problems.push(unusable(unread));
    }
    let seconds = began.elapsed().as_secs_f64();
    if let Some(path) = metrics {
        // A reader must never see a partly written file.
        let new = path.with_extension("new");
        let written = fs::write(&new, summary.metrics(seconds));
        if let Err(error) = written.and_then(|()| fs::rename(new, &path)) {
            let problem = Problem::unreadable(&path, error);
            report::complain(&problem);
            problems.push(problem);
        }
    }
    let mut out = io::stdout().lock();
    printer.report.finish(args.output, &problems, &mut out)?;
    let found: u64 = summary.findings.values().sum();
    let count = |count, thing| report::count(usize::try_from(count).unwrap_or(usize::MAX), thing);
    // If nothing was audited, an error was printed instead of the summary.
    if is_usable || summary.objects > 0 {
        let unread = match summary.unread.len() {
            0 => String::new(),
            unread => format!("; {} could not be read", report::count(unread, "resource")),
        };
        report::summary(&format!(
            "{} in {seconds:.1} s: {}{unread}",
            count(summary.objects, "object"),
            count(found, "violation")
        ));
    }
    Ok(match (problems.is_empty(), found) {
        (false, _) => Exit::Usage,
        (true, 0) => Exit::Success,
        (true, _) if exit_zero => Exit::Success,
        (true, _) => Exit::Rejected,
    })
}

/// Audits the objects of a cluster.
fn of_cluster(args: &AuditArgs, printer: &mut AuditPrinter) -> Result<Summary, String> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    let audit = Audit {
        shard: args.shard,
        page: args.chunk_size,
        user: args.requester.user(),
        native: args.native,
    };
    let options = Options {
        target: args.target.target(),
        native: args.native,
        authorizing: Authorizing::Review(AuthorizerCache::default()),
        leads: false,
    };
    let ended = runtime.block_on(async {
        let cluster = Cluster::follow(options).await;
        let cluster = cluster.map_err(|error| error.to_string())?;
        if io::stderr().is_terminal() {
            report::summary(&format!("connecting to {}", cluster.address()));
        }
        let reports = match args.reports {
            true => Some(Reports::new(&cluster, args.shard).await?),
            false => None,
        };
        let mut output = AuditOutput {
            printer,
            reports,
            progress: Progress::new(true),
            resource: String::new(),
        };
        let summary = audit.run(&cluster, &mut output).await;
        output.progress.end();
        let summary = summary.map_err(|error| error.to_string())?;
        if let Some(reports) = output.reports {
            reports.finish(summary.unread.is_empty()).await?;
        }
        Ok(summary)
    });
    runtime.shutdown_background();
    ended
}

/// Prints the findings of a run over a cluster.
struct AuditOutput<'p> {
    printer: &'p mut AuditPrinter,
    reports: Option<Reports>,
    progress: Progress,
    /// The resource that is being audited.
    resource: String,
}

impl Observer for AuditOutput<'_> {
    fn waits(&mut self, notes: &[String]) {
        report::summary(&format!("waiting for the cluster: {}", notes.join("; ")));
    }

    fn resource(&mut self, resource: &Audited) {
        self.resource.clone_from(&resource.plural);
    }

    fn progress(&mut self, objects: u64, remaining: Option<u64>) {
        let total = objects.saturating_add(remaining.unwrap_or_default());
        self.progress.reach(objects, total);
    }

    async fn found(
        &mut self,
        resource: &Audited,
        object: &Json,
        findings: &[Finding],
    ) -> Result<(), String> {
        let printer = &mut self.printer;
        let printed = self
            .progress
            .aside(|| printer.print(&resource.kind.kind, object, findings, None));
        printed.map_err(|error| error.to_string())?;
        match &mut self.reports {
            Some(reports) => reports.add(resource, object, findings).await,
            None => Ok(()),
        }
    }
}

/// In the formats text and JSON, prints each finding immediately. For the other formats, collects the findings, which are written at the
/// end.
struct AuditPrinter {
    output: Format,
    report: Report,
}

/// The position of an object: its file, and its range in the file.
type Whereabouts = (PathBuf, Range);

impl AuditPrinter {
    /// Prints the findings about an object.
    fn print(
        &mut self,
        kind: &str,
        object: &Json,
        findings: &[Finding],
        at: Option<Whereabouts>,
    ) -> io::Result<()> {
        let metadata = |field: &str| {
            let metadata = object.get("metadata");
            let text = metadata.and_then(|metadata| metadata.get(field));
            text.and_then(Json::as_str).unwrap_or_default()
        };
        let (namespace, name) = (metadata("namespace"), metadata("name"));
        let slash = if namespace.is_empty() { "" } else { "/" };
        let shown = format!("{kind} {namespace}{slash}{name}");
        if !matches!(self.output, Format::Text | Format::Json) {
            self.keep(shown, findings, at);
            return Ok(());
        }
        let mut out = io::stdout().lock();
        for finding in findings {
            let Finding {
                policy,
                binding,
                outcome,
                message,
            } = finding;
            if self.output == Format::Json {
                let line = json!({
                    "file": at.as_ref().map(|(file, _)| path_of(Some(file))), "line": at.as_ref().map(|(_, range)| range.start.line),
                    "apiVersion": object.get("apiVersion"), "kind": kind, "namespace": namespace, "name": name,
                    "policy": policy, "binding": binding, "result": outcome.name(), "message": message,
                });
                writeln!(out, "{line}")?;
            } else {
                let (result, message) = (outcome.name(), message.replace('\n', "\n  "));
                let place = at.as_ref().map_or_else(String::new, |(file, range)| {
                    format!("{}:{}: ", file.display(), range.start.line)
                });
                let line = format!("{place}{shown}: {result}: {policy}: {message}");
                writeln!(out, "{}", visible(&line))?;
            }
        }
        Ok(())
    }

    fn keep(&mut self, object: String, found: &[Finding], at: Option<Whereabouts>) {
        let (file, range) = at.map_or_else(Default::default, |(file, range)| {
            (path_of(Some(&file)), Some(range))
        });
        let found = found.iter().map(|finding| findings::Finding {
            rule: format!("policy/{}", finding.policy),
            severity: match finding.outcome {
                Outcome::Fail | Outcome::Error => Severity::Error,
                Outcome::Warn => Severity::Warning,
            },
            file: file.clone(),
            range,
            message: format!("{object}: {}", finding.message),
            help: String::new(),
            suggestion: None,
        });
        let found = found.collect();
        self.report.add_object(object, file.clone(), found);
    }
}

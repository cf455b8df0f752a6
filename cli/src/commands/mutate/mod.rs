//! `gavel mutate`: what mutating policies make of manifests, without a cluster.

use std::io::{self, Write};
use std::path::Path;

use gavel_engine::value::Json;
use gavel_libraries::Server;
use gavel_manifest::Document;
use similar::TextDiff;

use crate::args::{MutateArgs, MutateOutput};
use crate::exit_code::Exit;
use crate::manifests::Manifests;
use crate::progress::Progress;
use crate::report::{self, yaml};
use crate::requests::Requests;

mod policies;

use policies::Policies;

/// Mutates the objects that the arguments name.
pub(crate) fn run(args: &MutateArgs) -> io::Result<Exit> {
    let mut manifests = Manifests::new(args.recursive, Progress::new(false));
    let requests = Requests::new(&args.namespace, &args.user);
    let mut policies = match Policies::new(Server::new(args.kubernetes_version), requests) {
        Ok(policies) => policies,
        Err(error) => {
            report::complain(&error);
            return Ok(Exit::Usage);
        }
    };
    for document in manifests.objects(&args.policies) {
        if let Err(message) = policies.add(document.value()) {
            manifests.refuse(&document, message.to_string());
        }
    }
    if policies.is_empty() && !manifests.unusable() {
        manifests.complain(&"--policies must name a MutatingAdmissionPolicy, but there is none");
    }
    for warning in policies.unbound() {
        report::warning(&warning);
    }
    let mut out = io::stdout().lock();
    let (mut denied, mut printed) = (0_usize, 0_usize);
    for document in manifests.objects(&args.objects) {
        let path = document.file().map(Path::to_owned).unwrap_or_default();
        if document
            .value()
            .get("kind")
            .and_then(Json::as_str)
            .is_none()
        {
            manifests.refuse(&document, "kind must be set");
            continue;
        }
        match policies.mutate(document.value()) {
            Ok(mutated) => {
                printed = printed.saturating_add(1);
                print(&mut out, args.output, &path, &document, mutated, printed)?;
            }
            Err(message) => {
                denied = denied.saturating_add(1);
                let place = document.place();
                report::complain(&format!("{}:{place}: {message}", path.display()));
            }
        }
    }
    out.flush()?;
    Ok(manifests.exit(denied))
}

/// Prints an object; none: it is as it was.
fn print(
    out: &mut impl Write,
    output: MutateOutput,
    path: &Path,
    document: &Document,
    mutated: Option<Json>,
    printed: usize,
) -> io::Result<()> {
    let before = document.value();
    match (output, mutated) {
        (MutateOutput::Diff, None) => Ok(()),
        (MutateOutput::Diff, Some(after)) => {
            let [before, after] = [before, &after].map(yaml::to_string);
            let path = path.display().to_string();
            let diff = TextDiff::from_lines(&before, &after);
            let diff = diff.unified_diff().header(&path, &path).to_string();
            out.write_all(diff.as_bytes())
        }
        (MutateOutput::Json, after) => {
            serde_json::to_writer_pretty(&mut *out, after.as_ref().unwrap_or(before))?;
            writeln!(out)
        }
        (MutateOutput::Yaml, after) => {
            if printed > 1 {
                writeln!(out, "---")?;
            }
            out.write_all(yaml::to_string(after.as_ref().unwrap_or(before)).as_bytes())
        }
    }
}

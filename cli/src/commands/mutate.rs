//! `gavel mutate`: applies mutating policies to manifests, without a cluster.

use std::io::{self, Write};
use std::path::Path;

use gavel_check::custom::{Checked, Key};
use gavel_check::{Operation, Setup, Subject, Trace, World, built_in};
use gavel_engine::value::Json;
use gavel_libraries::Server;
use gavel_libraries::authorizer::UserInfo;
use gavel_manifest::Document;
use gavel_manifest::problem::rule;
use similar::TextDiff;

use crate::args::{MutateArgs, MutateOutput};
use crate::exit_code::Exit;
use crate::findings::write_errors;
use crate::manifests::Manifests;
use crate::progress::Progress;
use crate::report::{self, yaml};

/// Mutates the objects that the arguments name.
pub(crate) fn run(args: &MutateArgs) -> io::Result<Exit> {
    let mut manifests = Manifests::new(args.folders.clone(), Progress::new(false));
    let world = world(args, &mut manifests).map_err(io::Error::other)?;
    let is_unusable = manifests.unusable();
    let mut objects = manifests.strict_objects(&args.objects);
    if is_unusable {
        // Objects that only some of the policies have mutated must not be applied.
        objects.clear();
    }
    let user = args.requester.user();
    let mut out = io::stdout().lock();
    let (mut denied, mut printed) = (Vec::new(), 0_usize);
    for document in objects {
        let path = document.file().map(Path::to_owned).unwrap_or_default();
        if let Err(message) = Key::of(document.value()) {
            manifests.refuse(&document, message);
            continue;
        }
        let mut checked = Checked::default();
        built_in::check(&document, args.kubernetes_version.into(), &mut checked);
        checked.warnings.extend(world.unknown_kind(&document));
        checked.warnings.iter().for_each(report::warning);
        let mut problems = checked.problems;
        if problems.is_empty() {
            match mutated(&world, document.value(), &args.namespace, &user) {
                Ok(mutated) => {
                    printed = printed.saturating_add(1);
                    print(&mut out, args.output, &path, &document, mutated, printed)?;
                }
                Err(message) => problems.push(document.problem(rule::OBJECT, "", message)),
            }
        }
        problems.iter().for_each(report::problem);
        denied.extend(problems);
    }
    if args.output == MutateOutput::Json {
        write_errors(manifests.problems(), &mut out)?;
        write_errors(&denied, &mut out)?;
    }
    out.flush()?;
    Ok(manifests.exit(denied.len()))
}

/// The mutating policies, with all objects that they read.
fn world(args: &MutateArgs, manifests: &mut Manifests) -> Result<World, String> {
    let mut setup = Setup::new(Server::new(args.kubernetes_version))?;
    for document in manifests.policies(&args.policies) {
        let kind = document.value().get("kind").and_then(Json::as_str);
        let validates = kind.is_some_and(|kind| kind.starts_with("ValidatingAdmissionPolicy"));
        if !validates {
            setup.add(document);
        }
    }
    for (kind, name) in setup.unbound() {
        report::warning(&format!("{kind} {name:?} has no binding: it does nothing"));
    }
    let world = setup.finish();
    for problem in world.problems() {
        manifests.report(problem.clone());
    }
    for unseen in world.unseen() {
        report::warning(unseen);
    }
    if world.policies() == 0 && !manifests.unusable() {
        manifests.complain_of_nothing(
            "--policies must name a MutatingAdmissionPolicy, but there is none",
        );
    }
    Ok(world)
}

/// The object after all mutations; `None` if no policy changed it.
///
/// # Errors
///
/// A policy denies the object, or the request that creates the object is invalid.
fn mutated(
    world: &World,
    object: &Json,
    namespace: &str,
    user: &UserInfo,
) -> Result<Option<Json>, String> {
    let subject = Subject {
        operation: Operation::Create,
        object,
        old: None,
        namespace,
        user,
    };
    let ruling = world.decide(&world.request(&subject), &Trace::new(report::written))?;
    if let Some(status) = ruling.status {
        return Err(status.message);
    }
    let mut mutated = ruling.mutated;
    // If the object names no namespace, the request sets one. That is not a mutation.
    if object.pointer("/metadata/namespace").is_none()
        && let Some(after) = &mut mutated
        && let Some(Json::Object(metadata)) = after.get_mut("metadata")
        && metadata
            .get("namespace")
            .is_some_and(|set| set == namespace)
    {
        metadata.remove("namespace");
    }
    Ok(mutated)
}

/// Prints an object. `mutated` is the object after all mutations; `None` if no policy changed it.
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

//! Audits the objects of manifests or of a dump, without a cluster.

use std::collections::HashSet;
use std::io;
use std::path::Path;
use std::sync::Arc;

use gavel_check::custom::{Checked, Key};
use gavel_check::suite::Suite;
use gavel_check::{Kinds, Role, built_in};
use gavel_cluster::audit::{Audited, Summary, audit_object};
use gavel_engine::value::Json;
use gavel_libraries::Server;
use gavel_manifest::problem::rule;
use gavel_manifest::{Document, Problem};
use gavel_policy::GroupVersionKind;
use gavel_policy::api::GROUP;
use gavel_state::{Object, Origin, State, Store};

use super::{AuditPrinter, dump};
use crate::args::AuditArgs;
use crate::manifests::Manifests;
use crate::progress::Progress;
use crate::report;

/// Audits the objects of manifests. Reads large JSON files one object at a time, and other files as a whole.
/// Adds to `problems` those of inputs that cannot be used.
pub(super) fn run(
    args: &AuditArgs,
    printer: &mut AuditPrinter,
    problems: &mut Vec<Problem>,
) -> io::Result<Summary> {
    let mut manifests = Manifests::new(args.folders.clone(), Progress::new(false));
    let mut documents = manifests.policies(&args.policies);
    // An audit calls no webhooks, so their configurations need not be valid.
    documents.retain(|document| !is_webhook_configuration(document.value()));
    let mut kinds = Kinds::default();
    for document in &documents {
        kinds.define(document.value());
    }
    let server = args.kubernetes_version.into();
    let state = state(documents, &kinds, server).map_err(io::Error::other)?;
    for problem in state.problems() {
        manifests.report(problem.clone());
    }
    for unseen in state.unseen() {
        report::warning(unseen);
    }
    if state.bound().next().is_none() {
        // Without a policy, an audit finds nothing, so it must not appear to have succeeded.
        if !manifests.unusable() {
            let problem = "no policy with a binding: --policies must name the files of a ValidatingAdmissionPolicy and its binding";
            manifests.complain(problem);
        }
        problems.extend_from_slice(manifests.problems());
        return Ok(Summary::default());
    }
    let authorizer = Arc::clone(state.authorizer());
    let user = Arc::new(args.requester.user());
    let mut summary = Summary::default();
    // Each unknown kind is reported once, because a dump can contain many objects of it.
    let mut unknown = HashSet::new();
    let mut look = |manifests: &mut Manifests, document: Document| {
        // Test suites are no objects of a cluster; they are often in the same folder as the policies.
        if Suite::is_suite(document.value()) {
            return Ok(());
        }
        let resource = match Key::of(document.value()) {
            Ok(key) => resource(&key, &kinds),
            Err(message) => {
                manifests.refuse(&document, message);
                return Ok(());
            }
        };
        if let Some(problem) = kinds.unknown(&document, server)
            && unknown.insert(problem.message.clone())
        {
            report::warning(&problem);
        }
        let mut checked = Checked::default();
        built_in::check(&document, server, &mut checked);
        if !checked.problems.is_empty() {
            manifests.report_all(checked.problems);
            return Ok(());
        }
        let file = document.file().unwrap_or(Path::new("-")).to_owned();
        let place = document.place();
        let mut object = kinds.placed(document.into_value(), &args.namespace);
        if !is_of_shard(args, &resource, &object) {
            return Ok(());
        }
        if let Err(error) = state.schemas().fill_defaults(&mut object) {
            let problem = Problem::new(rule::OBJECT, error.to_string()).at(place);
            manifests.report(problem.in_file(&file.into()));
            return Ok(());
        }
        let at = (file, place.into());
        let findings = audit_object(&state, &authorizer, &user, &resource, &object);
        summary.count(&findings);
        printer.print(&resource.kind.kind, &object, &findings, Some(at))
    };
    for file in manifests.named(&args.objects) {
        if dump::is_dump(&file) {
            let path: Arc<Path> = file.as_path().into();
            let mut printed = Ok(());
            let mut look = |object: Document| {
                printed = look(&mut manifests, object.in_file(&path));
                let error = printed.as_ref().err();
                error.map_or(Ok(()), |error| Err(error.kind().into()))
            };
            let read = dump::objects(&file, &mut look);
            // If a finding cannot be printed, the file is not to blame.
            printed?;
            if let Err(problem) = read {
                manifests.report(problem);
            }
            continue;
        }
        for document in manifests.strict_objects(&[file]) {
            look(&mut manifests, document)?;
        }
    }
    problems.extend_from_slice(manifests.problems());
    Ok(summary)
}

/// Builds the state from the policies and the objects that they read. Params of a namespaced kind get the namespace `default` if they name
/// none.
fn state(documents: Vec<Document>, kinds: &Kinds, server: Server) -> Result<State, String> {
    let mut store = Store::new(server)?;
    store.replace_origins(documents.into_iter().map(|document| {
        let file = document.file().map(|path| path.display().to_string());
        let origin = Origin::new(&file.unwrap_or_default());
        let object = Object::of_manifest(origin, document);
        if Role::of(&object.value()) != Role::Object {
            return object;
        }
        let placed = kinds.placed(object.value().into_owned(), "default");
        object.with_value(placed)
    }));
    Ok(store.publish())
}

fn is_webhook_configuration(object: &Json) -> bool {
    let text = |key: &str| object.get(key).and_then(Json::as_str).unwrap_or_default();
    let group = text("apiVersion").split('/').next();
    group == Some(GROUP) && text("kind").ends_with("WebhookConfiguration")
}

/// The resource of an object.
fn resource(key: &Key<'_>, kinds: &Kinds) -> Audited {
    let kind = GroupVersionKind::new(key.api_version, key.kind);
    let resource = kinds.resource(&kind);
    Audited {
        kind,
        plural: resource.plural,
        namespaced: resource.is_namespaced,
    }
}

fn is_of_shard(args: &AuditArgs, resource: &Audited, object: &Json) -> bool {
    let metadata = |field: &str| {
        let text = object
            .get("metadata")
            .and_then(|metadata| metadata.get(field));
        text.and_then(Json::as_str).unwrap_or_default()
    };
    let name = format!("{}.{}", resource.plural, resource.kind.group);
    args.shard
        .has(&name, metadata("namespace"), metadata("name"))
}

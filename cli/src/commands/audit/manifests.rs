//! An audit without a cluster: objects of manifests or of a dump.

use std::io;
use std::sync::Arc;

use gavel_cluster::audit::{Audited, Summary, judge};
use gavel_engine::value::Json;
use gavel_libraries::Server;
use gavel_manifest::Document;
use gavel_policy::GroupVersionKind;
use gavel_state::{Event, Object, Origin, Store};

use super::{print, user};
use crate::args::AuditArgs;
use crate::manifests::{Manifests, is_definition};
use crate::progress::Progress;
use crate::report;
use crate::requests::Requests;

/// Looks at the objects of manifests, a file at a time. Notes whether something could not be used.
pub(super) fn run(args: &AuditArgs, unusable: &mut bool) -> io::Result<Summary> {
    let mut manifests = Manifests::new(args.recursive, Progress::new(false));
    let mut requests = Requests::new(&args.namespace, &args.user);
    let mut objects = Vec::new();
    for document in manifests.objects(&args.policies) {
        define(&document, &mut requests);
        let file = document.file().map(|path| path.display().to_string());
        let origin = Origin::new(&file.unwrap_or_default());
        objects.push(Object::of_manifest(origin, document));
    }
    let state = Store::new(Server::default()).map(|mut store| {
        objects
            .into_iter()
            .for_each(|object| store.handle(Event::Applied(object)));
        store.publish()
    });
    let state = state.map_err(io::Error::other)?;
    for problem in state.problems() {
        manifests.complain(problem);
    }
    for unseen in state.unseen() {
        report::warning(unseen);
    }
    let (authorizer, user) = (Arc::clone(state.authorizer()), Arc::new(user(args)));
    let mut summary = Summary::default();
    for path in &args.objects {
        let files = match gavel_manifest::files(path, args.recursive) {
            Ok(files) => files,
            Err(problem) => {
                manifests.complain(&problem);
                continue;
            }
        };
        for file in files {
            for document in manifests.objects(&[file]) {
                let object = document.value();
                let Some(resource) = resource(object, &requests) else {
                    manifests.refuse(&document, "kind must be set");
                    continue;
                };
                let object = placed(object, &resource, &args.namespace);
                if !is_of_shard(args, &resource, &object) {
                    continue;
                }
                let findings = judge(&state, &authorizer, &user, &resource, &object);
                summary.count(&findings);
                print(args.output, &resource.kind.kind, &object, &findings)?;
            }
        }
    }
    *unusable = manifests.unusable();
    Ok(summary)
}

/// Makes the kinds of a definition known.
fn define(document: &Document, requests: &mut Requests) {
    if !is_definition(document) {
        return;
    }
    // What is wrong with it, the store tells.
    requests.define(document.value());
}

/// The resource that an object is of.
fn resource(object: &Json, requests: &Requests) -> Option<Audited> {
    let text = |key: &str| object.get(key).and_then(Json::as_str).unwrap_or_default();
    let kind = GroupVersionKind::new(text("apiVersion"), text("kind"));
    if kind.kind.is_empty() {
        return None;
    }
    let resource = requests.resource(&kind);
    Some(Audited {
        kind,
        plural: resource.plural,
        namespaced: resource.is_namespaced,
    })
}

/// The object in the namespace in which it would be created.
fn placed(object: &Json, resource: &Audited, default: &str) -> Json {
    let mut object = object.clone();
    if let Some(metadata) = object.get_mut("metadata").and_then(Json::as_object_mut)
        && resource.namespaced
    {
        metadata
            .entry("namespace")
            .or_insert_with(|| default.into());
    }
    object
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

//! Requests that create objects of manifests.

use gavel_check::{Kinds, ResourceOfKind};
use gavel_engine::value::Json;
use gavel_policy::GroupVersionKind;
use serde_json::json;

/// Makes the requests in which a user creates objects.
#[derive(Debug)]
pub(crate) struct Requests {
    kinds: Kinds,
    /// The namespace of objects that name none.
    namespace: String,
    user: String,
}

impl Requests {
    /// Requests of a user; `namespace` is that of objects that name none.
    pub(crate) fn new(namespace: &str, user: &str) -> Self {
        Requests {
            kinds: Kinds::default(),
            namespace: namespace.to_owned(),
            user: user.to_owned(),
        }
    }

    /// Makes the kinds of a definition known.
    pub(crate) fn define(&mut self, definition: &Json) {
        self.kinds.define(definition);
    }

    /// The plural name of a kind, and whether its objects have a namespace.
    pub(crate) fn resource(&self, kind: &GroupVersionKind) -> ResourceOfKind {
        self.kinds.resource(kind)
    }

    /// The request that creates an object, as the `request` of an AdmissionReview.
    pub(crate) fn create(&self, object: &Json) -> Json {
        let text = |key: &str| object.get(key).and_then(Json::as_str).unwrap_or_default();
        let of_metadata = |key: &str| {
            let found = object
                .get("metadata")
                .and_then(|metadata| metadata.get(key));
            found.and_then(Json::as_str)
        };
        let kind = GroupVersionKind::new(text("apiVersion"), text("kind"));
        let resource = self.resource(&kind);
        let namespace = match (resource.is_namespaced, kind.kind.as_str()) {
            (true, _) => of_metadata("namespace").unwrap_or(&self.namespace),
            (false, "Namespace") => of_metadata("name").unwrap_or_default(),
            _ => "",
        };
        let (group, version) = (kind.group.as_str(), kind.version.as_str());
        json!({
            "uid": "gavel",
            "operation": "CREATE",
            "kind": {"group": group, "version": version, "kind": *kind.kind},
            "resource": {"group": group, "version": version, "resource": resource.plural},
            "name": of_metadata("name").unwrap_or_default(),
            "namespace": namespace,
            "userInfo": {"username": self.user},
            "options": {"apiVersion": "meta.k8s.io/v1", "kind": "CreateOptions"},
            "object": object,
        })
    }
}

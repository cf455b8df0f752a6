//! Requests that create objects of manifests.

use std::collections::BTreeMap;

use gavel_crd::definition::Definition;
use gavel_engine::value::Json;
use gavel_policy::GroupVersionKind;
use serde_json::json;

/// The kinds that have no namespace, of those that Kubernetes has itself.
const CLUSTER_KINDS: [&str; 21] = [
    "Namespace",
    "Node",
    "PersistentVolume",
    "ClusterRole",
    "ClusterRoleBinding",
    "CustomResourceDefinition",
    "StorageClass",
    "PriorityClass",
    "IngressClass",
    "RuntimeClass",
    "APIService",
    "CSIDriver",
    "CSINode",
    "VolumeAttachment",
    "FlowSchema",
    "PriorityLevelConfiguration",
    "ValidatingWebhookConfiguration",
    "MutatingWebhookConfiguration",
    "DeviceClass",
    "ResourceSlice",
    "CertificateSigningRequest",
];

/// Makes the requests in which a user creates objects.
#[derive(Debug)]
pub(crate) struct Requests {
    /// The plural names of custom resources, and whether they have a namespace.
    resources: BTreeMap<GroupVersionKind, (String, bool)>,
    /// The namespace of objects that name none.
    namespace: String,
    user: String,
}

impl Requests {
    /// Requests of a user; `namespace` is that of objects that name none.
    pub(crate) fn new(namespace: &str, user: &str) -> Self {
        Requests {
            resources: BTreeMap::new(),
            namespace: namespace.to_owned(),
            user: user.to_owned(),
        }
    }

    /// Makes the kinds of a definition known.
    pub(crate) fn define(&mut self, definition: &Definition) {
        let spec = &definition.spec;
        for version in &spec.versions {
            let kind = GroupVersionKind {
                group: spec.group.as_str().into(),
                version: version.name.as_str().into(),
                kind: spec.names.kind.as_str().into(),
            };
            let resource = (spec.names.plural.clone(), spec.scope == "Namespaced");
            self.resources.insert(kind, resource);
        }
    }

    /// The plural name of a kind, and whether its objects have a namespace.
    pub(crate) fn resource(&self, kind: &GroupVersionKind) -> (String, bool) {
        match self.resources.get(kind) {
            Some((plural, is_namespaced)) => (plural.clone(), *is_namespaced),
            None => (
                plural(&kind.kind),
                !CLUSTER_KINDS.contains(&kind.kind.as_str()),
            ),
        }
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
        let (resource, is_namespaced) = self.resource(&kind);
        let namespace = match (is_namespaced, kind.kind.as_str()) {
            (true, _) => of_metadata("namespace").unwrap_or(&self.namespace),
            (false, "Namespace") => of_metadata("name").unwrap_or_default(),
            _ => "",
        };
        let (group, version) = (kind.group.as_str(), kind.version.as_str());
        json!({
            "uid": "gavel",
            "operation": "CREATE",
            "kind": {"group": group, "version": version, "kind": *kind.kind},
            "resource": {"group": group, "version": version, "resource": resource},
            "name": of_metadata("name").unwrap_or_default(),
            "namespace": namespace,
            "userInfo": {"username": self.user},
            "options": {"apiVersion": "meta.k8s.io/v1", "kind": "CreateOptions"},
            "object": object,
        })
    }
}

/// The plural name of a kind, as Kubernetes guesses it (apimachinery `pkg/api/meta/restmapper.go`).
fn plural(kind: &str) -> String {
    let singular = kind.to_lowercase();
    match singular.as_str() {
        "endpoints" => singular,
        name if name.ends_with('s') => format!("{name}es"),
        name => match name.strip_suffix('y') {
            Some(stem) => format!("{stem}ies"),
            None => format!("{name}s"),
        },
    }
}

//! The resources of kinds: their plural names, and whether their objects have a namespace.

use std::collections::HashMap;

use gavel_crd::definition::Definition;
use gavel_engine::value::Json;
use gavel_policy::GroupVersionKind;

/// The kinds that have no namespace, of those that Kubernetes has itself.
const CLUSTER_KINDS: [&str; 29] = [
    "APIService",
    "CSIDriver",
    "CSINode",
    "CertificateSigningRequest",
    "ClusterRole",
    "ClusterRoleBinding",
    "ClusterTrustBundle",
    "CustomResourceDefinition",
    "DeviceClass",
    "DeviceTaintRule",
    "FlowSchema",
    "IPAddress",
    "IngressClass",
    "MutatingAdmissionPolicy",
    "MutatingAdmissionPolicyBinding",
    "MutatingWebhookConfiguration",
    "Namespace",
    "Node",
    "PersistentVolume",
    "PriorityClass",
    "PriorityLevelConfiguration",
    "ResourceSlice",
    "RuntimeClass",
    "ServiceCIDR",
    "StorageClass",
    "ValidatingAdmissionPolicy",
    "ValidatingAdmissionPolicyBinding",
    "ValidatingWebhookConfiguration",
    "VolumeAttachment",
];

/// The kinds that definitions tell of; others are guessed.
#[derive(Debug, Default)]
pub struct Kinds(HashMap<(String, String), ResourceOfKind>);

/// What a kind is to the API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourceOfKind {
    /// The plural name: `pods`.
    pub plural: String,
    /// Whether its objects have a namespace.
    pub is_namespaced: bool,
}

impl Kinds {
    /// Takes in what a definition tells; what is no definition tells nothing.
    pub fn define(&mut self, object: &Json) {
        if let Ok(Definition { spec, .. }) = Definition::read(object) {
            let resource = ResourceOfKind {
                plural: spec.names.plural,
                is_namespaced: spec.scope == "Namespaced",
            };
            self.0.insert((spec.group, spec.names.kind), resource);
        }
    }

    /// An object in the namespace `default`, where its kind has namespaces and it names none.
    pub(crate) fn in_default_namespace(&self, mut object: Json) -> Json {
        let text = |key: &str| object.get(key).and_then(Json::as_str).unwrap_or_default();
        let kind = GroupVersionKind::new(text("apiVersion"), text("kind"));
        if self.resource(&kind).is_namespaced
            && let Some(Json::Object(metadata)) = object.get_mut("metadata")
        {
            let namespace = metadata.entry("namespace");
            namespace.or_insert_with(|| "default".into());
        }
        object
    }

    /// The resource of a kind.
    pub fn resource(&self, kind: &GroupVersionKind) -> ResourceOfKind {
        let key = (kind.group.to_string(), kind.kind.to_string());
        self.0.get(&key).cloned().unwrap_or_else(|| ResourceOfKind {
            plural: plural(&kind.kind),
            is_namespaced: !CLUSTER_KINDS.contains(&kind.kind.as_str()),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resources_of_built_in_kinds_are_guessed() {
        let of = |api_version: &str, kind: &str| {
            let found = Kinds::default().resource(&GroupVersionKind::new(api_version, kind));
            (found.plural, found.is_namespaced)
        };
        assert_eq!(of("v1", "Pod"), ("pods".to_owned(), true));
        assert_eq!(of("v1", "Namespace"), ("namespaces".to_owned(), false));
        let policies = ("networkpolicies".to_owned(), true);
        assert_eq!(of("networking.k8s.io/v1", "NetworkPolicy"), policies);
        let classes = ("ingressclasses".to_owned(), false);
        assert_eq!(of("networking.k8s.io/v1", "IngressClass"), classes);
    }
}

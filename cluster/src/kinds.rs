//! Gavel's own kinds. They have the fields of the kinds in admissionregistration.k8s.io/v1: to use a manifest of a built-in kind with
//! Gavel, change its `apiVersion`.

use gavel_policy::api::{self, OWN_GROUP};
use kube::core::ApiResource;
use serde_json::{Value as Json, json};

/// The version of Gavel's own kinds and of the built-in ones.
const VERSION: &str = "v1";

/// The kinds with their plural names.
pub(crate) const KINDS: [(&str, &str); 4] = [
    ("ValidatingAdmissionPolicy", "validatingadmissionpolicies"),
    (
        "ValidatingAdmissionPolicyBinding",
        "validatingadmissionpolicybindings",
    ),
    ("MutatingAdmissionPolicy", "mutatingadmissionpolicies"),
    (
        "MutatingAdmissionPolicyBinding",
        "mutatingadmissionpolicybindings",
    ),
];

/// Describes a kind by its group, version, name and plural name.
pub(crate) fn resource(group: &str, version: &str, kind: &str, plural: &str) -> ApiResource {
    let api_version = match group {
        "" => version.to_owned(),
        group => format!("{group}/{version}"),
    };
    ApiResource {
        group: group.to_owned(),
        version: version.to_owned(),
        api_version,
        kind: kind.to_owned(),
        plural: plural.to_owned(),
    }
}

/// Gavel's own kinds.
pub(crate) fn own() -> impl Iterator<Item = ApiResource> {
    KINDS
        .into_iter()
        .map(|(kind, plural)| resource(OWN_GROUP, VERSION, kind, plural))
}

/// Kubernetes' built-in kinds with the same names.
pub(crate) fn native() -> impl Iterator<Item = ApiResource> {
    KINDS
        .into_iter()
        .map(|(kind, plural)| resource(api::GROUP, VERSION, kind, plural))
}

/// Whether a kind is one of Kubernetes' built-in policies and bindings, in any version.
pub(crate) fn is_native(resource: &ApiResource) -> bool {
    let has_name = |(kind, _): (&str, &str)| kind.eq_ignore_ascii_case(&resource.kind);
    resource.group == api::GROUP && KINDS.into_iter().any(has_name)
}

/// The groups of built-in kinds, except those without a dot in their names.
const BUILT_IN: [&str; 17] = [
    "admissionregistration.k8s.io",
    "authentication.k8s.io",
    "authorization.k8s.io",
    "certificates.k8s.io",
    "coordination.k8s.io",
    "discovery.k8s.io",
    "events.k8s.io",
    "flowcontrol.apiserver.k8s.io",
    "internal.apiserver.k8s.io",
    "lifecycle.k8s.io",
    "networking.k8s.io",
    "node.k8s.io",
    "rbac.authorization.k8s.io",
    "resource.k8s.io",
    "scheduling.k8s.io",
    "storage.k8s.io",
    "storagemigration.k8s.io",
];

/// Whether the API server has a Go type for a kind. Policies cannot read `managedFields` of params and namespaces of such kinds (kubernetes
/// `pkg/controlplane/apiserver/config.go`, `trim`).
pub(crate) fn is_built_in(resource: &ApiResource) -> bool {
    let group = resource.group.as_str();
    !group.contains('.') || BUILT_IN.contains(&group)
}

/// Converts an object of Gavel's own kinds to the built-in kind. Fields that do not affect decisions are removed, so that the policy is not
/// compiled again when such a field changes.
pub(crate) fn as_built_in(mut object: Json) -> Json {
    if let Some(fields) = object.as_object_mut() {
        fields.insert(
            "apiVersion".to_owned(),
            json!("admissionregistration.k8s.io/v1"),
        );
        fields.remove("status");
        let metadata = fields.get_mut("metadata").and_then(Json::as_object_mut);
        if let Some(metadata) = metadata {
            metadata.retain(|field, _| field == "name");
        }
    }
    object
}

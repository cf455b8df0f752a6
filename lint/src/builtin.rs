//! The fields of Kubernetes' own kinds that the API server always sets, although the OpenAPI schemas do not require them (kubernetes
//! `pkg/apis/*/v1/defaults.go`, and admission plugins that run before policies).

use gavel_libraries::Server;
use gavel_policy::GroupVersionKind;
use gavel_schema::built_in::{Kubernetes, is_always_set};
use smol_str::SmolStr;

/// The names of further fields that are always set: admission plugins set them, or their values depend on other fields.
const SET: [&str; 11] = [
    "clusterIP",
    "externalTrafficPolicy",
    "image",
    "imagePullPolicy",
    "internalTrafficPolicy",
    "name",
    "namespace",
    "parallelism",
    "serviceAccountName",
    "template",
    "type",
];

/// Whether an API group is one of this API server's own.
pub(crate) fn has_group(group: &str, server: Server) -> bool {
    let mut kinds = Kubernetes::of(server).kinds();
    kinds.any(|(api_version, kind)| GroupVersionKind::new(api_version, kind).group == group)
}

/// Whether a path leads to a field that objects of every kind have.
pub(crate) fn is_set_in_objects(path: &[SmolStr]) -> bool {
    match path {
        [_, field] => matches!(field.as_str(), "apiVersion" | "kind" | "metadata"),
        [_, metadata, field] => metadata == "metadata" && field == "name",
        _ => false,
    }
}

/// Whether this API server always sets the last field of a path in objects of a kind.
pub(crate) fn is_set(kind: &GroupVersionKind, path: &[SmolStr], server: Server) -> bool {
    let Some(last) = path.last() else {
        return false;
    };
    match last.as_str() {
        // Every namespace has the label kubernetes.io/metadata.name.
        "labels" => {
            kind.kind == "Namespace" && matches!(path, [_, metadata, _] if metadata == "metadata")
        }
        name => {
            let fields = path.get(1..).unwrap_or_default();
            SET.contains(&name) || is_always_set(&kind.api_version(), &kind.kind, fields, server)
        }
    }
}

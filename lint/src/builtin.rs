//! The fields of Kubernetes' own kinds that the API server always sets, although the OpenAPI schemas do not require them (kubernetes
//! `pkg/apis/*/v1/defaults.go`, and admission plugins that run before policies).

use gavel_policy::GroupVersionKind;
use gavel_schema::built_in::{Kubernetes, is_always_set};
use smol_str::SmolStr;

/// Whether an API group is one of Kubernetes' own.
pub(crate) fn has_group(group: &str) -> bool {
    let mut kinds = Kubernetes::get().kinds();
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

/// Whether the last field of a path is always set in objects of a kind.
pub(crate) fn is_set(kind: &GroupVersionKind, path: &[SmolStr]) -> bool {
    let fields = path.get(1..).unwrap_or_default();
    is_always_set(&kind.api_version(), &kind.kind, fields) || is_set_otherwise(&kind.kind, fields)
}

/// Whether a field is set by an admission plugin, depending on other fields, or because the API server rejects objects without the field.
fn is_set_otherwise(kind: &str, fields: &[SmolStr]) -> bool {
    let fields: Vec<&str> = fields.iter().map(SmolStr::as_str).collect();
    matches!(
        (kind, fields.as_slice()),
        // Every namespace has the label kubernetes.io/metadata.name.
        ("Namespace", ["metadata", "labels"])
            | (_, ["metadata", "namespace"])
            | ("CSIDriver", ["spec", "volumeLifecycleModes"])
            | ("DaemonSet", ["metadata", "annotations"])
            | (
                "DaemonSet" | "Deployment",
                ["spec", _, "rollingUpdate", "maxSurge" | "maxUnavailable"]
            )
            | (
                "HorizontalPodAutoscaler",
                ["spec", "metrics"]
                    | ["spec", "behavior", "scaleUp" | "scaleDown"]
                    | ["spec", "behavior", _, "policies" | "selectPolicy"]
            )
            | (
                "Job",
                [
                    "spec",
                    "backoffLimit" | "parallelism" | "podReplacementPolicy"
                ]
            )
            | ("NetworkPolicy", ["spec", "policyTypes"])
            | ("Pod", ["spec", "serviceAccountName"])
            | ("PodTemplate", ["template"])
            | ("ReplicaSet" | "ReplicationController", ["spec", "template"])
            | (
                "Service",
                ["spec", "clusterIP" | "internalTrafficPolicy"]
                    | ["spec", "ports", _, "targetPort"]
            )
            | (
                "StatefulSet",
                ["spec", "persistentVolumeClaimRetentionPolicy"]
                    | ["spec", "updateStrategy", "type"]
                    | ["spec", "updateStrategy", "rollingUpdate", "partition"]
            )
            | (
                _,
                [
                    ..,
                    "containers" | "initContainers" | "ephemeralContainers",
                    _,
                    "image"
                        | "imagePullPolicy"
                        | "terminationMessagePath"
                        | "terminationMessagePolicy"
                ]
            )
    )
}

//! The fields of Kubernetes' own kinds that the API server always sets, although the OpenAPI schemas do not require them (kubernetes
//! `pkg/apis/*/v1/defaults.go`, and admission plugins that run before policies).

use gavel_libraries::Server;
use gavel_policy::GroupVersionKind;
use gavel_schema::built_in::{Kubernetes, is_always_set, is_cluster_scoped};
use smol_str::SmolStr;

/// Fields that are always set: by an admission plugin, depending on other fields, or because the API server rejects objects without the
/// field. Each row is a kind and the path of a field; `*` stands for any field or element.
const SET: [(&str, &str); 34] = [
    ("CSIDriver", "spec.volumeLifecycleModes"),
    ("CustomResourceDefinition", "spec.conversion"),
    ("CustomResourceDefinition", "spec.names.listKind"),
    ("CustomResourceDefinition", "spec.names.singular"),
    ("DaemonSet", "metadata.annotations"),
    ("DaemonSet", "spec.updateStrategy.rollingUpdate.maxSurge"),
    (
        "DaemonSet",
        "spec.updateStrategy.rollingUpdate.maxUnavailable",
    ),
    ("Deployment", "spec.strategy.rollingUpdate.maxSurge"),
    ("Deployment", "spec.strategy.rollingUpdate.maxUnavailable"),
    ("HorizontalPodAutoscaler", "spec.behavior.*.policies"),
    ("HorizontalPodAutoscaler", "spec.behavior.*.selectPolicy"),
    ("HorizontalPodAutoscaler", "spec.behavior.scaleDown"),
    ("HorizontalPodAutoscaler", "spec.behavior.scaleUp"),
    (
        "HorizontalPodAutoscaler",
        "spec.behavior.scaleUp.stabilizationWindowSeconds",
    ),
    ("HorizontalPodAutoscaler", "spec.metrics"),
    ("Job", "spec.backoffLimit"),
    ("Job", "spec.parallelism"),
    ("Job", "spec.podReplacementPolicy"),
    // Every namespace has the label kubernetes.io/metadata.name.
    ("Namespace", "metadata.labels"),
    ("NetworkPolicy", "spec.policyTypes"),
    ("Pod", "spec.serviceAccountName"),
    ("PodTemplate", "template"),
    ("ReplicaSet", "spec.template"),
    ("ReplicationController", "spec.template"),
    (
        "ResourceClaim",
        "spec.devices.requests.*.exactly.allocationMode",
    ),
    (
        "ResourceClaim",
        "spec.devices.requests.*.firstAvailable.*.allocationMode",
    ),
    (
        "ResourceClaimTemplate",
        "spec.spec.devices.requests.*.exactly.allocationMode",
    ),
    (
        "ResourceClaimTemplate",
        "spec.spec.devices.requests.*.firstAvailable.*.allocationMode",
    ),
    ("Service", "spec.clusterIP"),
    ("Service", "spec.internalTrafficPolicy"),
    ("Service", "spec.ports.*.targetPort"),
    ("StatefulSet", "spec.persistentVolumeClaimRetentionPolicy"),
    ("StatefulSet", "spec.updateStrategy.rollingUpdate.partition"),
    ("StatefulSet", "spec.updateStrategy.type"),
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
    let fields = path.get(1..).unwrap_or_default();
    let is_at = |path: &str| {
        let names = path.split('.');
        names.clone().count() == fields.len()
            && names
                .zip(fields)
                .all(|(name, field)| name == "*" || name == field)
    };
    is_always_set(&kind.api_version(), &kind.kind, fields, server)
        || SET.iter().any(|(of, path)| *of == kind.kind && is_at(path))
        || is_at("metadata.namespace") && !is_cluster_scoped(&kind.kind)
        || is_set_in_containers(fields)
}

/// Whether a path ends with a field of a container that is always set, because of other fields or of the kind of the object.
fn is_set_in_containers(fields: &[SmolStr]) -> bool {
    let [.., containers, _, field] = fields else {
        return false;
    };
    matches!(
        containers.as_str(),
        "containers" | "initContainers" | "ephemeralContainers"
    ) && matches!(
        field.as_str(),
        "image" | "imagePullPolicy" | "terminationMessagePath" | "terminationMessagePolicy"
    )
}

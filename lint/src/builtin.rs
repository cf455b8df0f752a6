//! The fields of Kubernetes' own kinds that the API server always sets, although the OpenAPI schemas do not require them (kubernetes
//! `pkg/apis/*/v1/defaults.go`, and admission plugins that run before policies).

use gavel_policy::GroupVersionKind;
use gavel_schema::built_in::Kubernetes;
use smol_str::SmolStr;

/// The names of fields that are always set.
const SET: [&str; 31] = [
    "clusterIP",
    "completionMode",
    "concurrencyPolicy",
    "defaultMode",
    "dnsPolicy",
    "externalTrafficPolicy",
    "failurePolicy",
    "image",
    "imagePullPolicy",
    "internalTrafficPolicy",
    "minReadySeconds",
    "name",
    "namespace",
    "parallelism",
    "podManagementPolicy",
    "progressDeadlineSeconds",
    "protocol",
    "reclaimPolicy",
    "replicas",
    "restartPolicy",
    "revisionHistoryLimit",
    "schedulerName",
    "serviceAccountName",
    "sessionAffinity",
    "strategy",
    "template",
    "terminationGracePeriodSeconds",
    "type",
    "updateStrategy",
    "volumeBindingMode",
    "volumeMode",
];

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
    let Some(last) = path.last() else {
        return false;
    };
    match last.as_str() {
        // Every namespace has the label kubernetes.io/metadata.name.
        "labels" => {
            kind.kind == "Namespace" && matches!(path, [_, metadata, _] if metadata == "metadata")
        }
        // The security context of a pod is set, that of a container is not.
        "securityContext" => !path
            .iter()
            .any(|step| step.to_lowercase().ends_with("containers")),
        name => SET.contains(&name),
    }
}

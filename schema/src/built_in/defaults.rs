//! Fixed defaults of the built-in kinds: they do not depend on other fields (`pkg/apis/*/*/defaults.go` of k8s.io/kubernetes). Defaults
//! that the OpenAPI documents declare are in `kubernetes/structure-*.json.gz`.

use gavel_engine::value::{Json, JsonObject};
use serde_json::json;

use super::fields::part;

/// The default of a field.
#[derive(Debug, Clone, Copy)]
enum Value {
    /// A string that is set if the field is absent or empty.
    Text(&'static str),
    /// A string that is set if the field is absent.
    Pointer(&'static str),
    /// A number that is set if the field is absent.
    Int(i64),
    /// A number that is set if the field is absent or 0.
    Plain(i64),
    Bool(bool),
    /// A struct without fields.
    Empty,
}
use Value::{Bool, Empty, Int, Plain, Pointer, Text};

/// The defaults: the name of a struct, the path of the field within the struct, and the default. Sorted by the names of the structs.
#[rustfmt::skip] // A table with one row per line.
const DEFAULTS: &[(&str, &str, Value)] = &[
    ("admissionregistration.v1.MutatingWebhook", "failurePolicy", Pointer("Fail")),
    ("admissionregistration.v1.MutatingWebhook", "matchPolicy", Pointer("Equivalent")),
    ("admissionregistration.v1.MutatingWebhook", "namespaceSelector", Empty),
    ("admissionregistration.v1.MutatingWebhook", "objectSelector", Empty),
    ("admissionregistration.v1.MutatingWebhook", "reinvocationPolicy", Pointer("Never")),
    ("admissionregistration.v1.MutatingWebhook", "timeoutSeconds", Int(10)),
    ("admissionregistration.v1.RuleWithOperations", "scope", Pointer("*")),
    ("admissionregistration.v1.ServiceReference", "port", Int(443)),
    ("admissionregistration.v1.ValidatingWebhook", "failurePolicy", Pointer("Fail")),
    ("admissionregistration.v1.ValidatingWebhook", "matchPolicy", Pointer("Equivalent")),
    ("admissionregistration.v1.ValidatingWebhook", "namespaceSelector", Empty),
    ("admissionregistration.v1.ValidatingWebhook", "objectSelector", Empty),
    ("admissionregistration.v1.ValidatingWebhook", "timeoutSeconds", Int(10)),
    ("apiextensions.v1.ServiceReference", "port", Int(443)),
    ("apiregistration.v1.ServiceReference", "port", Int(443)),
    ("apps.v1.DaemonSet", "spec.revisionHistoryLimit", Int(10)),
    ("apps.v1.DaemonSet", "spec.updateStrategy.type", Text("RollingUpdate")),
    ("apps.v1.Deployment", "spec.progressDeadlineSeconds", Int(600)),
    ("apps.v1.Deployment", "spec.replicas", Int(1)),
    ("apps.v1.Deployment", "spec.revisionHistoryLimit", Int(10)),
    ("apps.v1.Deployment", "spec.strategy.type", Text("RollingUpdate")),
    ("apps.v1.ReplicaSet", "spec.replicas", Int(1)),
    ("apps.v1.StatefulSet", "spec.persistentVolumeClaimRetentionPolicy.whenDeleted", Text("Retain")),
    ("apps.v1.StatefulSet", "spec.persistentVolumeClaimRetentionPolicy.whenScaled", Text("Retain")),
    ("apps.v1.StatefulSet", "spec.podManagementPolicy", Text("OrderedReady")),
    ("apps.v1.StatefulSet", "spec.replicas", Int(1)),
    ("apps.v1.StatefulSet", "spec.revisionHistoryLimit", Int(10)),
    ("authentication.v1.TokenRequest", "spec.expirationSeconds", Int(3600)),
    ("autoscaling.v1.HorizontalPodAutoscaler", "spec.minReplicas", Int(1)),
    ("autoscaling.v2.HorizontalPodAutoscaler", "spec.minReplicas", Int(1)),
    ("batch.v1.CronJob", "spec.concurrencyPolicy", Text("Allow")),
    ("batch.v1.CronJob", "spec.failedJobsHistoryLimit", Int(1)),
    ("batch.v1.CronJob", "spec.successfulJobsHistoryLimit", Int(3)),
    ("batch.v1.CronJob", "spec.suspend", Bool(false)),
    ("batch.v1.Job", "spec.completionMode", Pointer("NonIndexed")),
    ("batch.v1.Job", "spec.manualSelector", Bool(false)),
    ("batch.v1.Job", "spec.suspend", Bool(false)),
    ("batch.v1.PodFailurePolicyOnPodConditionsPattern", "status", Text("True")),
    ("core.v1.ConfigMapVolumeSource", "defaultMode", Int(0o644)),
    ("core.v1.DownwardAPIVolumeSource", "defaultMode", Int(0o644)),
    ("core.v1.EndpointPort", "protocol", Text("TCP")),
    ("core.v1.HTTPGetAction", "path", Text("/")),
    ("core.v1.HTTPGetAction", "scheme", Text("HTTP")),
    ("core.v1.HostPathVolumeSource", "type", Pointer("")),
    ("core.v1.NamespaceStatus", "phase", Text("Active")),
    ("core.v1.ObjectFieldSelector", "apiVersion", Text("v1")),
    ("core.v1.PersistentVolume", "spec.persistentVolumeReclaimPolicy", Text("Retain")),
    ("core.v1.PersistentVolume", "spec.volumeMode", Pointer("Filesystem")),
    ("core.v1.PersistentVolume", "status.phase", Text("Pending")),
    ("core.v1.PersistentVolumeClaim", "status.phase", Text("Pending")),
    ("core.v1.PersistentVolumeClaimSpec", "volumeMode", Pointer("Filesystem")),
    ("core.v1.Pod", "spec.enableServiceLinks", Bool(true)),
    ("core.v1.PodSpec", "dnsPolicy", Text("ClusterFirst")),
    ("core.v1.PodSpec", "restartPolicy", Text("Always")),
    ("core.v1.PodSpec", "schedulerName", Text("default-scheduler")),
    ("core.v1.PodSpec", "securityContext", Empty),
    ("core.v1.PodSpec", "terminationGracePeriodSeconds", Int(30)),
    ("core.v1.Probe", "failureThreshold", Plain(3)),
    ("core.v1.Probe", "periodSeconds", Plain(10)),
    ("core.v1.Probe", "successThreshold", Plain(1)),
    ("core.v1.Probe", "timeoutSeconds", Plain(1)),
    ("core.v1.ProjectedVolumeSource", "defaultMode", Int(0o644)),
    ("core.v1.Secret", "type", Text("Opaque")),
    ("core.v1.SecretVolumeSource", "defaultMode", Int(0o644)),
    ("core.v1.Service", "spec.sessionAffinity", Text("None")),
    ("core.v1.Service", "spec.type", Text("ClusterIP")),
    ("core.v1.ServiceAccountTokenProjection", "expirationSeconds", Int(3600)),
    ("discovery.v1.EndpointPort", "name", Pointer("")),
    ("discovery.v1.EndpointPort", "protocol", Pointer("TCP")),
    ("flowcontrol.v1.ExemptPriorityLevelConfiguration", "lendablePercent", Int(0)),
    ("flowcontrol.v1.ExemptPriorityLevelConfiguration", "nominalConcurrencyShares", Int(0)),
    ("flowcontrol.v1.FlowSchemaSpec", "matchingPrecedence", Plain(1000)),
    ("flowcontrol.v1.LimitedPriorityLevelConfiguration", "lendablePercent", Int(0)),
    ("flowcontrol.v1.LimitedPriorityLevelConfiguration", "nominalConcurrencyShares", Int(30)),
    ("flowcontrol.v1.QueuingConfiguration", "handSize", Plain(8)),
    ("flowcontrol.v1.QueuingConfiguration", "queueLengthLimit", Plain(50)),
    ("flowcontrol.v1.QueuingConfiguration", "queues", Plain(64)),
    ("networking.v1.IngressClassParametersReference", "scope", Pointer("Cluster")),
    ("networking.v1.NetworkPolicyPort", "protocol", Pointer("TCP")),
    ("rbac.v1.ClusterRoleBinding", "roleRef.apiGroup", Text("rbac.authorization.k8s.io")),
    ("rbac.v1.RoleBinding", "roleRef.apiGroup", Text("rbac.authorization.k8s.io")),
    ("resource.v1.NodeAllocatableResourceMapping", "allocationMultiplier", Pointer("1")),
    ("resource.v1beta1.NodeAllocatableResourceMapping", "allocationMultiplier", Pointer("1")),
    ("resource.v1beta2.NodeAllocatableResourceMapping", "allocationMultiplier", Pointer("1")),
    ("scheduling.v1.PriorityClass", "preemptionPolicy", Pointer("PreemptLowerPriority")),
    ("storage.v1.CSIDriver", "spec.attachRequired", Bool(true)),
    ("storage.v1.CSIDriver", "spec.fsGroupPolicy", Pointer("ReadWriteOnceWithFSType")),
    ("storage.v1.CSIDriver", "spec.podInfoOnMount", Bool(false)),
    ("storage.v1.CSIDriver", "spec.requiresRepublish", Bool(false)),
    ("storage.v1.CSIDriver", "spec.seLinuxMount", Bool(false)),
    ("storage.v1.CSIDriver", "spec.storageCapacity", Bool(false)),
    ("storage.v1.StorageClass", "reclaimPolicy", Pointer("Delete")),
    ("storage.v1.StorageClass", "volumeBindingMode", Pointer("Immediate")),
];

/// Sets the defaults of a struct. `name` is the group, version and name of the struct.
pub(super) fn set(fields: &mut JsonObject, name: &str) {
    for (path, value) in rows(name) {
        set_at(fields, path, value);
    }
}

/// Whether the field at a path within a struct has a default. `name` is as for [`set`].
pub(super) fn has(name: &str, path: &[impl AsRef<str>]) -> bool {
    let is_path = |of: &str| of.split('.').eq(path.iter().map(AsRef::as_ref));
    rows(name).any(|(of, _)| is_path(of))
}

/// The paths and defaults of a struct.
fn rows(name: &str) -> impl Iterator<Item = (&'static str, Value)> {
    let first = DEFAULTS.partition_point(|(of, ..)| *of < name);
    let rows = DEFAULTS.get(first..).unwrap_or_default();
    let rows = rows.iter().take_while(move |(of, ..)| *of == name);
    rows.map(|(_, path, value)| (*path, *value))
}

fn set_at(fields: &mut JsonObject, path: &str, value: Value) {
    let Some((first, rest)) = path.split_once('.') else {
        if value.is_needed(fields.get(path)) {
            fields.insert(path.to_owned(), value.json());
        }
        return;
    };
    if let Some(part) = part(fields, first) {
        set_at(part, rest, value);
    }
}

impl Value {
    fn is_needed(self, found: Option<&Json>) -> bool {
        match (self, found) {
            (_, None | Some(Json::Null)) => true,
            (Text(_), Some(Json::String(text))) => text.is_empty(),
            (Plain(_), Some(Json::Number(number))) => number.as_i64() == Some(0),
            _ => false,
        }
    }

    fn json(self) -> Json {
        match self {
            Text(text) | Pointer(text) => text.into(),
            Int(int) | Plain(int) => int.into(),
            Bool(value) => value.into(),
            Empty => json!({}),
        }
    }
}

#[cfg(test)]
mod tests {
    use gavel_apimachinery::server::{REPRODUCED, Server};

    use super::*;
    use crate::built_in::Kubernetes;

    #[test]
    fn rows_are_in_order_and_name_structs_and_fields() {
        assert!(DEFAULTS.is_sorted_by_key(|(name, path, _)| (*name, *path)));
        let versions = REPRODUCED.iter();
        let versions: Vec<_> = versions
            .map(|(version, _)| Kubernetes::of(Server::new(*version)))
            .collect();
        for (name, path, _) in DEFAULTS {
            let has_field = |kubernetes: &&&Kubernetes| {
                let mut named = kubernetes.schemas();
                let found = named.find(|(long, _)| long.ends_with(&format!(".{name}")));
                let mut schema = found.map(|(_, schema)| schema);
                path.split('.').all(|step| {
                    let field = schema.and_then(|schema| schema.properties.get(step));
                    let reference = field.and_then(|field| field.unsupported.reference.as_deref());
                    schema = reference.and_then(|name| kubernetes.schema(name));
                    field.is_some()
                })
            };
            let found = versions.iter().find(has_field);
            assert!(found.is_some(), "{name} has no {path}");
        }
    }
}

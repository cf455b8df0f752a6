//! The APIs that Kubernetes has removed or deprecated (kubernetes.io, Deprecated API Migration Guide).

use gavel_libraries::KubeVersion;

/// An API that is removed or deprecated.
#[derive(Debug)]
pub(crate) struct Api {
    group: &'static str,
    pub(crate) version: &'static str,
    /// Plural names; empty means all resources of the group and version.
    resources: &'static [&'static str],
    pub(crate) end: End,
    /// The replacement; can be empty.
    pub(crate) replacement: &'static str,
}

/// The Kubernetes version from which an API is deprecated or no longer served.
#[derive(Debug, Clone, Copy)]
pub(crate) enum End {
    /// The first Kubernetes version that does not serve the API.
    Removed(KubeVersion),
    /// The first Kubernetes version that warns about the API.
    Deprecated(KubeVersion),
}

/// The entry of an API that is removed or deprecated; `None` for other APIs.
pub(crate) fn find(group: &str, version: &str, resource: &str) -> Option<&'static Api> {
    APIS.iter().find(|api| {
        let has = api.resources.is_empty() || api.resources.contains(&resource);
        api.group == group && api.version == version && has
    })
}

const fn removed(
    group: &'static str,
    version: &'static str,
    resources: &'static [&'static str],
    minor: u32,
    replacement: &'static str,
) -> Api {
    Api {
        group,
        version,
        resources,
        end: End::Removed(KubeVersion::v1(minor)),
        replacement,
    }
}

const fn deprecated(
    group: &'static str,
    version: &'static str,
    resources: &'static [&'static str],
    minor: u32,
    replacement: &'static str,
) -> Api {
    Api {
        end: End::Deprecated(KubeVersion::v1(minor)),
        ..removed(group, version, resources, minor, replacement)
    }
}

#[rustfmt::skip] // One row per line.
static APIS: &[Api] = &[
    deprecated("", "v1", &["componentstatuses"], 19, ""),
    deprecated("", "v1", &["endpoints"], 33, "endpointslices of discovery.k8s.io/v1"),
    removed("flowcontrol.apiserver.k8s.io", "v1beta3", &[], 32, "flowcontrol.apiserver.k8s.io/v1"),
    removed("flowcontrol.apiserver.k8s.io", "v1beta2", &[], 29, "flowcontrol.apiserver.k8s.io/v1"),
    removed("flowcontrol.apiserver.k8s.io", "v1beta1", &[], 26, "flowcontrol.apiserver.k8s.io/v1"),
    removed("storage.k8s.io", "v1beta1", &["csistoragecapacities"], 27, "storage.k8s.io/v1"),
    removed("autoscaling", "v2beta2", &["horizontalpodautoscalers"], 26, "autoscaling/v2"),
    removed("autoscaling", "v2beta1", &["horizontalpodautoscalers"], 25, "autoscaling/v2"),
    removed("batch", "v1beta1", &["cronjobs"], 25, "batch/v1"),
    removed("discovery.k8s.io", "v1beta1", &["endpointslices"], 25, "discovery.k8s.io/v1"),
    removed("events.k8s.io", "v1beta1", &["events"], 25, "events.k8s.io/v1"),
    removed("policy", "v1beta1", &["poddisruptionbudgets"], 25, "policy/v1"),
    removed("policy", "v1beta1", &["podsecuritypolicies"], 25, "Pod Security Admission"),
    removed("node.k8s.io", "v1beta1", &["runtimeclasses"], 25, "node.k8s.io/v1"),
    removed("admissionregistration.k8s.io", "v1beta1", &["mutatingwebhookconfigurations", "validatingwebhookconfigurations"], 22, "admissionregistration.k8s.io/v1"),
    removed("apiextensions.k8s.io", "v1beta1", &["customresourcedefinitions"], 22, "apiextensions.k8s.io/v1"),
    removed("apiregistration.k8s.io", "v1beta1", &["apiservices"], 22, "apiregistration.k8s.io/v1"),
    removed("authentication.k8s.io", "v1beta1", &["tokenreviews"], 22, "authentication.k8s.io/v1"),
    removed("authorization.k8s.io", "v1beta1", &["localsubjectaccessreviews", "selfsubjectaccessreviews", "subjectaccessreviews", "selfsubjectrulesreviews"], 22, "authorization.k8s.io/v1"),
    removed("certificates.k8s.io", "v1beta1", &["certificatesigningrequests"], 22, "certificates.k8s.io/v1"),
    removed("coordination.k8s.io", "v1beta1", &["leases"], 22, "coordination.k8s.io/v1"),
    removed("extensions", "v1beta1", &["ingresses"], 22, "ingresses of networking.k8s.io/v1"),
    removed("networking.k8s.io", "v1beta1", &["ingresses", "ingressclasses"], 22, "networking.k8s.io/v1"),
    removed("rbac.authorization.k8s.io", "v1beta1", &["clusterroles", "clusterrolebindings", "roles", "rolebindings"], 22, "rbac.authorization.k8s.io/v1"),
    removed("scheduling.k8s.io", "v1beta1", &["priorityclasses"], 22, "scheduling.k8s.io/v1"),
    removed("storage.k8s.io", "v1beta1", &["csidrivers", "csinodes", "storageclasses", "volumeattachments"], 22, "storage.k8s.io/v1"),
    removed("extensions", "v1beta1", &["networkpolicies"], 16, "networkpolicies of networking.k8s.io/v1"),
    removed("extensions", "v1beta1", &["daemonsets", "deployments", "replicasets"], 16, "apps/v1"),
    removed("extensions", "v1beta1", &["podsecuritypolicies"], 16, "Pod Security Admission"),
    removed("apps", "v1beta2", &["daemonsets", "deployments", "replicasets", "statefulsets"], 16, "apps/v1"),
    removed("apps", "v1beta1", &["deployments", "replicasets", "statefulsets"], 16, "apps/v1"),
];

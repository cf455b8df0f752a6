//! The APIs that Kubernetes has removed or deprecated (kubernetes.io, Deprecated API Migration Guide).

use gavel_libraries::KubeVersion;
use gavel_policy::api::OWN_GROUP;

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

/// The Kubernetes versions that accept objects with expressions, by kind and API version: the first minor version that accepts such
/// objects, and the first later version that rejects them. For policies and devices, these are the versions that serve the API version
/// (k8s.io/api `*/zz_generated.prerelease-lifecycle.go`).
const KINDS: [(&[&str], &str, u32, Option<u32>); 14] = [
    (VALIDATING, "v1alpha1", 26, Some(32)),
    (VALIDATING, "v1beta1", 28, Some(34)),
    (VALIDATING, "v1", 30, None),
    (MUTATING, "v1alpha1", 32, Some(38)),
    (MUTATING, "v1beta1", 34, Some(40)),
    (MUTATING, "v1", 36, None),
    (DEVICES, "v1alpha3", 31, Some(34)),
    (DEVICES, "v1beta1", 32, Some(38)),
    (DEVICES, "v1beta2", 33, Some(39)),
    (DEVICES, "v1", 34, None),
    (CONFIGURATIONS, "v1alpha1", 29, None),
    (CONFIGURATIONS, "v1beta1", 30, None),
    (&["AuthorizationConfiguration"], "v1", 32, None),
    (&["AuthenticationConfiguration"], "v1", 34, None),
];
const VALIDATING: &[&str] = &[
    "ValidatingAdmissionPolicy",
    "ValidatingAdmissionPolicyBinding",
];
const MUTATING: &[&str] = &["MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding"];
const DEVICES: &[&str] = &["DeviceClass", "ResourceClaim", "ResourceClaimTemplate"];
const CONFIGURATIONS: &[&str] = &["AuthenticationConfiguration", "AuthorizationConfiguration"];

/// The reason why a Kubernetes version does not accept objects of a kind and version.
#[derive(Debug, Default)]
pub(crate) struct Unserved {
    /// Help that names the Kubernetes version that first accepts or no longer accepts the objects; `None` if the kind does not have this
    /// API version.
    pub(crate) help: Option<String>,
    /// The newer `apiVersion` of the kind; `None` unless the API version was removed and the Kubernetes version accepts the newer one.
    pub(crate) newest: Option<String>,
}

/// Why a Kubernetes version does not accept objects of a kind and API version. `None` if it accepts them, or if the kind is not in
/// [`KINDS`].
pub(crate) fn unserved(api_version: &str, kind: &str, server: KubeVersion) -> Option<Unserved> {
    let (group, version) = api_version.split_once('/')?;
    if group == OWN_GROUP {
        return None;
    }
    let mut of_kind = KINDS.iter().filter(|row| row.0.contains(&kind)).peekable();
    of_kind.peek()?;
    let Some((_, _, since, until)) = of_kind.find(|row| row.1 == version) else {
        return Some(Unserved::default());
    };
    let (since, until) = (KubeVersion::v1(*since), until.map(KubeVersion::v1));
    match until {
        _ if server < since => Some(Unserved {
            help: Some(format!("Kubernetes {since} is the first that serves it")),
            newest: None,
        }),
        Some(until) if server >= until => {
            let newest = format!("{group}/v1");
            let help = format!("Kubernetes {until} removed it: use {newest}");
            let is_served = unserved(&newest, kind, server).is_none();
            Some(Unserved {
                help: Some(help),
                newest: is_served.then_some(newest),
            })
        }
        _ => None,
    }
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

static APIS: &[Api] = &[
    deprecated("", "v1", &["componentstatuses"], 19, ""),
    deprecated(
        "",
        "v1",
        &["endpoints"],
        33,
        "endpointslices of discovery.k8s.io/v1",
    ),
    removed(
        "flowcontrol.apiserver.k8s.io",
        "v1beta3",
        &[],
        32,
        "flowcontrol.apiserver.k8s.io/v1",
    ),
    removed(
        "flowcontrol.apiserver.k8s.io",
        "v1beta2",
        &[],
        29,
        "flowcontrol.apiserver.k8s.io/v1",
    ),
    removed(
        "flowcontrol.apiserver.k8s.io",
        "v1beta1",
        &[],
        26,
        "flowcontrol.apiserver.k8s.io/v1",
    ),
    removed(
        "storage.k8s.io",
        "v1beta1",
        &["csistoragecapacities"],
        27,
        "storage.k8s.io/v1",
    ),
    removed(
        "autoscaling",
        "v2beta2",
        &["horizontalpodautoscalers"],
        26,
        "autoscaling/v2",
    ),
    removed(
        "autoscaling",
        "v2beta1",
        &["horizontalpodautoscalers"],
        25,
        "autoscaling/v2",
    ),
    removed("batch", "v1beta1", &["cronjobs"], 25, "batch/v1"),
    removed(
        "discovery.k8s.io",
        "v1beta1",
        &["endpointslices"],
        25,
        "discovery.k8s.io/v1",
    ),
    removed(
        "events.k8s.io",
        "v1beta1",
        &["events"],
        25,
        "events.k8s.io/v1",
    ),
    removed(
        "policy",
        "v1beta1",
        &["poddisruptionbudgets"],
        25,
        "policy/v1",
    ),
    removed(
        "policy",
        "v1beta1",
        &["podsecuritypolicies"],
        25,
        "Pod Security Admission",
    ),
    removed(
        "node.k8s.io",
        "v1beta1",
        &["runtimeclasses"],
        25,
        "node.k8s.io/v1",
    ),
    removed(
        "admissionregistration.k8s.io",
        "v1beta1",
        &[
            "mutatingwebhookconfigurations",
            "validatingwebhookconfigurations",
        ],
        22,
        "admissionregistration.k8s.io/v1",
    ),
    removed(
        "apiextensions.k8s.io",
        "v1beta1",
        &["customresourcedefinitions"],
        22,
        "apiextensions.k8s.io/v1",
    ),
    removed(
        "apiregistration.k8s.io",
        "v1beta1",
        &["apiservices"],
        22,
        "apiregistration.k8s.io/v1",
    ),
    removed(
        "authentication.k8s.io",
        "v1beta1",
        &["tokenreviews"],
        22,
        "authentication.k8s.io/v1",
    ),
    removed(
        "authorization.k8s.io",
        "v1beta1",
        &[
            "localsubjectaccessreviews",
            "selfsubjectaccessreviews",
            "subjectaccessreviews",
            "selfsubjectrulesreviews",
        ],
        22,
        "authorization.k8s.io/v1",
    ),
    removed(
        "certificates.k8s.io",
        "v1beta1",
        &["certificatesigningrequests"],
        22,
        "certificates.k8s.io/v1",
    ),
    removed(
        "coordination.k8s.io",
        "v1beta1",
        &["leases"],
        22,
        "coordination.k8s.io/v1",
    ),
    removed(
        "extensions",
        "v1beta1",
        &["ingresses"],
        22,
        "ingresses of networking.k8s.io/v1",
    ),
    removed(
        "networking.k8s.io",
        "v1beta1",
        &["ingresses", "ingressclasses"],
        22,
        "networking.k8s.io/v1",
    ),
    removed(
        "rbac.authorization.k8s.io",
        "v1beta1",
        &[
            "clusterroles",
            "clusterrolebindings",
            "roles",
            "rolebindings",
        ],
        22,
        "rbac.authorization.k8s.io/v1",
    ),
    removed(
        "scheduling.k8s.io",
        "v1beta1",
        &["priorityclasses"],
        22,
        "scheduling.k8s.io/v1",
    ),
    removed(
        "storage.k8s.io",
        "v1beta1",
        &[
            "csidrivers",
            "csinodes",
            "storageclasses",
            "volumeattachments",
        ],
        22,
        "storage.k8s.io/v1",
    ),
    removed(
        "extensions",
        "v1beta1",
        &["networkpolicies"],
        16,
        "networkpolicies of networking.k8s.io/v1",
    ),
    removed(
        "extensions",
        "v1beta1",
        &["daemonsets", "deployments", "replicasets"],
        16,
        "apps/v1",
    ),
    removed(
        "extensions",
        "v1beta1",
        &["podsecuritypolicies"],
        16,
        "Pod Security Admission",
    ),
    removed(
        "apps",
        "v1beta2",
        &["daemonsets", "deployments", "replicasets", "statefulsets"],
        16,
        "apps/v1",
    ),
    removed(
        "apps",
        "v1beta1",
        &["deployments", "replicasets", "statefulsets"],
        16,
        "apps/v1",
    ),
];

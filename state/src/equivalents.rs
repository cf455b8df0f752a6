//! The resources that an API server treats as equivalent. They are built-in resources with shared storage (apiserver
//! `pkg/server/config.go`, `EquivalentResourceRegistry`), and the versions of each custom resource (apiextensions-apiserver
//! `pkg/apiserver/customresource_handler.go`).

use gavel_crd::definition::Spec;
use gavel_policy::{EquivalentResources, GroupVersionKind, GroupVersionResource};

/// The built-in resources that API servers 1.34 to 1.37 serve in several groups or versions by default. A row is the plural name, kind,
/// group and version; the rows have the order in which the server installs the resources.
const BUILT_IN: [(&str, &str, &str, &str); 4] = [
    ("events", "Event", "", "v1"),
    ("events", "Event", "events.k8s.io", "v1"),
    (AUTOSCALERS, "HorizontalPodAutoscaler", "autoscaling", "v2"),
    (AUTOSCALERS, "HorizontalPodAutoscaler", "autoscaling", "v1"),
];

/// The only resource in the table with a `status` subresource.
const AUTOSCALERS: &str = "horizontalpodautoscalers";

/// The equivalent built-in resources.
pub(crate) fn built_in() -> EquivalentResources {
    let mut equivalents = EquivalentResources::default();
    for (plural, kind, group, version) in BUILT_IN {
        let resource = resource(group, version, plural);
        let kind = GroupVersionKind {
            group: group.into(),
            version: version.into(),
            kind: kind.into(),
        };
        if plural == AUTOSCALERS {
            equivalents.register(plural, resource.clone(), "status", kind.clone());
        }
        equivalents.register(plural, resource, "", kind);
    }
    equivalents
}

/// Registers all versions of a custom resource with their subresources, including versions that are not served.
pub(crate) fn register(equivalents: &mut EquivalentResources, spec: &Spec) {
    for version in &spec.versions {
        let resource = resource(&spec.group, &version.name, &spec.names.plural);
        let kind = GroupVersionKind {
            group: spec.group.as_str().into(),
            version: version.name.as_str().into(),
            kind: spec.names.kind.as_str().into(),
        };
        equivalents.register("", resource.clone(), "", kind.clone());
        let Some(subresources) = &version.subresources else {
            continue;
        };
        if subresources.status {
            equivalents.register("", resource.clone(), "status", kind);
        }
        if subresources.scale.is_some() {
            let scale = GroupVersionKind::new("autoscaling/v1", "Scale");
            equivalents.register("", resource, "scale", scale);
        }
    }
}

fn resource(group: &str, version: &str, plural: &str) -> GroupVersionResource {
    GroupVersionResource {
        group: group.into(),
        version: version.into(),
        resource: plural.into(),
    }
}

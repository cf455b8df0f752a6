//! The patch releases of Kubernetes that answer differently from earlier patch releases of the same minor version.

use crate::version::KubeVersion;

/// For each minor version, the patch release that Gavel reproduces; the oldest first.
pub const REPRODUCED: &[(KubeVersion, u32)] = &[
    (KubeVersion::v1(34), 9),
    (KubeVersion::v1(35), 6),
    (KubeVersion::v1(36), 1),
    (KubeVersion::v1(37), 1),
];

/// A patch release that answers differently from earlier patch releases of its minor version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PatchRelease {
    /// The minor version.
    pub version: KubeVersion,
    /// The patch number.
    pub patch: u32,
    /// A sentence that describes the behavior since this release, and the behavior before.
    pub what: &'static str,
    /// Gavel's behavior.
    pub here: &'static str,
    /// The change in upstream's code, with its file.
    pub upstream: &'static str,
}

/// The patch releases that answer differently from their predecessors, the oldest first. The list covers all releases up to 1.34.13,
/// 1.35.10, 1.36.6 and 1.37.2.
pub const PATCH_RELEASES: &[PatchRelease] = &[
    PatchRelease {
        version: KubeVersion::v1(34),
        patch: 1,
        what: "Only unknown formats of strings cause a warning; before, `int32` of an integer did too",
        here: "the new behavior",
        upstream: "apiextensions-apiserver pkg/apiserver/validation/formats.go, GetUnrecognizedFormats",
    },
    PatchRelease {
        version: KubeVersion::v1(34),
        patch: 3,
        what: "If the API server's namespace cache for policies does not contain a namespace yet, the API server looks the namespace up in storage; before, requests in new namespaces could fail with `namespaces \"…\" not found`",
        here: "has no such cache",
        upstream: "apiserver pkg/admission/plugin/webhook/predicates/namespace/matcher.go, GetNamespace",
    },
    PatchRelease {
        version: KubeVersion::v1(34),
        patch: 4,
        what: "The status of a custom resource whose definition has no structural schema can be updated; before, the update crashed",
        here: "the new behavior",
        upstream: "apiextensions-apiserver pkg/registry/customresource/status_strategy.go, ValidateUpdate",
    },
    PatchRelease {
        version: KubeVersion::v1(35),
        patch: 8,
        what: "`value` of a JSON patch can be a list or a map that contains `Object{}`; before, such a mutation crashed",
        here: "the new behavior, in all versions",
        upstream: "apiserver pkg/cel/mutation/dynamic/objects.go, ConvertToNative",
    },
    PatchRelease {
        version: KubeVersion::v1(36),
        patch: 5,
        what: "The same change as in 1.35.8: `value` of a JSON patch can be a list or a map that contains `Object{}`",
        here: "the new behavior, in all versions",
        upstream: "apiserver pkg/cel/mutation/dynamic/objects.go, ConvertToNative",
    },
];

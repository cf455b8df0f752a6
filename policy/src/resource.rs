//! Kinds and resources with their group and version (apimachinery `pkg/runtime/schema`).

use std::fmt;

use gavel_engine::value::Value;
use smol_str::SmolStr;

use crate::fields::text_field;

/// The kind of an object, with its API group and version.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GroupVersionKind {
    /// The API group; empty is the core group.
    pub group: SmolStr,
    /// The version of the group.
    pub version: SmolStr,
    /// The kind, such as `Deployment`.
    pub kind: SmolStr,
}

/// The resource of a request, with its API group and version.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GroupVersionResource {
    /// The API group; empty is the core group.
    pub group: SmolStr,
    /// The version of the group.
    pub version: SmolStr,
    /// The plural name, such as `deployments`.
    pub resource: SmolStr,
}

impl GroupVersionKind {
    /// Reads `{"group": …, "version": …, "kind": …}`. Fields that are absent or not strings are empty.
    pub fn read(value: Value<'_>) -> Self {
        GroupVersionKind {
            group: text_field(value, "group").into(),
            version: text_field(value, "version").into(),
            kind: text_field(value, "kind").into(),
        }
    }

    /// The kind of an object with this `apiVersion` and `kind`.
    pub fn new(api_version: &str, kind: &str) -> Self {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        GroupVersionKind {
            group: group.into(),
            version: version.into(),
            kind: kind.into(),
        }
    }

    /// The `apiVersion` of objects of this kind, such as `v1` or `apps/v1`.
    pub fn api_version(&self) -> String {
        api_version(&self.group, &self.version)
    }

    /// Whether an object with this `apiVersion` and `kind` has this kind.
    pub(crate) fn is(&self, api_version: &str, kind: &str) -> bool {
        let version = match self.group.as_str() {
            "" => Some(api_version.strip_prefix('/').unwrap_or(api_version)),
            group => (api_version.strip_prefix(group)).and_then(|rest| rest.strip_prefix('/')),
        };
        self.kind == kind && version.is_some_and(|version| self.version == version)
    }
}

impl GroupVersionResource {
    /// Reads `{"group": …, "version": …, "resource": …}`. Fields that are absent or not strings are empty.
    pub fn read(value: Value<'_>) -> Self {
        GroupVersionResource {
            group: text_field(value, "group").into(),
            version: text_field(value, "version").into(),
            resource: text_field(value, "resource").into(),
        }
    }

    /// The name of the resource with its group, as in messages: `pods`, `deployments.apps`.
    pub fn qualified(&self) -> String {
        match self.group.as_str() {
            "" => self.resource.to_string(),
            group => format!("{}.{group}", self.resource),
        }
    }

    /// The `apiVersion` of objects of this resource, such as `v1` or `apps/v1`.
    pub(crate) fn api_version(&self) -> String {
        api_version(&self.group, &self.version)
    }

    /// Whether this resource has exactly this group, version and plural name.
    pub(crate) fn is(&self, group: &str, version: &str, resource: &str) -> bool {
        self.group == group && self.version == version && self.resource == resource
    }
}

/// Whether API servers evaluate no policies for requests about a resource. These resources are exempt: admission policies, their bindings,
/// and reviews of users and permissions.
#[inline]
pub fn is_exempt(group: &str, resource: &str) -> bool {
    let is_policy = matches!(
        resource,
        "validatingadmissionpolicies"
            | "validatingadmissionpolicybindings"
            | "mutatingadmissionpolicies"
            | "mutatingadmissionpolicybindings"
    );
    is_review(group, resource) || (group == "admissionregistration.k8s.io" && is_policy)
}

/// Whether a resource is a review of users or permissions. API servers since Kubernetes 1.37 call no webhooks for requests about reviews.
#[inline]
pub fn is_review(group: &str, resource: &str) -> bool {
    matches!(
        (group, resource),
        (
            "authentication.k8s.io",
            "selfsubjectreviews" | "tokenreviews"
        ) | (
            "authorization.k8s.io",
            "localsubjectaccessreviews"
                | "selfsubjectaccessreviews"
                | "selfsubjectrulesreviews"
                | "subjectaccessreviews"
        )
    )
}

fn api_version(group: &str, version: &str) -> String {
    match group {
        "" => version.to_owned(),
        group => format!("{group}/{version}"),
    }
}

impl fmt::Display for GroupVersionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}, Kind={}", self.group, self.version, self.kind)
    }
}

impl fmt::Display for GroupVersionResource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}/{}, Resource={}",
            self.group, self.version, self.resource
        )
    }
}

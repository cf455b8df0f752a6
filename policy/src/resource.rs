//! Kinds and resources with their group and version (apimachinery `pkg/runtime/schema`).

use std::fmt;

use gavel_engine::value::Value;
use smol_str::SmolStr;

use crate::fields::text_field;

/// The kind of an object.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GroupVersionKind {
    /// The API group; empty is the core group.
    pub group: SmolStr,
    /// The version of the group.
    pub version: SmolStr,
    /// The kind.
    pub kind: SmolStr,
}

/// The resource of a request.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GroupVersionResource {
    /// The API group; empty is the core group.
    pub group: SmolStr,
    /// The version of the group.
    pub version: SmolStr,
    /// The plural name.
    pub resource: SmolStr,
}

impl GroupVersionKind {
    /// Reads `{"group": …, "version": …, "kind": …}`; values other than texts are read as empty.
    pub fn read(value: Value<'_>) -> Self {
        GroupVersionKind {
            group: text_field(value, "group").into(),
            version: text_field(value, "version").into(),
            kind: text_field(value, "kind").into(),
        }
    }

    /// The kind that an `apiVersion` and a `kind` name.
    pub fn new(api_version: &str, kind: &str) -> Self {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        GroupVersionKind {
            group: group.into(),
            version: version.into(),
            kind: kind.into(),
        }
    }

    /// The `apiVersion` of objects of the kind: `v1`, `apps/v1`.
    pub fn api_version(&self) -> String {
        match self.group.as_str() {
            "" => self.version.to_string(),
            group => format!("{group}/{}", self.version),
        }
    }

    /// Whether an `apiVersion` and a `kind` name this kind.
    pub(crate) fn is(&self, api_version: &str, kind: &str) -> bool {
        let version = match self.group.as_str() {
            "" => Some(api_version.strip_prefix('/').unwrap_or(api_version)),
            group => (api_version.strip_prefix(group)).and_then(|rest| rest.strip_prefix('/')),
        };
        self.kind == kind && version.is_some_and(|version| self.version == version)
    }
}

impl GroupVersionResource {
    /// Reads `{"group": …, "version": …, "resource": …}`; values other than texts are read as empty.
    pub fn read(value: Value<'_>) -> Self {
        GroupVersionResource {
            group: text_field(value, "group").into(),
            version: text_field(value, "version").into(),
            resource: text_field(value, "resource").into(),
        }
    }

    /// The resource without its version, as messages print it: `pods`, `deployments.apps`.
    pub fn qualified(&self) -> String {
        match self.group.as_str() {
            "" => self.resource.to_string(),
            group => format!("{}.{group}", self.resource),
        }
    }

    /// Whether the group, version and resource are exactly these.
    pub(crate) fn is(&self, group: &str, version: &str, resource: &str) -> bool {
        self.group == group && self.version == version && self.resource == resource
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

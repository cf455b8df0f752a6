//! Kinds and resources with their group and version (apimachinery `pkg/runtime/schema`).

use std::fmt;

use gavel_engine::value::Value;

use crate::request::text_field;

/// A kind: what an object says that it is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GroupVersionKind {
    /// The API group; empty is the core group.
    pub group: String,
    /// The version of the group.
    pub version: String,
    /// The kind.
    pub kind: String,
}

/// A resource: what a request is sent to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GroupVersionResource {
    /// The API group; empty is the core group.
    pub group: String,
    /// The version of the group.
    pub version: String,
    /// The plural name.
    pub resource: String,
}

impl GroupVersionKind {
    /// Reads `{"group": …, "version": …, "kind": …}`; what is not a text is empty.
    pub fn read(value: Value<'_>) -> Self {
        GroupVersionKind {
            group: text_field(value, "group").to_owned(),
            version: text_field(value, "version").to_owned(),
            kind: text_field(value, "kind").to_owned(),
        }
    }

    /// The kind that an `apiVersion` and a `kind` name.
    pub fn new(api_version: &str, kind: &str) -> Self {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        GroupVersionKind {
            group: group.to_owned(),
            version: version.to_owned(),
            kind: kind.to_owned(),
        }
    }

    /// The `apiVersion` of objects of the kind: `v1`, `apps/v1`.
    pub fn api_version(&self) -> String {
        match self.group.as_str() {
            "" => self.version.clone(),
            group => format!("{group}/{}", self.version),
        }
    }

    /// Whether an `apiVersion` and a `kind` name this kind.
    pub(crate) fn is(&self, api_version: &str, kind: &str) -> bool {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        self.kind == kind && self.version == version && self.group == group
    }
}

impl GroupVersionResource {
    /// Reads `{"group": …, "version": …, "resource": …}`; what is not a text is empty.
    pub fn read(value: Value<'_>) -> Self {
        GroupVersionResource {
            group: text_field(value, "group").to_owned(),
            version: text_field(value, "version").to_owned(),
            resource: text_field(value, "resource").to_owned(),
        }
    }

    /// The resource without its version, as messages print it: `pods`, `deployments.apps`.
    pub fn qualified(&self) -> String {
        match self.group.as_str() {
            "" => self.resource.clone(),
            group => format!("{}.{group}", self.resource),
        }
    }

    /// Whether this is exactly that resource.
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

//! The identity of an object.

use std::fmt;

use gavel_engine::value::Json;
use gavel_manifest::name_at;

/// The identity of an object.
#[derive(Debug, Clone, Copy)]
pub struct Key<'d> {
    /// `apiVersion`
    pub api_version: &'d str,
    /// `kind`
    pub kind: &'d str,
    /// `metadata.name`; empty if the server will generate one.
    pub name: &'d str,
    /// `metadata.namespace`; empty if absent.
    pub namespace: &'d str,
}

impl<'d> Key<'d> {
    /// The identity of an object.
    ///
    /// # Errors
    ///
    /// The JSON is not an API object.
    pub fn of(object: &'d Json) -> Result<Self, String> {
        let text = |pointer| object.pointer(pointer).and_then(Json::as_str);
        Ok(Key {
            api_version: name_at(object, "apiVersion")?,
            kind: name_at(object, "kind")?,
            name: text("/metadata/name").unwrap_or_default(),
            namespace: text("/metadata/namespace").unwrap_or_default(),
        })
    }

    /// The group; empty for the core group.
    pub fn group(&self) -> &'d str {
        self.api_version
            .split_once('/')
            .map_or("", |(group, _)| group)
    }

    /// The version of the group.
    pub fn version(&self) -> &'d str {
        let split = self.api_version.split_once('/');
        split.map_or(self.api_version, |(_, version)| version)
    }

    /// Whether both keys name the same object, in any version; `default` is the namespace of objects that do not name one.
    pub fn is_same_object(&self, other: &Key<'_>, default: &str) -> bool {
        self.group() == other.group()
            && self.kind == other.kind
            && self.name == other.name
            && self.namespace_or(default) == other.namespace_or(default)
    }

    fn namespace_or<'n>(&'n self, default: &'n str) -> &'n str {
        match self.namespace {
            "" => default,
            namespace => namespace,
        }
    }
}

impl fmt::Display for Key<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.api_version, self.kind)
    }
}

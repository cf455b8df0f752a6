//! The identity of an object.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

use gavel_apimachinery::meta::MetadataView;
use gavel_apimachinery::names::generated_name;
use gavel_engine::value::Json;
use gavel_manifest::{Document, name_at};

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
        let api_version = name_at(object, "apiVersion")?;
        if api_version.split('/').count() > 2 {
            return Err(format!("unexpected GroupVersion string: {api_version}"));
        }
        Ok(Key {
            api_version,
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

    /// The parts that are equal for all versions of an object; `default` is the namespace of objects that do not name one.
    fn identity<'n>(&'n self, default: &'n str) -> [&'n str; 4] {
        let namespace = self.namespace_or(default);
        [self.group(), self.kind, self.name, namespace]
    }

    fn namespace_or<'n>(&'n self, default: &'n str) -> &'n str {
        match self.namespace {
            "" => default,
            namespace => namespace,
        }
    }
}

/// The name of an object that is created: its own name, or a name that is generated from `generateName`.
pub fn created_name(object: &Json) -> Cow<'_, str> {
    let metadata = MetadataView::of(object);
    match (metadata.name(), metadata.generate_name()) {
        ("", prefix) if !prefix.is_empty() => generated_name(prefix).into(),
        (name, _) => name.into(),
    }
}

impl fmt::Display for Key<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.api_version, self.kind)
    }
}

/// The objects before an update, found by their group, kind, name and namespace.
#[derive(Debug)]
pub struct OldObjects {
    documents: HashMap<[String; 4], Document>,
    /// The namespace of objects that do not name one.
    default: String,
}

impl OldObjects {
    /// Stores objects; `default` is the namespace of objects that do not name one. If an object occurs twice, the first one counts.
    pub fn new(documents: Vec<Document>, default: &str) -> Self {
        let keyed = documents.into_iter().rev().filter_map(|document| {
            let key = Key::of(document.value()).ok()?;
            let identity = key.identity(default).map(str::to_owned);
            Some((identity, document))
        });
        OldObjects {
            documents: keyed.collect(),
            default: default.to_owned(),
        }
    }

    /// The object with this key, in any version.
    pub fn find(&self, key: &Key<'_>) -> Option<&Document> {
        let identity = key.identity(&self.default).map(str::to_owned);
        self.documents.get(&identity)
    }

    /// Whether there are no objects.
    pub fn is_empty(&self) -> bool {
        self.documents.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn old_objects_are_found_in_any_version() {
        let object = |version: &str, name: &str, namespace: &str, size: u32| {
            json!({
                "apiVersion": version, "kind": "Thing", "size": size,
                "metadata": {"name": name, "namespace": namespace},
            })
        };
        let old = OldObjects::new(
            vec![
                object("example.com/v1", "a", "", 1).into(),
                object("example.com/v1", "a", "default", 2).into(),
                object("example.com/v1", "a", "other", 3).into(),
            ],
            "default",
        );
        let size = |version: &str, name: &str, namespace: &str| {
            let object = object(version, name, namespace, 0);
            let found = old.find(&Key::of(&object).unwrap())?;
            found.value()["size"].as_u64()
        };
        assert_eq!(size("example.com/v2", "a", ""), Some(1));
        assert_eq!(size("example.com/v1", "a", "default"), Some(1));
        assert_eq!(size("example.com/v1", "a", "other"), Some(3));
        assert_eq!(size("example.org/v1", "a", ""), None);
        assert_eq!(size("example.com/v1", "b", ""), None);
    }
}

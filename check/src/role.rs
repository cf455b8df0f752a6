//! The role of an object in a manifest, its kind and its name.

use gavel_engine::value::Json;
use gavel_policy::api::GROUP;

/// The role of an object in a manifest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// A policy or a binding.
    Policy,
    /// A CustomResourceDefinition.
    Definition,
    /// A namespace, a role or a role binding. Policies read such objects, and the objects are also checked like all others.
    Surrounding,
    /// Any other object; a policy may have it as a param.
    Object,
}

impl Role {
    /// The role of an object, by its kind.
    pub fn of(object: &Json) -> Self {
        let text = |key: &str| object.get(key).and_then(Json::as_str).unwrap_or_default();
        let group = text("apiVersion").split_once('/');
        match (group.map_or("", |(group, _)| group), text("kind")) {
            // An unknown kind of the group is assumed to be a misspelled policy.
            (GROUP, kind) if !kind.ends_with("WebhookConfiguration") => Role::Policy,
            ("apiextensions.k8s.io", "CustomResourceDefinition") => Role::Definition,
            ("rbac.authorization.k8s.io", _) | ("", "Namespace") => Role::Surrounding,
            _ => Role::Object,
        }
    }
}

/// The name of an object; empty if it has none.
pub(crate) fn name_of(object: &Json) -> &str {
    metadata(object, "name")
}

/// A string field of the object's metadata; empty if absent.
pub(crate) fn metadata<'o>(object: &'o Json, key: &str) -> &'o str {
    let metadata = object.get("metadata");
    let found = metadata.and_then(|metadata| metadata.get(key));
    found.and_then(Json::as_str).unwrap_or_default()
}

/// The kind of an object; empty if it has none.
pub(crate) fn kind_of(object: &Json) -> &str {
    object
        .get("kind")
        .and_then(Json::as_str)
        .unwrap_or_default()
}

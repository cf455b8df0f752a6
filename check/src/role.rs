//! What an object of a manifest is for.

use gavel_engine::value::Json;
use gavel_policy::api::GROUP;

/// What an object of a manifest is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// A policy or a binding.
    Policy,
    /// A CustomResourceDefinition.
    Definition,
    /// A namespace, a role, or a binding of a role: policies ask of it, and it is an object too.
    Surrounding,
    /// Any other object; perhaps one that a policy has as params.
    Object,
}

impl Role {
    /// Of an object by its kind.
    pub fn of(object: &Json) -> Self {
        let text = |key: &str| object.get(key).and_then(Json::as_str).unwrap_or_default();
        let group = text("apiVersion").split_once('/');
        match (group.map_or("", |(group, _)| group), text("kind")) {
            // A kind that the group does not have is a policy that is misspelt.
            (GROUP, kind) if !kind.ends_with("WebhookConfiguration") => Role::Policy,
            ("apiextensions.k8s.io", "CustomResourceDefinition") => Role::Definition,
            ("rbac.authorization.k8s.io", _) | ("", "Namespace") => Role::Surrounding,
            _ => Role::Object,
        }
    }
}

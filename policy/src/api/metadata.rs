//! What every object has (`metav1.TypeMeta`, `metav1.ObjectMeta`).

use std::collections::BTreeMap;

use serde::Deserialize;

use super::or_default;

/// `metadata` of an object.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ObjectMeta {
    /// `name`
    #[serde(deserialize_with = "or_default")]
    pub name: String,
    /// `generateName`: what a name is to be made from
    #[serde(deserialize_with = "or_default")]
    pub generate_name: String,
    /// `namespace`: which no registration has
    #[serde(deserialize_with = "or_default")]
    pub namespace: String,
    /// `uid`
    #[serde(deserialize_with = "or_default")]
    pub uid: String,
    /// `resourceVersion`
    #[serde(deserialize_with = "or_default")]
    pub resource_version: String,
    /// `generation`
    #[serde(deserialize_with = "or_default")]
    pub generation: i64,
    /// `labels`
    #[serde(deserialize_with = "or_default")]
    pub labels: BTreeMap<String, String>,
    /// `annotations`
    #[serde(deserialize_with = "or_default")]
    pub annotations: BTreeMap<String, String>,
}

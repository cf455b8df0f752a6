//! A CustomResourceDefinition as it is written (apiextensions `v1`). Absent keys, and null ones, are empty.

use std::sync::Arc;

use gavel_engine::value::Json;
use gavel_golang::base64::{self, Encoding};
use gavel_schema::{JsonSchema, OptionalList};
use serde::{Deserialize, Deserializer, de};

/// What a definition says.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Spec {
    /// The API group.
    #[serde(deserialize_with = "or_default")]
    pub group: String,
    /// What the resource is called.
    #[serde(deserialize_with = "or_default")]
    pub names: Names,
    /// `Cluster` or `Namespaced`.
    #[serde(deserialize_with = "or_default")]
    pub scope: String,
    /// The versions, in the order in which they are written.
    #[serde(deserialize_with = "or_default")]
    pub versions: Vec<Version>,
    /// How objects are converted between versions.
    pub conversion: Option<Conversion>,
    /// Whether unknown fields are kept; new definitions may not say so.
    #[serde(deserialize_with = "or_default")]
    pub preserve_unknown_fields: bool,
}

/// What a resource is called.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Names {
    /// The name in URLs.
    #[serde(deserialize_with = "or_default")]
    pub plural: String,
    /// One of them; by default the kind in lower case.
    #[serde(deserialize_with = "or_default")]
    pub singular: String,
    /// Shorter names for the command line.
    #[serde(deserialize_with = "or_default")]
    pub short_names: Vec<String>,
    /// The kind of an object.
    #[serde(deserialize_with = "or_default")]
    pub kind: String,
    /// The kind of a list; by default the kind followed by `List`.
    #[serde(deserialize_with = "or_default")]
    pub list_kind: String,
    /// Groups of resources that it belongs to, such as `all`.
    #[serde(deserialize_with = "or_default")]
    pub categories: Vec<String>,
}

/// A version of a resource.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Version {
    /// Its name, such as `v1beta1`.
    #[serde(deserialize_with = "or_default")]
    pub name: String,
    /// Whether it is served.
    #[serde(deserialize_with = "or_default")]
    pub served: bool,
    /// Whether objects are stored in it; so it is for one version.
    #[serde(deserialize_with = "or_default")]
    pub storage: bool,
    /// Whether clients are warned not to use it.
    #[serde(deserialize_with = "or_default")]
    pub deprecated: bool,
    /// With what words they are warned.
    pub deprecation_warning: Option<String>,
    /// What objects look like. [`Definition::read`] reads it; by itself, the version is read without.
    ///
    /// [`Definition::read`]: super::Definition::read
    #[serde(skip)]
    pub schema: Option<Validation>,
    /// What of an object has an endpoint of its own.
    pub subresources: Option<Subresources>,
    /// The columns of a table of objects.
    pub additional_printer_columns: OptionalList<PrinterColumn>,
    /// The fields that field selectors may name.
    pub selectable_fields: OptionalList<SelectableField>,
}

/// What objects look like.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Validation {
    /// The schema of the whole object.
    pub schema: Option<Arc<JsonSchema>>,
}

/// What of an object has an endpoint of its own.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Subresources {
    /// Whether `status` has.
    #[serde(deserialize_with = "presence")]
    pub status: bool,
    /// Whether it can be scaled, and by which fields.
    pub scale: Option<Scale>,
}

/// The fields by which an object is scaled.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Scale {
    /// Where the wanted number of replicas is, such as `.spec.replicas`.
    #[serde(deserialize_with = "or_default")]
    pub spec_replicas_path: String,
    /// Where the number of replicas is that there are.
    #[serde(deserialize_with = "or_default")]
    pub status_replicas_path: String,
    /// Where the label selector of the replicas is.
    pub label_selector_path: Option<String>,
}

/// A column of a table of objects.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct PrinterColumn {
    /// The heading.
    #[serde(deserialize_with = "or_default")]
    pub name: String,
    /// The type of what it shows.
    #[serde(rename = "type", deserialize_with = "or_default")]
    pub kind: String,
    /// The format of what it shows.
    #[serde(deserialize_with = "or_default")]
    pub format: String,
    /// What it shows.
    #[serde(deserialize_with = "or_default")]
    pub description: String,
    /// Greater numbers are shown in wide tables only.
    #[serde(deserialize_with = "or_default")]
    pub priority: i32,
    /// Where the shown value is.
    #[serde(deserialize_with = "or_default")]
    pub json_path: String,
}

/// A field that field selectors may name.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct SelectableField {
    /// Where it is, such as `.spec.color`.
    #[serde(deserialize_with = "or_default")]
    pub json_path: String,
}

/// How objects are converted between versions.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Conversion {
    /// `None` or `Webhook`.
    #[serde(deserialize_with = "or_default")]
    pub strategy: String,
    /// The webhook.
    pub webhook: Option<WebhookConversion>,
}

/// A webhook that converts objects.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct WebhookConversion {
    /// How it is called.
    pub client_config: Option<ClientConfig>,
    /// The versions of reviews that it understands, the best first.
    #[serde(deserialize_with = "or_default")]
    pub conversion_review_versions: Vec<String>,
}

/// How a webhook is called: by its URL or by its service.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct ClientConfig {
    /// Its URL.
    pub url: Option<String>,
    /// Its service.
    pub service: Option<ServiceReference>,
    /// PEM texts of the certificates that may have signed its own, as bytes.
    #[serde(rename = "caBundle", deserialize_with = "bytes")]
    pub ca_bundle: Vec<u8>,
}

/// A service of the cluster.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct ServiceReference {
    /// Its namespace.
    #[serde(deserialize_with = "or_default")]
    pub namespace: String,
    /// Its name.
    #[serde(deserialize_with = "or_default")]
    pub name: String,
    /// The path of the URL.
    pub path: Option<String>,
    /// Its port, by default 443.
    pub port: Option<i32>,
}

/// What the API server knows of a definition.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct CustomResourceDefinitionStatus {
    /// Whether it is established, and the like.
    #[serde(deserialize_with = "or_default")]
    pub conditions: Vec<Condition>,
    /// The names by which it is served.
    #[serde(deserialize_with = "or_default")]
    pub accepted_names: Names,
    /// The versions in which objects may be stored.
    #[serde(deserialize_with = "or_default")]
    pub stored_versions: Vec<String>,
}

/// Whether something holds.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Condition {
    /// What, such as `Established`.
    #[serde(rename = "type", deserialize_with = "or_default")]
    pub kind: String,
    /// `True`, `False` or `Unknown`.
    #[serde(deserialize_with = "or_default")]
    pub status: String,
}

/// Go reads null as nothing.
pub(super) fn or_default<'de, D: Deserializer<'de>, T: Default + Deserialize<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

/// Of an object without fields that are looked at, whether it is there.
fn presence<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    match Option::<Json>::deserialize(deserializer)? {
        None => Ok(false),
        Some(Json::Object(_)) => Ok(true),
        Some(other) => Err(de::Error::custom(format!("{other} must be an object"))),
    }
}

/// Go reads bytes of base64, and of a list of numbers.
fn bytes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    match or_default(deserializer)? {
        Json::Null => Ok(Vec::new()),
        Json::String(text) => base64::decode(&text, Encoding::Standard).map_err(de::Error::custom),
        list => Vec::deserialize(list).map_err(de::Error::custom),
    }
}

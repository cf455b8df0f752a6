//! The API types of CustomResourceDefinitions (apiextensions `v1`). Absent and null keys become empty values. The types of all values were
//! checked before ([`super::types`]).

use std::sync::Arc;

use gavel_engine::value::Json;
use gavel_golang::base64::{self, Encoding};
use gavel_schema::{JsonSchema, OptionalList};
use serde::de::{self, IgnoredAny};
use serde::{Deserialize, Deserializer};

/// The `spec` of a definition.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Spec {
    /// The API group.
    #[serde(deserialize_with = "or_default")]
    pub group: String,
    /// The names of the resource.
    #[serde(deserialize_with = "or_default")]
    pub names: Names,
    /// `Cluster` or `Namespaced`.
    #[serde(deserialize_with = "or_default")]
    pub scope: String,
    /// The versions, in the order in which they are written.
    pub versions: OptionalList<Version>,
    /// How objects are converted between versions.
    pub conversion: Option<Conversion>,
    /// Whether unknown fields are preserved. New definitions must not set this field.
    #[serde(deserialize_with = "or_default")]
    pub preserve_unknown_fields: bool,
}

/// The names of a resource.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Names {
    /// The plural name, which URLs contain.
    #[serde(deserialize_with = "or_default")]
    pub plural: String,
    /// The singular name; by default the kind in lower case.
    #[serde(deserialize_with = "or_default")]
    pub singular: String,
    /// Shorter names of the resource for the command line.
    pub short_names: OptionalList<String>,
    /// The kind of an object.
    #[serde(deserialize_with = "or_default")]
    pub kind: String,
    /// The kind of a list; by default the kind followed by `List`.
    #[serde(deserialize_with = "or_default")]
    pub list_kind: String,
    /// The categories of the resource, such as `all`.
    pub categories: OptionalList<String>,
}

/// A version of a resource.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Version {
    /// The name of the version, such as `v1beta1`.
    #[serde(deserialize_with = "or_default")]
    pub name: String,
    /// Whether the version is served.
    #[serde(deserialize_with = "or_default")]
    pub served: bool,
    /// Whether objects are stored in this version; exactly one version stores them.
    #[serde(deserialize_with = "or_default")]
    pub storage: bool,
    /// Whether the version is deprecated. The API server warns clients that use a deprecated version.
    #[serde(deserialize_with = "or_default")]
    pub deprecated: bool,
    /// The warning that clients of a deprecated version get.
    pub deprecation_warning: Option<String>,
    /// The schema of objects of this version. [`Definition::read`] sets this field; serde leaves it empty.
    ///
    /// [`Definition::read`]: super::Definition::read
    #[serde(skip)]
    pub schema: Option<Validation>,
    /// The subresources.
    pub subresources: Option<Subresources>,
    /// The columns that `kubectl get` prints.
    pub additional_printer_columns: OptionalList<PrinterColumn>,
    /// The fields that field selectors can name.
    pub selectable_fields: OptionalList<SelectableField>,
}

/// The `schema` of a version, which contains the `openAPIV3Schema` (`CustomResourceValidation` in Kubernetes).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Validation {
    /// The schema of the whole object.
    pub schema: Option<Arc<JsonSchema>>,
}

/// The subresources of a version.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Subresources {
    /// Whether there is a subresource `status`.
    #[serde(deserialize_with = "presence")]
    pub status: bool,
    /// The subresource `scale`, if there is one.
    pub scale: Option<Scale>,
}

/// The fields that the subresource `scale` reads and writes.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Scale {
    /// The path of the desired number of replicas, such as `.spec.replicas`.
    #[serde(deserialize_with = "or_default")]
    pub spec_replicas_path: String,
    /// The path of the current number of replicas.
    #[serde(deserialize_with = "or_default")]
    pub status_replicas_path: String,
    /// The path of the label selector of the replicas.
    pub label_selector_path: Option<String>,
}

/// A column that `kubectl get` prints.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct PrinterColumn {
    /// The heading.
    #[serde(deserialize_with = "or_default")]
    pub name: String,
    /// The type of the value.
    #[serde(rename = "type", deserialize_with = "or_default")]
    pub kind: String,
    /// The format of the value.
    #[serde(deserialize_with = "or_default")]
    pub format: String,
    /// The description.
    #[serde(deserialize_with = "or_default")]
    pub description: String,
    /// The priority; columns with a priority above 0 are shown in wide tables only.
    #[serde(deserialize_with = "or_default")]
    pub priority: i32,
    /// The path of the value.
    #[serde(deserialize_with = "or_default")]
    pub json_path: String,
}

/// A field that field selectors can name.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct SelectableField {
    /// The path, such as `.spec.color`.
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
    /// How the API server calls the webhook.
    pub client_config: Option<ClientConfig>,
    /// The versions of ConversionReview that the webhook understands, in order of preference.
    pub conversion_review_versions: OptionalList<String>,
}

/// How a webhook is called: by its URL or by its service.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct ClientConfig {
    /// The URL of the webhook.
    pub url: Option<String>,
    /// The service of the webhook.
    pub service: Option<ServiceReference>,
    /// The certificates of the authorities that may sign the webhook's certificate, as bytes in PEM format.
    #[serde(rename = "caBundle", deserialize_with = "bytes")]
    pub ca_bundle: Vec<u8>,
}

/// A service of the cluster.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct ServiceReference {
    /// The namespace of the service.
    #[serde(deserialize_with = "or_default")]
    pub namespace: String,
    /// The name of the service.
    #[serde(deserialize_with = "or_default")]
    pub name: String,
    /// The path of the URL.
    pub path: Option<String>,
    /// The port of the service, by default 443.
    pub port: Option<i32>,
}

/// The `status` of a definition, which the API server writes.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct CustomResourceDefinitionStatus {
    /// Conditions, such as `Established`.
    pub conditions: OptionalList<Condition>,
    /// The names under which the resource is served.
    #[serde(deserialize_with = "or_default")]
    pub accepted_names: Names,
    /// The versions in which objects may be stored.
    pub stored_versions: OptionalList<String>,
    /// The generation of the definition that the status describes.
    #[serde(deserialize_with = "or_default")]
    pub observed_generation: i64,
}

/// A condition.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Condition {
    /// The type, such as `Established`.
    #[serde(rename = "type", deserialize_with = "or_default")]
    pub kind: String,
    /// `True`, `False` or `Unknown`.
    #[serde(deserialize_with = "or_default")]
    pub status: String,
    /// The time of the last change of `status`, in the format of RFC 3339.
    #[serde(rename = "lastTransitionTime")]
    pub last_transition_time: Option<String>,
    /// The reason for the last change, in one word.
    #[serde(deserialize_with = "or_default")]
    pub reason: String,
    /// The explanation of the last change.
    #[serde(deserialize_with = "or_default")]
    pub message: String,
    /// The generation of the definition that the condition describes.
    #[serde(rename = "observedGeneration", deserialize_with = "or_default")]
    pub observed_generation: i64,
}

/// Reads null as the default value, as Go does.
pub(super) fn or_default<'de, D: Deserializer<'de>, T: Default + Deserialize<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

/// Reads whether an object is present, for objects whose fields do not matter.
fn presence<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    Ok(Option::<IgnoredAny>::deserialize(deserializer)?.is_some())
}

/// Reads bytes from base64 or from a list of numbers, as Go does.
fn bytes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    match or_default(deserializer)? {
        Json::Null => Ok(Vec::new()),
        Json::String(text) => base64::decode(&text, Encoding::Standard).map_err(de::Error::custom),
        list => Vec::deserialize(list).map_err(de::Error::custom),
    }
}

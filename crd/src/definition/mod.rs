//! CustomResourceDefinitions: read, and held against everything that an API server checks when one is created or updated
//! (apiextensions-apiserver `pkg/apis/apiextensions/{v1,validation}`, `pkg/registry/customresourcedefinition`).

use gavel_engine::value::Json;
use gavel_schema::JsonSchema;
use serde::Deserialize;

mod api;
mod shared;

pub use api::{
    ClientConfig, Condition, Conversion, Names, PrinterColumn, Scale, SelectableField,
    ServiceReference, Spec, Status, Subresources, Validation, Version, WebhookConversion,
};

use shared::Shared;

/// A CustomResourceDefinition of `apiextensions.k8s.io/v1`, with its defaults.
///
/// ```
/// use gavel_crd::definition::Definition;
/// use serde_json::json;
///
/// let definition = Definition::read(&json!({
///     "apiVersion": "apiextensions.k8s.io/v1",
///     "kind": "CustomResourceDefinition",
///     "metadata": {"name": "things.example.com"},
///     "spec": {
///         "group": "example.com",
///         "names": {"plural": "things", "kind": "Thing"},
///         "scope": "Namespaced",
///         "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object"}}}],
///     },
/// }))?;
/// assert_eq!(definition.spec.names.list_kind, "ThingList");
/// assert!(definition.schema("v1").is_some());
/// # Ok::<(), gavel_crd::definition::ReadError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Definition {
    /// The metadata, as it is written.
    pub metadata: Json,
    /// What it says.
    pub spec: Spec,
    /// What the API server knows of it.
    pub status: Status,
}

/// Why JSON is not a CustomResourceDefinition.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ReadError(String);

impl Definition {
    /// Reads a definition and sets its defaults. Fails where a value has the wrong type, where schemas are nested too deep,
    /// and for versions of the API other than v1.
    pub fn read(json: &Json) -> Result<Definition, ReadError> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Written {
            #[serde(default, deserialize_with = "api::or_default")]
            api_version: String,
            #[serde(default, deserialize_with = "api::or_default")]
            metadata: Json,
            #[serde(default, deserialize_with = "api::or_default")]
            spec: Spec,
            #[serde(default, deserialize_with = "api::or_default")]
            status: Status,
        }
        let read = Written::deserialize(json).map_err(|error| ReadError(error.to_string()))?;
        if read.api_version == "apiextensions.k8s.io/v1beta1" {
            let message = "only apiextensions.k8s.io/v1 is supported";
            return Err(ReadError(message.to_owned()));
        }
        let Written {
            metadata,
            mut spec,
            status,
            ..
        } = read;
        set_defaults(&mut spec);
        Ok(Definition {
            metadata,
            spec,
            status,
        })
    }

    /// The version in which objects are stored: the first that says so.
    pub fn storage_version(&self) -> Option<&Version> {
        self.spec.versions.iter().find(|version| version.storage)
    }

    /// The schema of the objects of a version.
    pub fn schema(&self, version: &str) -> Option<&JsonSchema> {
        let mut versions = self.spec.versions.iter();
        let version = versions.find(|known| known.name == version)?;
        version.schema.as_ref()?.schema.as_deref()
    }

    /// What is the same in all versions.
    fn shared(&self) -> Shared<'_> {
        Shared::of(&self.spec.versions)
    }
}

fn set_defaults(spec: &mut Spec) {
    let names = &mut spec.names;
    if names.singular.is_empty() {
        names.singular = gavel_apimachinery::names::lower_case(&names.kind);
    }
    if names.list_kind.is_empty() && !names.kind.is_empty() {
        names.list_kind = format!("{}List", names.kind);
    }
    let conversion = spec.conversion.get_or_insert_with(|| Conversion {
        strategy: "None".to_owned(),
        webhook: None,
    });
    let client = conversion
        .webhook
        .as_mut()
        .and_then(|webhook| webhook.client_config.as_mut());
    if let Some(service) = client.and_then(|client| client.service.as_mut()) {
        service.port.get_or_insert(443);
    }
}

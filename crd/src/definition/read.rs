//! A definition as an API server reads it: decoded, with its defaults (apiextensions `v1/defaults.go`).

use std::borrow::Cow;

use gavel_apimachinery::field::Error;
use gavel_apimachinery::meta;
use gavel_apimachinery::serializer::DecodeError;
use gavel_engine::value::Json;
use gavel_golang::quote::quote;
use gavel_schema::{JsonSchema, SchemaReader};
use serde::Deserialize;

use super::api::{
    self, Condition, Conversion, CustomResourceDefinitionStatus, Spec, Validation, Version,
};
use super::shared::Shared;
use super::types;

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
/// # Ok::<(), gavel_crd::resource::DecodeError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Definition {
    /// The metadata as an API server reads it, but without the generation, which the API server sets.
    pub metadata: Json,
    /// The `spec`.
    pub spec: Spec,
    /// The `status`.
    pub status: CustomResourceDefinitionStatus,
}

/// The type of the condition of a definition whose objects are served.
const ESTABLISHED: &str = "Established";

/// Translates the field of an error to the field of the manifest. If all versions have the same schema, upstream reports its errors at
/// `spec.validation`, which no manifest contains.
pub fn written_field(field: &str) -> Cow<'_, str> {
    match field.strip_prefix("spec.validation.") {
        Some(rest) => Cow::Owned(format!("spec.versions[0].schema.{rest}")),
        None => Cow::Borrowed(field),
    }
}

/// The field of the manifest that an error is about. For some errors, such as those of `anyOf` and of numbers that are no integers,
/// upstream names the field only in the detail.
pub fn field_at_fault(error: &Error) -> Cow<'_, str> {
    let named = match error.detail.strip_prefix('"') {
        Some(quoted) => quoted.split_once('"').map(|(field, _)| field),
        None => error.detail.rsplit_once(" in ").map(|(_, field)| field),
    };
    let named = named.filter(|_| error.field == "<nil>");
    written_field(named.unwrap_or(&error.field))
}

impl Definition {
    /// Reads a definition and sets its defaults.
    ///
    /// # Errors
    ///
    /// A value has the wrong type, schemas are nested too deeply, or the API version is one of `apiextensions.k8s.io` other than `v1`. Other
    /// values of `apiVersion` are not checked.
    pub fn read(json: &Json) -> Result<Definition, DecodeError> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase", expecting = "a CustomResourceDefinition")]
        struct Written {
            #[serde(default, deserialize_with = "api::or_default")]
            api_version: String,
            #[serde(default, deserialize_with = "api::or_default")]
            metadata: Json,
            #[serde(default, deserialize_with = "api::or_default")]
            spec: Spec,
            #[serde(default, deserialize_with = "api::or_default")]
            status: CustomResourceDefinitionStatus,
        }
        if let Some(fault) = types::check(json).fault {
            return Err(fault);
        }
        let read = Written::deserialize(json);
        let read = read.map_err(|error| DecodeError::new("", error.to_string()))?;
        let version = read.api_version.strip_prefix("apiextensions.k8s.io/");
        if version.is_some_and(|version| version != "v1") {
            let version = quote(&read.api_version);
            let message = format!(
                "no matches for kind \"CustomResourceDefinition\" in version {version}: use apiextensions.k8s.io/v1"
            );
            return Err(DecodeError::new("apiVersion", message));
        }
        let Written {
            mut metadata,
            mut spec,
            mut status,
            ..
        } = read;
        match &mut metadata {
            Json::Null => metadata = Json::Object(serde_json::Map::new()),
            metadata => {
                let decoded = meta::decode_typed(metadata);
                decoded.map_err(|error| error.within("metadata"))?;
                metadata
                    .as_object_mut()
                    .map(|fields| fields.remove("generation"));
            }
        }
        read_schemas(&mut spec, json)?;
        set_defaults(&mut spec);
        if status.stored_versions.is_empty() {
            status = status.storing(&spec);
        }
        Ok(Definition {
            metadata,
            spec,
            status,
        })
    }

    /// The paths of fields that an API server does not know, such as `spec.versions[0].x`: at most 100, in the order of keys.
    ///
    /// [`Definition::read`] ignores unknown fields. An API server that decodes strictly rejects the definition with `unknown field
    /// "spec.versions[0].x"`. As in the API server, unknown fields below `items` and `additionalProperties` are not reported.
    pub fn unknown_fields(json: &Json) -> Vec<String> {
        types::check(json).unknown
    }

    /// The storage version: the first version with `storage: true`.
    pub fn storage_version(&self) -> Option<&Version> {
        self.spec.versions.iter().find(|version| version.storage)
    }

    /// The schema of the objects of a version.
    pub fn schema(&self, version: &str) -> Option<&JsonSchema> {
        let mut versions = self.spec.versions.iter();
        let version = versions.find(|known| known.name == version)?;
        version.schema.as_ref()?.schema.as_deref()
    }

    /// The definition without a namespace. An API server that receives a definition removes the namespace before validation, because
    /// definitions have none.
    #[must_use]
    pub fn without_namespace(mut self) -> Definition {
        if let Json::Object(metadata) = &mut self.metadata {
            metadata.remove("namespace");
        }
        self
    }

    /// The definition with the status that an API server sets when the definition is created.
    #[must_use]
    pub fn without_status(self) -> Definition {
        Definition {
            status: self.created_status(),
            ..self
        }
    }

    /// The definition with the condition `Established`, which an API server sets when it begins to serve the objects. From then on, an
    /// update cannot change the scope or the kind.
    #[must_use]
    pub fn established(mut self) -> Definition {
        let conditions = self.status.conditions.iter().cloned();
        let others = conditions.filter(|condition| condition.kind != ESTABLISHED);
        let established = Condition {
            kind: ESTABLISHED.to_owned(),
            status: "True".to_owned(),
            ..Condition::default()
        };
        self.status.conditions = others.chain([established]).collect();
        self
    }

    /// Whether the definition has the condition `Established`.
    pub(super) fn is_established(&self) -> bool {
        let mut conditions = self.status.conditions.iter();
        let established = conditions.find(|condition| condition.kind == ESTABLISHED);
        established.is_some_and(|condition| condition.status == "True")
    }

    pub(super) fn created_status(&self) -> CustomResourceDefinitionStatus {
        CustomResourceDefinitionStatus::default().storing(&self.spec)
    }

    /// The validation of a version; `None` if the definition does not have the version. If all versions have the same validation, this
    /// validation is returned for every name.
    pub(super) fn validation(&self, version: &str) -> Option<Option<&Validation>> {
        let shared = self.shared().validation;
        if shared.is_common() {
            return Some(shared.common);
        }
        let mut versions = self.spec.versions.iter();
        let version = versions.find(|known| known.name == version)?;
        Some(version.schema.as_ref())
    }

    /// The parts that all versions share.
    pub(super) fn shared(&self) -> Shared<'_> {
        Shared::of(&self.spec.versions)
    }
}

impl CustomResourceDefinitionStatus {
    /// Adds the storage version of `spec` to the stored versions.
    pub(super) fn storing(mut self, spec: &Spec) -> CustomResourceDefinitionStatus {
        let storage = spec.versions.iter().find(|version| version.storage);
        if let Some(Version { name, .. }) = storage
            && !self.stored_versions.contains(name)
        {
            let versions = self.stored_versions.iter().chain([name]);
            self.stored_versions = versions.cloned().collect();
        }
        self
    }
}

/// Reads the schemas directly from the JSON: they are the largest part of a definition.
fn read_schemas(spec: &mut Spec, json: &Json) -> Result<(), DecodeError> {
    let written = json.pointer("/spec/versions").and_then(Json::as_array);
    let versions = spec.versions.iter_mut().zip(written.into_iter().flatten());
    let mut reader = SchemaReader::default();
    for (n, (version, written)) in versions.enumerate() {
        let Some(Json::Object(validation)) = written.get("schema") else {
            continue;
        };
        let schema = match validation.get("openAPIV3Schema") {
            None | Some(Json::Null) => None,
            Some(schema) => {
                let field = format!("spec.versions[{n}].schema.openAPIV3Schema");
                let read = reader.read(schema);
                Some(read.map_err(|error| DecodeError::new(&field, format!("{field}: {error}")))?)
            }
        };
        version.schema = Some(Validation { schema });
    }
    Ok(())
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

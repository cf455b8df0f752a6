//! Namespaces: their labels, and what expressions see of them (apiserver `pkg/admission/plugin/cel/condition.go`,
//! `CreateNamespaceObject`).

use std::collections::BTreeMap;
use std::sync::Arc;

use gavel_engine::golang::quote::quote;
use gavel_engine::golang::time::OffsetTime;
use gavel_engine::value::Json;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The namespaces that are known.
#[derive(Debug, Clone, Default)]
pub(crate) struct Namespaces(BTreeMap<String, Arc<Namespace>>);

impl Namespaces {
    /// Makes a namespace known, in place of what was known of it.
    pub(crate) fn insert(&mut self, name: String, namespace: Namespace) {
        self.0.insert(name, Arc::new(namespace));
    }

    /// Forgets a namespace.
    pub(crate) fn remove(&mut self, name: &str) {
        self.0.remove(name);
    }

    /// A namespace; an error in upstream's words where there is none.
    pub(crate) fn find(&self, name: &str) -> Result<&Namespace, String> {
        let found = self.0.get(name).map(|namespace| &**namespace);
        found.ok_or_else(|| not_found(name))
    }
}

/// What is said of a namespace that does not exist.
pub(crate) fn not_found(name: &str) -> String {
    format!("namespaces {} not found", quote(name))
}

/// A namespace.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Namespace {
    labels: BTreeMap<String, String>,
    /// All of it, as Go writes it.
    whole: Json,
    /// What validations see: not its owners and managed fields.
    exposed: Json,
}

impl Namespace {
    /// Reads a namespace.
    ///
    /// # Errors
    ///
    /// A field of another type.
    pub(crate) fn from_json(namespace: &Json) -> Result<Self, String> {
        let mut read =
            Object::deserialize(namespace).map_err(|error| format!("namespace: {error}"))?;
        let whole = serde_json::to_value(&read).map_err(|error| error.to_string())?;
        read.metadata.self_link = String::new();
        read.metadata.owner_references = Vec::new();
        read.metadata.managed_fields = Vec::new();
        let exposed = serde_json::to_value(&read).map_err(|error| error.to_string())?;
        Ok(Namespace {
            labels: read.metadata.labels,
            whole,
            exposed,
        })
    }

    /// The labels.
    pub(crate) fn labels(&self) -> &BTreeMap<String, String> {
        &self.labels
    }

    /// The namespace as audit annotations see it.
    pub(crate) fn whole(&self) -> &Json {
        &self.whole
    }

    /// The namespace as all other expressions see it.
    pub(crate) fn exposed(&self) -> &Json {
        &self.exposed
    }
}

/// A namespace as the API server's type has it. What is empty is not written.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(default)]
struct Object {
    #[serde(deserialize_with = "or_default")]
    metadata: Metadata,
    #[serde(deserialize_with = "or_default")]
    spec: Spec,
    #[serde(deserialize_with = "or_default")]
    status: Status,
}

#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(default, rename_all = "camelCase")]
struct Metadata {
    #[serde(deserialize_with = "or_default", skip_serializing_if = "is_default")]
    name: String,
    #[serde(deserialize_with = "or_default", skip_serializing_if = "is_default")]
    generate_name: String,
    #[serde(deserialize_with = "or_default", skip_serializing_if = "is_default")]
    namespace: String,
    #[serde(deserialize_with = "or_default", skip_serializing_if = "is_default")]
    self_link: String,
    #[serde(deserialize_with = "or_default", skip_serializing_if = "is_default")]
    uid: String,
    #[serde(deserialize_with = "or_default", skip_serializing_if = "is_default")]
    resource_version: String,
    #[serde(deserialize_with = "or_default", skip_serializing_if = "is_default")]
    generation: i64,
    #[serde(deserialize_with = "or_default", skip_serializing_if = "is_default")]
    creation_timestamp: Time,
    #[serde(skip_serializing_if = "Option::is_none")]
    deletion_timestamp: Option<Time>,
    #[serde(skip_serializing_if = "Option::is_none")]
    deletion_grace_period_seconds: Option<i64>,
    #[serde(deserialize_with = "or_default", skip_serializing_if = "is_default")]
    labels: BTreeMap<String, String>,
    #[serde(deserialize_with = "or_default", skip_serializing_if = "is_default")]
    annotations: BTreeMap<String, String>,
    // Expressions have no field that leads there; those that go by way of `dyn` see them as they came.
    #[serde(deserialize_with = "or_default", skip_serializing_if = "is_default")]
    owner_references: Vec<Json>,
    #[serde(deserialize_with = "or_default", skip_serializing_if = "is_default")]
    finalizers: Vec<String>,
    #[serde(deserialize_with = "or_default", skip_serializing_if = "is_default")]
    managed_fields: Vec<Json>,
}

#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(default)]
struct Spec {
    #[serde(deserialize_with = "or_default", skip_serializing_if = "is_default")]
    finalizers: Vec<String>,
}

#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(default)]
struct Status {
    #[serde(deserialize_with = "or_default", skip_serializing_if = "is_default")]
    phase: String,
    #[serde(deserialize_with = "or_default", skip_serializing_if = "is_default")]
    conditions: Vec<Condition>,
}

#[derive(Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(default, rename_all = "camelCase")]
struct Condition {
    #[serde(rename = "type", deserialize_with = "or_default")]
    kind: String,
    #[serde(deserialize_with = "or_default")]
    status: String,
    #[serde(deserialize_with = "or_default")]
    last_transition_time: Time,
    #[serde(deserialize_with = "or_default", skip_serializing_if = "is_default")]
    reason: String,
    #[serde(deserialize_with = "or_default", skip_serializing_if = "is_default")]
    message: String,
}

/// A time, to the second; none is null.
#[derive(Debug, Default, PartialEq)]
struct Time(Option<OffsetTime>);

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let time = OffsetTime::parse(&text)
            .ok_or_else(|| serde::de::Error::custom(format!("{text:?} is not a time")))?;
        Ok(Time(Some(time.utc_second())))
    }
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Some(time) = &self.0 else {
            return serializer.serialize_none();
        };
        let mut text = String::new();
        time.write_rfc3339(&mut text)
            .map_err(serde::ser::Error::custom)?;
        serializer.serialize_str(&text)
    }
}

/// Go reads null as nothing: the value's default.
fn or_default<'de, D: Deserializer<'de>, T: Default + Deserialize<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

//! Decoding objects as the API server does (apimachinery `pkg/runtime/serializer/json`, apiserver `pkg/endpoints/handlers`).

use gavel_apimachinery::json;
use gavel_apimachinery::meta::GroupVersion;
use gavel_apimachinery::serializer::{self, ApiValue, DecodeError, Decoded, Source};
use gavel_apimachinery::server::{Difference, Server, is_of_later_version};
use gavel_engine::value::Json;
use gavel_golang::quote::quote;

use super::{
    MutatingAdmissionPolicy, MutatingAdmissionPolicyBinding, MutatingWebhookConfiguration,
    ObjectMeta, ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding,
    ValidatingWebhookConfiguration,
};

/// The group of the API.
pub const GROUP: &str = "admissionregistration.k8s.io";

/// A version of the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Version {
    /// `v1alpha1`, which has no webhooks.
    V1Alpha1,
    /// `v1beta1`
    V1Beta1,
    /// `v1`
    V1,
}

impl Version {
    /// The version as `apiVersion` writes it, such as `v1beta1`.
    pub const fn name(self) -> &'static str {
        match self {
            Version::V1Alpha1 => "v1alpha1",
            Version::V1Beta1 => "v1beta1",
            Version::V1 => "v1",
        }
    }

    fn parse(name: &str) -> Option<Version> {
        [Version::V1, Version::V1Beta1, Version::V1Alpha1]
            .into_iter()
            .find(|version| version.name() == name)
    }
}

/// How unknown and duplicate fields are treated.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum FieldValidation {
    /// The object is rejected.
    Strict,
    /// Unknown and duplicate fields cause warnings.
    #[default]
    Warn,
    /// Unknown and duplicate fields are ignored.
    Ignore,
}

impl FieldValidation {
    /// Returns the decoded object, with warnings about its unknown and duplicate fields if `self` is `Warn`.
    ///
    /// # Errors
    ///
    /// The object has unknown or duplicate fields, and `self` is `Strict`.
    pub fn apply<T>(self, decoded: Decoded<T>) -> Result<(T, Vec<String>), DecodeError> {
        let Decoded { object, strict } = decoded;
        match self {
            FieldValidation::Strict if !strict.is_empty() => {
                let faults: Vec<String> = strict.iter().map(ToString::to_string).collect();
                let faults = faults.join(", ");
                let message = format!("strict decoding error: {faults}");
                Err(DecodeError::new("", message))
            }
            FieldValidation::Strict | FieldValidation::Ignore => Ok((object, Vec::new())),
            FieldValidation::Warn => Ok((object, strict.iter().map(ToString::to_string).collect())),
        }
    }
}

/// An object of admission registration.
pub trait Registration: ApiValue + Clone + Default + PartialEq {
    /// The kind.
    const KIND: &'static str;

    /// The object's metadata.
    fn metadata(&self) -> &ObjectMeta;

    /// Sets the defaults of this version of the API.
    fn set_defaults(&mut self, version: Version);

    /// Reads an object whose version and kind may be absent. An absent or unknown version is read as v1. Unknown fields are ignored.
    ///
    /// # Errors
    ///
    /// The JSON is not an object of this kind.
    fn from_json(object: &Json) -> Result<Self, DecodeError> {
        let mut read = Self::from_json_without_defaults(object)?;
        read.set_defaults(version_of(object));
        Ok(read)
    }

    /// Like `from_json`, without setting defaults. An API server always sets them when it returns an object.
    ///
    /// # Errors
    ///
    /// The JSON is not an object of this kind.
    fn from_json_without_defaults(object: &Json) -> Result<Self, DecodeError> {
        let decoded = serializer::decode(object, version_of(object).name())?;
        Ok(decoded.object)
    }
}

/// An object of the group, of any kind.
#[derive(Debug, Clone, PartialEq)]
pub enum Resource {
    /// A ValidatingAdmissionPolicy.
    ValidatingAdmissionPolicy(Box<ValidatingAdmissionPolicy>),
    /// A ValidatingAdmissionPolicyBinding.
    ValidatingAdmissionPolicyBinding(Box<ValidatingAdmissionPolicyBinding>),
    /// A MutatingAdmissionPolicy.
    MutatingAdmissionPolicy(Box<MutatingAdmissionPolicy>),
    /// A MutatingAdmissionPolicyBinding.
    MutatingAdmissionPolicyBinding(Box<MutatingAdmissionPolicyBinding>),
    /// A ValidatingWebhookConfiguration.
    ValidatingWebhookConfiguration(Box<ValidatingWebhookConfiguration>),
    /// A MutatingWebhookConfiguration.
    MutatingWebhookConfiguration(Box<MutatingWebhookConfiguration>),
}

impl Resource {
    /// Reads an object of any API version that the newest API server knows, and sets the defaults of its API version.
    ///
    /// # Errors
    ///
    /// The JSON is not an object of the group.
    pub fn decode<'t>(source: impl Into<Source<'t>>) -> Result<Decoded<Resource>, DecodeError> {
        Resource::decode_for(source, Server::default())
    }

    /// Like `decode`, for an API server that does not know API versions that a later Kubernetes version introduced.
    ///
    /// # Errors
    ///
    /// The JSON is not an object of the group, or the server does not know its API version.
    pub fn decode_for<'t>(
        source: impl Into<Source<'t>>,
        server: Server,
    ) -> Result<Decoded<Resource>, DecodeError> {
        let source = source.into();
        let (version, kind) = read_type(source, server)?;
        let not_registered = || unknown_kind(&kind, &format!("{GROUP}/{}", version.name()), server);
        if is_of_later_version(version.name(), &kind, server.version()) {
            return Err(not_registered());
        }
        match (kind.as_str(), version) {
            ("ValidatingAdmissionPolicy", _) => {
                wrapped(source, version, Resource::ValidatingAdmissionPolicy)
            }
            ("ValidatingAdmissionPolicyBinding", _) => {
                wrapped(source, version, Resource::ValidatingAdmissionPolicyBinding)
            }
            ("MutatingAdmissionPolicy", _) => {
                wrapped(source, version, Resource::MutatingAdmissionPolicy)
            }
            ("MutatingAdmissionPolicyBinding", _) => {
                wrapped(source, version, Resource::MutatingAdmissionPolicyBinding)
            }
            ("ValidatingWebhookConfiguration", Version::V1 | Version::V1Beta1) => {
                wrapped(source, version, Resource::ValidatingWebhookConfiguration)
            }
            ("MutatingWebhookConfiguration", Version::V1 | Version::V1Beta1) => {
                wrapped(source, version, Resource::MutatingWebhookConfiguration)
            }
            _ => Err(not_registered()),
        }
    }

    /// The kind.
    pub const fn kind(&self) -> &'static str {
        match self {
            Resource::ValidatingAdmissionPolicy(_) => ValidatingAdmissionPolicy::KIND,
            Resource::ValidatingAdmissionPolicyBinding(_) => ValidatingAdmissionPolicyBinding::KIND,
            Resource::MutatingAdmissionPolicy(_) => MutatingAdmissionPolicy::KIND,
            Resource::MutatingAdmissionPolicyBinding(_) => MutatingAdmissionPolicyBinding::KIND,
            Resource::ValidatingWebhookConfiguration(_) => ValidatingWebhookConfiguration::KIND,
            Resource::MutatingWebhookConfiguration(_) => MutatingWebhookConfiguration::KIND,
        }
    }

    /// The JSON text of the object as Go writes it, in the object's own version.
    pub fn to_json(&self) -> String {
        let mut out = String::new();
        match self {
            Resource::ValidatingAdmissionPolicy(object) => object.encode(&mut out),
            Resource::ValidatingAdmissionPolicyBinding(object) => object.encode(&mut out),
            Resource::MutatingAdmissionPolicy(object) => object.encode(&mut out),
            Resource::MutatingAdmissionPolicyBinding(object) => object.encode(&mut out),
            Resource::ValidatingWebhookConfiguration(object) => object.encode(&mut out),
            Resource::MutatingWebhookConfiguration(object) => object.encode(&mut out),
        }
        out
    }
}

/// Converts a value of an API type to JSON, as Go does.
///
/// # Errors
///
/// A field stored as JSON text is nested more than 127 levels deep.
pub(crate) fn to_json(value: &dyn ApiValue) -> serde_json::Result<Json> {
    let mut text = String::new();
    value.encode(&mut text);
    json::read(text.as_bytes())
}

fn wrapped<T: Registration>(
    source: Source<'_>,
    version: Version,
    wrap: fn(Box<T>) -> Resource,
) -> Result<Decoded<Resource>, DecodeError> {
    let Decoded { object, strict } = read(source, version)?;
    Ok(Decoded {
        object: wrap(Box::new(object)),
        strict,
    })
}

fn read<T: Registration>(source: Source<'_>, version: Version) -> Result<Decoded<T>, DecodeError> {
    let mut decoded: Decoded<T> = serializer::decode(source, version.name())?;
    decoded.object.set_defaults(version);
    Ok(decoded)
}

/// The version of an object; v1 if it names no known version.
fn version_of(object: &Json) -> Version {
    let api_version = object.get("apiVersion").and_then(Json::as_str);
    let version = api_version.unwrap_or_default().rsplit('/').next();
    version.and_then(Version::parse).unwrap_or(Version::V1)
}

/// The version and kind of an object of the group.
fn read_type(source: Source<'_>, server: Server) -> Result<(Version, String), DecodeError> {
    let (api_version, kind) = serializer::version_and_kind(source)?;
    let named = GroupVersion::parse(&api_version)
        .map_err(|message| DecodeError::new("apiVersion", message))?;
    let missing = |name: &str| {
        let text = source.text();
        DecodeError::new("", format!("Object '{name}' is missing in '{text}'"))
    };
    if kind.is_empty() {
        return Err(missing("Kind"));
    }
    if named.version.is_empty() {
        return Err(missing("apiVersion"));
    }
    match Version::parse(named.version).filter(|_| named.group == GROUP) {
        Some(version) => Ok((version, kind)),
        None => Err(unknown_kind(&kind, &named.to_string(), server)),
    }
}

pub(crate) fn unknown_kind(kind: &str, api_version: &str, server: Server) -> DecodeError {
    let (kind, version) = (quote(kind), quote(api_version));
    let scheme = scheme_name(server);
    let message = format!("no kind {kind} is registered for version {version} in scheme {scheme}");
    DecodeError::new("kind", message)
}

/// The quoted name of upstream's list of kinds: the source line at which upstream creates the list.
pub(crate) fn scheme_name(server: Server) -> &'static str {
    match server.has(Difference::SchemesAreOfLine111) {
        true => r#""pkg/runtime/scheme.go:111""#,
        false => r#""pkg/runtime/scheme.go:110""#,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn errors_name_the_field_that_is_wrong() {
        let rules = json!([
            {"operations": ["CREATE"], "resources": ["pods"]},
            {"operations": "CREATE", "resources": ["pods"]},
        ]);
        let policy = |spec: Json| {
            json!({
                "apiVersion": "admissionregistration.k8s.io/v1",
                "kind": "ValidatingAdmissionPolicy",
                "metadata": {"name": "a"},
                "spec": spec,
            })
        };
        for (spec, expected) in [
            (
                json!({"matchConstraints": {"resourceRules": rules}}),
                "spec.matchConstraints.resourceRules[1].operations",
            ),
            (json!("a"), "spec"),
            (
                json!({"validations": [{"expression": "true"}, {"expression": 1}]}),
                "spec.validations[1].expression",
            ),
            (json!({"validations": {"a": 1}}), "spec.validations"),
            (
                json!({"matchConstraints": {"objectSelector": {"matchLabels": {"a.b/c": 1}}}}),
                "spec.matchConstraints.objectSelector.matchLabels.a.b/c",
            ),
        ] {
            let policy = policy(spec);
            let error = Resource::decode(&policy).unwrap_err();
            assert_eq!(error.field, expected, "{error}");
        }
    }
}

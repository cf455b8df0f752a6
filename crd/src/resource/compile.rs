//! Compiles a CustomResourceDefinition for validating objects.

use std::sync::Arc;

use gavel_apimachinery::server::Server;
use gavel_schema::validate::Validator;
use gavel_schema::{JsonSchema, Pool, default};

use crate::definition::{Definition, Scale, Version, conversion_error};
use crate::rule::{RuleEnvs, RuleNode};

/// Why a definition cannot be compiled. No API server accepts such a definition.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct CompileError(String);

/// A definition does not have this version.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the CRD has no version {version:?}{}", only(known))]
pub struct UnknownVersion {
    version: String,
    known: Vec<String>,
}

/// The versions that a definition has, for an error.
fn only(known: &[String]) -> String {
    match known {
        [] => String::new(),
        known => format!(", only {}", known.join(", ")),
    }
}

/// A definition with compiled schemas and rules, which validates objects.
///
/// Compile it once; any number of threads can use it.
///
/// ```
/// use gavel_crd::CompiledCrd;
/// use gavel_crd::definition::Definition;
/// use gavel_crd::resource::{COST_BUDGET, DecodeOptions};
/// use serde_json::json;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let definition = Definition::read(&json!({
///     "apiVersion": "apiextensions.k8s.io/v1",
///     "kind": "CustomResourceDefinition",
///     "metadata": {"name": "things.example.com"},
///     "spec": {
///         "group": "example.com",
///         "names": {"plural": "things", "kind": "Thing"},
///         "scope": "Namespaced",
///         "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
///             "type": "object",
///             "properties": {"spec": {
///                 "type": "object",
///                 "properties": {"replicas": {"type": "integer", "default": 1}, "color": {"type": "string"}},
///                 "x-kubernetes-validations": [
///                     {"rule": "self.replicas <= 5", "fieldPath": ".replicas", "message": "too many"},
///                     {"rule": "self.color == oldSelf.color", "message": "color is immutable"},
///                 ],
///             }},
///         }}}],
///     },
/// }))?;
/// let crd = CompiledCrd::compile(&definition)?;
///
/// // What a client sends is read first: unknown fields are dropped, defaults set.
/// let thing = |spec| json!({
///     "apiVersion": "example.com/v1",
///     "kind": "Thing",
///     "metadata": {"name": "a", "namespace": "default", "resourceVersion": "1"},
///     "spec": spec,
/// });
/// let old = crd.decode(thing(json!({"color": "red", "size": 3})), DecodeOptions::default())?;
/// assert_eq!(old.object["spec"], json!({"color": "red", "replicas": 1}));
/// assert_eq!(old.unknown_fields, ["spec.size"]);
/// assert!(crd.validate("v1", &old.object, None, COST_BUDGET)?.is_valid());
///
/// let new = crd.decode(thing(json!({"color": "blue", "replicas": 7})), DecodeOptions::default())?;
/// let outcome = crd.validate("v1", &new.object, Some(&old.object), COST_BUDGET)?;
/// assert_eq!(outcome.errors().map(ToString::to_string).collect::<Vec<_>>(), [
///     "spec.replicas: Invalid value: too many",
///     "spec: Invalid value: color is immutable",
/// ]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct CompiledCrd {
    pub(super) server: Server,
    pub(super) group: String,
    pub(super) kind: String,
    pub(super) is_namespaced: bool,
    pub(super) preserves_unknown_fields: bool,
    pub(super) versions: Vec<CompiledVersion>,
    storage_version: Option<String>,
}

impl CompiledCrd {
    /// Compiles a definition for the newest supported version of the API server. The definition should be one that an API server accepts:
    /// of the errors that [`Definition::validate`] finds, only those below are found here. A rule that does not compile fails for every
    /// object.
    ///
    /// # Errors
    ///
    /// A schema is not structural, the default of its root is not an object, or a table of functions is malformed.
    pub fn compile(definition: &Definition) -> Result<Self, CompileError> {
        Self::compile_for(definition, Server::default())
    }

    /// Like [`CompiledCrd::compile`], for the given API server. If the definition preserves unknown fields, its schemas need not be
    /// structural.
    ///
    /// # Errors
    ///
    /// A schema is not structural, the default of its root is not an object, or a table of functions is malformed.
    pub fn compile_for(definition: &Definition, server: Server) -> Result<Self, CompileError> {
        let spec = &definition.spec;
        let envs = RuleEnvs::new(server).map_err(|error| CompileError(error.to_string()))?;
        let preserves_unknown_fields = spec.preserve_unknown_fields;
        let mut pool = Pool::default();
        let compile =
            |version| CompiledVersion::compile(version, preserves_unknown_fields, &mut pool, &envs);
        Ok(CompiledCrd {
            server,
            group: spec.group.clone(),
            kind: spec.names.kind.clone(),
            is_namespaced: spec.scope == "Namespaced",
            preserves_unknown_fields,
            versions: spec
                .versions
                .iter()
                .map(compile)
                .collect::<Result<_, _>>()?,
            storage_version: definition
                .storage_version()
                .map(|version| version.name.clone()),
        })
    }

    /// The group of the objects.
    pub fn group(&self) -> &str {
        &self.group
    }

    /// The kind of the objects.
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// The API server as which objects are validated.
    pub fn server(&self) -> Server {
        self.server
    }

    /// Whether the objects have a namespace.
    pub fn is_namespaced(&self) -> bool {
        self.is_namespaced
    }

    /// The version in which objects are stored.
    pub fn storage_version(&self) -> Option<&str> {
        self.storage_version.as_deref()
    }

    pub(super) fn version(&self, name: &str) -> Result<&CompiledVersion, UnknownVersion> {
        let mut versions = self.versions.iter();
        let found = versions.find(|version| version.name == name);
        found.ok_or_else(|| UnknownVersion {
            version: name.to_owned(),
            known: self.versions.iter().map(|each| each.name.clone()).collect(),
        })
    }
}

/// A compiled version of a definition.
#[derive(Debug)]
pub(super) struct CompiledVersion {
    pub(super) name: String,
    /// The schema. Unknown fields are removed from its defaults, unless the definition preserves unknown fields.
    pub(super) schema: Option<Arc<JsonSchema>>,
    /// Whether the schema has embedded objects.
    pub(super) has_embedded: bool,
    /// Whether the schema is structural. If unknown fields are preserved, the schema need not be structural.
    is_structural: bool,
    pub(super) validator: Option<Validator>,
    /// The validator of the field `status`; `None` if there is no subresource `status` or the schema does not declare the field.
    pub(super) status_validator: Option<Validator>,
    pub(super) has_status: bool,
    pub(super) scale: Option<Scale>,
    /// The rules; `None` if the schema has none.
    pub(super) rules: Option<Arc<RuleNode>>,
}

impl CompiledVersion {
    fn compile(
        version: &Version,
        preserves_unknown_fields: bool,
        pool: &mut Pool,
        envs: &RuleEnvs,
    ) -> Result<Self, CompileError> {
        let mut schema = version
            .schema
            .as_ref()
            .and_then(|validation| validation.schema.clone());
        let refusal = schema.as_deref().and_then(conversion_error);
        if let Some(refusal) = refusal.as_ref().filter(|_| !preserves_unknown_fields) {
            let message = format!("failed to convert schema to structural: {refusal}");
            return Err(CompileError(message));
        }
        if let Some(schema) = &mut schema
            && !preserves_unknown_fields
        {
            let pruned = default::prune_defaults(Arc::make_mut(schema));
            pruned.map_err(|error| CompileError(format!("failed to prune defaults: {error}")))?;
        }
        let schema = schema.map(|schema| pool.bare(&schema));
        let subresources = version.subresources.as_ref();
        let has_status = subresources.is_some_and(|subresources| subresources.status);
        let validator = schema
            .as_deref()
            .map(|schema| Validator::new(schema, envs.server()));
        let status = validator.as_ref().filter(|_| has_status);
        let is_embedded = |schema: &JsonSchema| schema.embedded_resource;
        let structural = schema.as_ref().filter(|_| refusal.is_none());
        Ok(CompiledVersion {
            name: version.name.clone(),
            is_structural: refusal.is_none(),
            has_embedded: structural.is_some_and(|schema| schema.any(&is_embedded)),
            status_validator: status.and_then(|validator| validator.property("status")),
            validator,
            has_status,
            scale: subresources.and_then(|subresources| subresources.scale.clone()),
            rules: structural.and_then(|schema| RuleNode::compile(schema, true, envs)),
            schema,
        })
    }

    /// The schema, if it is structural.
    pub(super) fn structural(&self) -> Option<&JsonSchema> {
        self.schema.as_deref().filter(|_| self.is_structural)
    }

    /// The validator for the lists of type set and map, if the schema is structural.
    pub(super) fn list_types(&self) -> Option<&Validator> {
        self.validator.as_ref().filter(|_| self.is_structural)
    }
}

//! The policies.

use serde::Deserialize;

use super::{MatchCondition, MatchResources, ObjectMeta, or_default};

/// A ValidatingAdmissionPolicy.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ValidatingAdmissionPolicy {
    /// `metadata`
    #[serde(deserialize_with = "or_default")]
    pub metadata: ObjectMeta,
    /// `spec`
    #[serde(deserialize_with = "or_default")]
    pub spec: ValidatingAdmissionPolicySpec,
}

/// What a validating policy asks for.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ValidatingAdmissionPolicySpec {
    /// `paramKind`
    pub param_kind: Option<ParamKind>,
    /// `matchConstraints`: the requests that it looks at
    pub match_constraints: Option<MatchResources>,
    /// `validations`
    #[serde(deserialize_with = "or_default")]
    pub validations: Vec<Validation>,
    /// `failurePolicy`: `Fail` or `Ignore`: what a failure to decide means
    pub failure_policy: Option<String>,
    /// `auditAnnotations`
    #[serde(deserialize_with = "or_default")]
    pub audit_annotations: Vec<AuditAnnotation>,
    /// `matchConditions`
    #[serde(deserialize_with = "or_default")]
    pub match_conditions: Vec<MatchCondition>,
    /// `variables`: in order: each sees those before it
    #[serde(deserialize_with = "or_default")]
    pub variables: Vec<Variable>,
}

/// The kind of a policy's params.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ParamKind {
    /// `apiVersion`: `group/version` or `v1`
    #[serde(deserialize_with = "or_default")]
    pub api_version: String,
    /// `kind`
    #[serde(deserialize_with = "or_default")]
    pub kind: String,
}

/// An expression that must be true.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Validation {
    /// `expression`
    #[serde(deserialize_with = "or_default")]
    pub expression: String,
    /// `message`: what a denial says
    #[serde(deserialize_with = "or_default")]
    pub message: String,
    /// `reason`: `Forbidden`, `Invalid` or `RequestEntityTooLarge`
    pub reason: Option<String>,
    /// `messageExpression`: an expression of what a denial says
    #[serde(deserialize_with = "or_default")]
    pub message_expression: String,
}

/// An expression under a name, which other expressions use as `variables.name`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Variable {
    /// `name`
    #[serde(deserialize_with = "or_default")]
    pub name: String,
    /// `expression`
    #[serde(deserialize_with = "or_default")]
    pub expression: String,
}

/// An annotation of the audit event.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct AuditAnnotation {
    /// `key`
    #[serde(deserialize_with = "or_default")]
    pub key: String,
    /// `valueExpression`: a string, or null for no annotation
    #[serde(deserialize_with = "or_default")]
    pub value_expression: String,
}

/// A MutatingAdmissionPolicy.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct MutatingAdmissionPolicy {
    /// `metadata`
    #[serde(deserialize_with = "or_default")]
    pub metadata: ObjectMeta,
    /// `spec`
    #[serde(deserialize_with = "or_default")]
    pub spec: MutatingAdmissionPolicySpec,
}

/// What a mutating policy changes.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct MutatingAdmissionPolicySpec {
    /// `paramKind`
    pub param_kind: Option<ParamKind>,
    /// `matchConstraints`: the requests that it looks at
    pub match_constraints: Option<MatchResources>,
    /// `variables`: in order: each sees those before it
    #[serde(deserialize_with = "or_default")]
    pub variables: Vec<Variable>,
    /// `mutations`
    #[serde(deserialize_with = "or_default")]
    pub mutations: Vec<Mutation>,
    /// `failurePolicy`: `Fail` or `Ignore`: what a failure to decide means
    pub failure_policy: Option<String>,
    /// `matchConditions`
    #[serde(deserialize_with = "or_default")]
    pub match_conditions: Vec<MatchCondition>,
    /// `reinvocationPolicy`: `Never` or `IfNeeded`
    #[serde(deserialize_with = "or_default")]
    pub reinvocation_policy: String,
}

/// One change.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Mutation {
    /// `patchType`: `ApplyConfiguration` or `JSONPatch`
    #[serde(deserialize_with = "or_default")]
    pub patch_type: String,
    /// `applyConfiguration`
    pub apply_configuration: Option<ApplyConfiguration>,
    /// `jsonPatch`
    pub json_patch: Option<JsonPatch>,
}

/// What the object is merged with.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ApplyConfiguration {
    /// `expression`: an `Object`
    #[serde(deserialize_with = "or_default")]
    pub expression: String,
}

/// A JSON patch.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct JsonPatch {
    /// `expression`: a list of `JSONPatch`
    #[serde(deserialize_with = "or_default")]
    pub expression: String,
}

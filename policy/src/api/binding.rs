//! What binds policies to resources and params.

use gavel_apimachinery::labels::LabelSelector;
use serde::Deserialize;

use super::{MatchResources, ObjectMeta, or_default};

/// A ValidatingAdmissionPolicyBinding.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ValidatingAdmissionPolicyBinding {
    /// `metadata`
    #[serde(deserialize_with = "or_default")]
    pub metadata: ObjectMeta,
    /// `spec`
    #[serde(deserialize_with = "or_default")]
    pub spec: ValidatingAdmissionPolicyBindingSpec,
}

/// Which validating policy applies where, and what a denial does.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ValidatingAdmissionPolicyBindingSpec {
    /// `policyName`
    #[serde(deserialize_with = "or_default")]
    pub policy_name: String,
    /// `paramRef`
    pub param_ref: Option<ParamRef>,
    /// `matchResources`: the requests that it is about, of those of the policy
    pub match_resources: Option<MatchResources>,
    /// `validationActions`: of `Deny`, `Warn` and `Audit`
    #[serde(deserialize_with = "or_default")]
    pub validation_actions: Vec<String>,
}

/// The params: objects of the policy's `paramKind`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ParamRef {
    /// `name`
    #[serde(deserialize_with = "or_default")]
    pub name: String,
    /// `namespace`
    #[serde(deserialize_with = "or_default")]
    pub namespace: String,
    /// `selector`
    pub selector: Option<LabelSelector>,
    /// `parameterNotFoundAction`: `Allow` or `Deny`: what it means that there are none
    pub parameter_not_found_action: Option<String>,
}

/// A MutatingAdmissionPolicyBinding.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct MutatingAdmissionPolicyBinding {
    /// `metadata`
    #[serde(deserialize_with = "or_default")]
    pub metadata: ObjectMeta,
    /// `spec`
    #[serde(deserialize_with = "or_default")]
    pub spec: MutatingAdmissionPolicyBindingSpec,
}

/// Which mutating policy applies where.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct MutatingAdmissionPolicyBindingSpec {
    /// `policyName`
    #[serde(deserialize_with = "or_default")]
    pub policy_name: String,
    /// `paramRef`
    pub param_ref: Option<ParamRef>,
    /// `matchResources`: the requests that it is about, of those of the policy
    pub match_resources: Option<MatchResources>,
}

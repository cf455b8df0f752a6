//! What binds policies to resources and params.

use gavel_apimachinery::api_types;
use gavel_apimachinery::labels::LabelSelector;

use super::{MatchResources, ObjectMeta, TypeMeta};

api_types! {
    /// A ValidatingAdmissionPolicyBinding.
    pub struct ValidatingAdmissionPolicyBinding(".ValidatingAdmissionPolicyBinding") {
        /// The object's version and kind.
        "TypeMeta" embed "" type_meta: TypeMeta;
        /// `metadata`
        "metadata" keep "" metadata: ObjectMeta;
        /// `spec`
        "spec" keep "" spec: ValidatingAdmissionPolicyBindingSpec;
    }

    /// Which validating policy applies where, and what a denial does.
    pub struct ValidatingAdmissionPolicyBindingSpec(".ValidatingAdmissionPolicyBindingSpec") {
        /// `policyName`
        "policyName" omit "" policy_name: String;
        /// `paramRef`
        "paramRef" omit "" param_ref: Option<ParamRef>;
        /// `matchResources`: the requests that it is about, of those of the policy.
        "matchResources" omit "" match_resources: Option<MatchResources>;
        /// `validationActions`: of `Deny`, `Warn` and `Audit`.
        "validationActions" omit ".ValidationAction" validation_actions: Vec<String>;
    }

    /// The params: objects of the policy's `paramKind`.
    pub struct ParamRef(".ParamRef") {
        /// `name`
        "name" omit "" name: String;
        /// `namespace`
        "namespace" omit "" namespace: String;
        /// `selector`
        "selector" omit "" selector: Option<LabelSelector>;
        /// `parameterNotFoundAction`: `Allow` or `Deny`: what it means that there are none.
        "parameterNotFoundAction" omit ".ParameterNotFoundActionType" parameter_not_found_action: Option<String>;
    }

    /// A MutatingAdmissionPolicyBinding.
    pub struct MutatingAdmissionPolicyBinding(".MutatingAdmissionPolicyBinding") {
        /// The object's version and kind.
        "TypeMeta" embed "" type_meta: TypeMeta;
        /// `metadata`
        "metadata" keep "" metadata: ObjectMeta;
        /// `spec`
        "spec" keep "" spec: MutatingAdmissionPolicyBindingSpec;
    }

    /// Which mutating policy applies where.
    pub struct MutatingAdmissionPolicyBindingSpec(".MutatingAdmissionPolicyBindingSpec") {
        /// `policyName`
        "policyName" omit "" policy_name: String;
        /// `paramRef`
        "paramRef" omit "" param_ref: Option<ParamRef>;
        /// `matchResources`: the requests that it is about, of those of the policy.
        "matchResources" omit "" match_resources: Option<MatchResources>;
    }
}

//! The API types of bindings, which bind policies to resources and params.

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

    /// A binding of a validating policy: the requests for which the policy is evaluated, and the actions if a validation denies a request.
    pub struct ValidatingAdmissionPolicyBindingSpec(".ValidatingAdmissionPolicyBindingSpec") {
        /// `policyName`
        "policyName" omit "" policy_name: String;
        /// `paramRef`
        "paramRef" omit "" param_ref: Option<ParamRef>;
        /// `matchResources`: further constraints on the requests of the policy.
        "matchResources" omit "" match_resources: Option<MatchResources>;
        /// `validationActions`: a list of `Deny`, `Warn` and `Audit`.
        "validationActions" omit ".ValidationAction" validation_actions: Vec<String>;
    }

    /// Selects the params, which are objects of the policy's `paramKind`.
    pub struct ParamRef(".ParamRef") {
        /// `name`
        "name" omit "" name: String;
        /// `namespace`
        "namespace" omit "" namespace: String;
        /// `selector`
        "selector" omit "" selector: Option<LabelSelector>;
        /// `parameterNotFoundAction`: what happens if no params are found, `Allow` or `Deny`.
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

    /// A binding of a mutating policy: the requests for which the policy is evaluated.
    pub struct MutatingAdmissionPolicyBindingSpec(".MutatingAdmissionPolicyBindingSpec") {
        /// `policyName`
        "policyName" omit "" policy_name: String;
        /// `paramRef`
        "paramRef" omit "" param_ref: Option<ParamRef>;
        /// `matchResources`: further constraints on the requests of the policy.
        "matchResources" omit "" match_resources: Option<MatchResources>;
    }
}

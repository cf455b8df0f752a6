//! The API types of admission policies.

use gavel_apimachinery::api_types;

use super::{Condition, MatchCondition, MatchResources, ObjectMeta, TypeMeta};

api_types! {
    /// A ValidatingAdmissionPolicy.
    pub struct ValidatingAdmissionPolicy(".ValidatingAdmissionPolicy") {
        /// The object's version and kind.
        "TypeMeta" embed "" type_meta: TypeMeta;
        /// `metadata`
        "metadata" keep "" metadata: ObjectMeta;
        /// `spec`
        "spec" keep "" spec: ValidatingAdmissionPolicySpec;
        /// `status`
        "status" keep "" status: ValidatingAdmissionPolicyStatus;
    }

    /// The `spec` of a validating policy.
    pub struct ValidatingAdmissionPolicySpec(".ValidatingAdmissionPolicySpec") {
        /// `paramKind`
        "paramKind" omit "" param_kind: Option<ParamKind>;
        /// `matchConstraints`: the requests that the policy matches.
        "matchConstraints" omit "" match_constraints: Option<MatchResources>;
        /// `validations`
        "validations" omit "" validations: Vec<Validation>;
        /// `failurePolicy`: what happens if the policy fails, `Fail` or `Ignore`.
        "failurePolicy" omit ".FailurePolicyType" failure_policy: Option<String>;
        /// `auditAnnotations`
        "auditAnnotations" omit "" audit_annotations: Vec<AuditAnnotation>;
        /// `matchConditions`
        "matchConditions" omit "" match_conditions: Vec<MatchCondition>;
        /// `variables`, in order: each variable can read the variables before it.
        "variables" omit "" variables: Vec<Variable>;
    }

    /// The kind of a policy's params.
    pub struct ParamKind(".ParamKind") {
        /// `apiVersion`: `group/version` or `v1`.
        "apiVersion" omit "" api_version: String;
        /// `kind`
        "kind" omit "" kind: String;
    }

    /// An expression that must be true.
    pub struct Validation(".Validation") {
        /// `expression`
        "expression" keep "" expression: String;
        /// `message`: the message if the validation fails.
        "message" omit "" message: String;
        /// `reason`: `Forbidden`, `Invalid` or `RequestEntityTooLarge`.
        "reason" omit "v1.StatusReason" reason: Option<String>;
        /// `messageExpression`: an expression that computes this message.
        "messageExpression" omit "" message_expression: String;
    }

    /// A named expression. Later expressions read its value as `variables.<name>`.
    pub struct Variable(".Variable") {
        /// `name`
        "name" keep "" name: String;
        /// `expression`
        "expression" keep "" expression: String;
    }

    /// An annotation of the audit event.
    pub struct AuditAnnotation(".AuditAnnotation") {
        /// `key`
        "key" keep "" key: String;
        /// `valueExpression`: an expression that returns a string, or null to add no annotation.
        "valueExpression" keep "" value_expression: String;
    }

    /// The status of a policy, which the API server writes.
    pub struct ValidatingAdmissionPolicyStatus(".ValidatingAdmissionPolicyStatus") {
        /// `observedGeneration`
        "observedGeneration" omit "" observed_generation: i64;
        /// `typeChecking`
        "typeChecking" omit "" type_checking: Option<TypeChecking>;
        /// `conditions`
        "conditions" omit "" conditions: Vec<Condition>;
    }

    /// The result of type checking a policy.
    pub struct TypeChecking(".TypeChecking") {
        /// `expressionWarnings`
        "expressionWarnings" omit "" expression_warnings: Vec<ExpressionWarning>;
    }

    /// A warning about an expression.
    pub struct ExpressionWarning(".ExpressionWarning") {
        /// `fieldRef`: the path of the expression in the policy.
        "fieldRef" keep "" field_ref: String;
        /// `warning`
        "warning" keep "" warning: String;
    }

    /// A MutatingAdmissionPolicy.
    pub struct MutatingAdmissionPolicy(".MutatingAdmissionPolicy") {
        /// The object's version and kind.
        "TypeMeta" embed "" type_meta: TypeMeta;
        /// `metadata`
        "metadata" keep "" metadata: ObjectMeta;
        /// `spec`
        "spec" keep "" spec: MutatingAdmissionPolicySpec;
    }

    /// The `spec` of a mutating policy.
    pub struct MutatingAdmissionPolicySpec(".MutatingAdmissionPolicySpec") {
        /// `paramKind`
        "paramKind" omit "" param_kind: Option<ParamKind>;
        /// `matchConstraints`: the requests that the policy matches.
        "matchConstraints" omit "" match_constraints: Option<MatchResources>;
        /// `variables`, in order: each variable can read the variables before it.
        "variables" omit "" variables: Vec<Variable>;
        /// `mutations`
        "mutations" omit "" mutations: Vec<Mutation>;
        /// `failurePolicy`: what happens if the policy fails, `Fail` or `Ignore`.
        "failurePolicy" omit ".FailurePolicyType" failure_policy: Option<String>;
        /// `matchConditions`
        "matchConditions" omit "" match_conditions: Vec<MatchCondition>;
        /// `reinvocationPolicy`: `Never` or `IfNeeded`.
        "reinvocationPolicy" omit "v1.ReinvocationPolicyType" reinvocation_policy: String;
    }

    /// A change to the object: an apply configuration or a JSON patch.
    pub struct Mutation(".Mutation") {
        /// `patchType`: `ApplyConfiguration` or `JSONPatch`.
        "patchType" keep ".PatchType" patch_type: String;
        /// `applyConfiguration`
        "applyConfiguration" omit "" apply_configuration: Option<ApplyConfiguration>;
        /// `jsonPatch`
        "jsonPatch" omit "" json_patch: Option<JsonPatch>;
    }

    /// A configuration that is merged with the object.
    pub struct ApplyConfiguration(".ApplyConfiguration") {
        /// `expression`: returns an `Object`.
        "expression" omit "" expression: String;
    }

    /// A JSON patch.
    pub struct JsonPatch(".JSONPatch") {
        /// `expression`: returns a list of `JSONPatch` operations.
        "expression" omit "" expression: String;
    }
}

//! The API types of admission registration (`admissionregistration.k8s.io`). Their fields are those of v1, which v1beta1 and v1alpha1
//! share.
//!
//! Enumerations are plain strings here, as in Go: decoding accepts any string, and validation rejects the invalid ones.

mod binding;
mod decode;
mod defaults;
mod matching;
mod metadata;
mod own_kinds;
mod policy;
mod webhook;

pub use binding::{
    MutatingAdmissionPolicyBinding, MutatingAdmissionPolicyBindingSpec, ParamRef,
    ValidatingAdmissionPolicyBinding, ValidatingAdmissionPolicyBindingSpec,
};
pub use decode::{FieldValidation, GROUP, Registration, Resource, Version};
pub(crate) use decode::{scheme_name, to_json, unknown_kind};
pub use gavel_apimachinery::serializer::DecodeError;
pub use matching::{MatchCondition, MatchResources, NamedRuleWithOperations, RuleWithOperations};
pub use metadata::{Condition, ManagedFieldsEntry, ObjectMeta, OwnerReference, TypeMeta};
pub use own_kinds::{OWN_GROUP, as_built_in};
pub use policy::{
    ApplyConfiguration, AuditAnnotation, ExpressionWarning, JsonPatch, MutatingAdmissionPolicy,
    MutatingAdmissionPolicySpec, Mutation, ParamKind, TypeChecking, ValidatingAdmissionPolicy,
    ValidatingAdmissionPolicySpec, ValidatingAdmissionPolicyStatus, Validation, Variable,
};
pub use webhook::{
    MutatingWebhook, MutatingWebhookConfiguration, ServiceReference, ValidatingWebhook,
    ValidatingWebhookConfiguration, WebhookClientConfig,
};

#[cfg(test)]
mod tests;

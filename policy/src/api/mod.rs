//! The API types of admission registration (admissionregistration.k8s.io), with the fields of v1, which v1beta1 and v1alpha1 share. Go's
//! string types are plain texts here: an object may contain any text, and only validation rejects wrong ones.

mod binding;
mod decode;
mod defaults;
mod matching;
mod metadata;
mod policy;
mod webhook;

pub use binding::{
    MutatingAdmissionPolicyBinding, MutatingAdmissionPolicyBindingSpec, ParamRef,
    ValidatingAdmissionPolicyBinding, ValidatingAdmissionPolicyBindingSpec,
};
pub use decode::{DecodeError, FieldValidation, GROUP, Registration, Resource, Version};
pub(crate) use decode::{to_json, unknown_kind};
pub use matching::{MatchCondition, MatchResources, NamedRuleWithOperations, RuleWithOperations};
pub use metadata::{Condition, ManagedFieldsEntry, ObjectMeta, OwnerReference, TypeMeta};
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

//! The API types of admission registration (admissionregistration.k8s.io), in the shape of v1, which v1beta1 and v1alpha1
//! share. What Go holds as a named string is a text here: an object may say anything, and only validation refuses it.

mod binding;
mod defaults;
mod matching;
mod metadata;
mod policy;

use serde::{Deserialize, Deserializer};

pub use binding::{
    MutatingAdmissionPolicyBinding, MutatingAdmissionPolicyBindingSpec, ParamRef,
    ValidatingAdmissionPolicyBinding, ValidatingAdmissionPolicyBindingSpec,
};
pub use defaults::Registration;
pub use matching::{MatchCondition, MatchResources, NamedRuleWithOperations, RuleWithOperations};
pub use metadata::ObjectMeta;
pub use policy::{
    ApplyConfiguration, AuditAnnotation, JsonPatch, MutatingAdmissionPolicy,
    MutatingAdmissionPolicySpec, Mutation, ParamKind, ValidatingAdmissionPolicy,
    ValidatingAdmissionPolicySpec, Validation, Variable,
};

/// Go reads null as nothing: the value's default.
fn or_default<'de, D: Deserializer<'de>, T: Default + Deserialize<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

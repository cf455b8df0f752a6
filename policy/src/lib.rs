//! Evaluates and applies admission policies as the API server does. Layer 3: no IO, no clock.
//!
//! A [`PolicyIndex`] holds policies, bindings, params and namespaces. With a [`Snapshot`] of the index and an [`AdmissionRequest`],
//! [`dispatch()`] evaluates validating policies and returns a [`Decision`]; [`mutating::mutate`] evaluates mutating policies and returns
//! the mutated object:
//!
//! ```
//! use gavel_libraries::EnvSet;
//! use gavel_policy::{AdmissionRequest, Options, PolicyIndex, dispatch};
//! use gavel_engine::value::{Arena, Value};
//! use serde_json::json;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let kubernetes = EnvSet::new("1.36".parse()?)?;
//! let mut index = PolicyIndex::new(&kubernetes);
//! index.apply(json!({
//!     "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy", "metadata": {"name": "short-names"},
//!     "spec": {
//!         "matchConstraints": {"resourceRules": [
//!             {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["namespaces"]},
//!         ]},
//!         "validations": [{"expression": "size(object.metadata.name) <= 20"}],
//!     },
//! }))?;
//! index.apply(json!({
//!     "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicyBinding", "metadata": {"name": "short-names"},
//!     "spec": {"policyName": "short-names", "validationActions": ["Deny"]},
//! }))?;
//!
//! let review = json!({
//!     "uid": "1", "operation": "CREATE", "name": "shop",
//!     "kind": {"group": "", "version": "v1", "kind": "Namespace"},
//!     "resource": {"group": "", "version": "v1", "resource": "namespaces"},
//!     "object": {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}},
//! });
//! let arena = Arena::new();
//! let request = AdmissionRequest::read(Value::from(&review), &arena)?;
//! assert!(dispatch(&index.snapshot(), &request, &Options::default()).allowed());
//! # Ok(())
//! # }
//! ```
//!
//! [`Options`] sets the authorizer for expressions and the interrupt for deadlines. The [`EnvSet`](gavel_libraries::EnvSet) selects the API
//! server's version.
//!
//! The crate reads no cluster: hosts add policies, params and namespaces to the index, and answer authorization checks. The expressions of
//! a policy share the cost budget of Kubernetes, and compute at most 64 MiB beyond the request. Decisions have no deadline unless the host
//! sets [`Options::interrupt`].

mod annotations;
pub mod api;
mod by_hash;
pub mod cel;
mod compiled;
mod compiled_binding;
mod compiled_mutating;
mod decision;
mod dispatch;
mod enforcement;
mod evaluation;
mod expression_kind;
mod fields;
mod go_values;
mod hooks;
mod index;
mod kept;
mod match_conditions;
mod matching;
pub mod mutating;
mod names;
mod namespace;
mod observer;
mod options;
mod outcome;
mod params;
mod parsed;
mod request;
mod resolver;
mod resource;
mod response;
mod shared;
pub mod typecheck;
pub mod validation;
mod wanted;

pub use compiled::{CompiledPolicy, FailurePolicy, PolicyError};
pub use compiled_binding::CompiledBinding;
pub use compiled_mutating::{CompiledMutatingBinding, CompiledMutatingPolicy};
pub use decision::{Decision, Denial};
pub use dispatch::{decide, dispatch};
pub use index::{IndexError, PolicyIndex, Snapshot};
pub use kept::KeptObject;
pub use matching::{EquivalentResources, Matched, resource_matches};
pub use namespace::Namespace;
pub use observer::{Observer, Run};
pub use options::{Convert, Options};
pub use outcome::{
    AuditOutcome, ConditionsOutcome, Evaluation, PolicyAuditAnnotation, PolicyDecision,
    PolicyDecisionEvaluation,
};
pub use params::ParamFault;
pub use request::{AdmissionRequest, RequestError};
pub use resource::{GroupVersionKind, GroupVersionResource, is_exempt, is_review};
pub use response::{AdmissionResponse, AnsweredReview};
pub use wanted::WantedParam;

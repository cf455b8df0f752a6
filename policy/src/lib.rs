//! Admission policies, decided as the API server decides them. Layer 3; sees no `crd`.
//!
//! A [`PolicyIndex`] takes in policies, bindings, params and namespaces; its [`Snapshot`] and an [`AdmissionRequest`] go
//! into [`dispatch()`], a [`Decision`] comes out: no clock, no network, no lock.

pub mod api;
pub mod cel;
mod compiled;
mod compiled_binding;
mod compiled_mutating;
mod decision;
mod dispatch;
mod evaluation;
mod expression_kind;
mod fields;
mod hooks;
mod index;
mod match_conditions;
mod matching;
pub mod mutating;
mod names;
mod namespace;
mod observer;
mod outcome;
mod params;
mod request;
mod resource;
mod response;
pub mod typecheck;
pub mod validation;

pub use compiled::{CompiledPolicy, FailurePolicy, PolicyError};
pub use compiled_binding::CompiledBinding;
pub use compiled_mutating::{CompiledMutatingBinding, CompiledMutatingPolicy};
pub use decision::{Decision, Denial, Status};
pub use dispatch::{Options, decide, dispatch};
pub use index::{IndexError, PolicyIndex, Snapshot, validate_namespace};
pub use matching::{EquivalentResources, Matched};
pub use observer::{Observer, Run};
pub use outcome::{
    AuditOutcome, ConditionsOutcome, Evaluation, PolicyAuditAnnotation, PolicyDecision, Verdict,
};
pub use request::{AdmissionRequest, RequestError};
pub use resource::{GroupVersionKind, GroupVersionResource};
pub use response::{AdmissionResponse, AnsweredReview, ResponseStatus};

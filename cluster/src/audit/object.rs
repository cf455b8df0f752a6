//! The audit of one object.

use std::cell::RefCell;
use std::sync::Arc;

use gavel_apimachinery::meta::MetadataView;
use gavel_libraries::authorizer::{Authorizer, UserInfo};
use gavel_policy::{
    AdmissionRequest, AuditOutcome, Evaluation, GroupVersionKind, GroupVersionResource, KeptObject,
    Options, PolicyDecisionEvaluation, dispatch,
};
use gavel_state::State;
use serde_json::{Value as Json, json};

/// A resource whose objects are audited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Audited {
    /// The kind of the objects.
    pub kind: GroupVersionKind,
    /// The plural name.
    pub plural: String,
    /// Whether the objects have a namespace.
    pub namespaced: bool,
}

/// A violation of a policy by an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The policy.
    pub policy: String,
    /// The binding; empty if the policy could not be evaluated at all.
    pub binding: String,
    /// The outcome.
    pub outcome: Outcome,
    /// The message.
    pub message: String,
}

/// The outcome of a policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Outcome {
    /// The object would be denied.
    Fail,
    /// The object would be admitted with a warning or an audit annotation.
    Warn,
    /// The policy could not be evaluated.
    Error,
}

impl Outcome {
    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Fail => "fail",
            Outcome::Warn => "warn",
            Outcome::Error => "error",
        }
    }
}

/// The violations of policies by an object, as if `user` created the object now.
pub fn audit_object(
    state: &State,
    authorizer: &Arc<dyn Authorizer>,
    user: &Arc<UserInfo>,
    resource: &Audited,
    object: &Json,
) -> Vec<Finding> {
    let metadata = MetadataView::of(object);
    let is_namespace = resource.kind.group.is_empty() && resource.kind.kind == "Namespace";
    let create = json!({"apiVersion": "meta.k8s.io/v1", "kind": "CreateOptions"});
    let request = AdmissionRequest {
        uid: metadata.uid(),
        kind: resource.kind.clone(),
        resource: GroupVersionResource {
            group: resource.kind.group.clone(),
            version: resource.kind.version.clone(),
            resource: resource.plural.as_str().into(),
        },
        subresource: "",
        name: metadata.name(),
        namespace: match is_namespace {
            true => metadata.name(),
            false => metadata.namespace(),
        },
        operation: "CREATE",
        user: Arc::clone(user),
        object: object.into(),
        old_object: gavel_engine::value::Value::NULL,
        dry_run: true,
        options: (&create).into(),
    };
    let found = Found {
        state,
        findings: RefCell::default(),
    };
    let options = Options {
        observer: &found,
        authorizer: Some(authorizer),
        ..Options::default()
    };
    drop(dispatch(&state.snapshot(&request), &request, &options));
    found.findings.into_inner()
}

/// Collects the violations of policies by an object.
struct Found<'s> {
    state: &'s State,
    findings: RefCell<Vec<Finding>>,
}

impl Found<'_> {
    fn note(&self, policy: &str, binding: &str, outcome: Outcome, message: &str) {
        self.findings.borrow_mut().push(Finding {
            policy: policy.to_owned(),
            binding: binding.to_owned(),
            outcome,
            message: message.to_owned(),
        });
    }
}

impl gavel_policy::Observer for Found<'_> {
    fn ignored(&self, policy: &str, binding: Option<&str>, error: &str) {
        self.note(policy, binding.unwrap_or_default(), Outcome::Error, error);
    }

    fn refused(&self, policy: &str, binding: Option<&str>, error: &str) {
        self.note(policy, binding.unwrap_or_default(), Outcome::Error, error);
    }

    fn evaluated(&self, policy: &str, binding: &str, _: Option<&KeptObject>, found: &Evaluation) {
        let denies = self
            .state
            .actions(binding)
            .iter()
            .any(|action| action == "Deny");
        for decision in &found.decisions {
            let outcome = match (decision.evaluation, denies) {
                (PolicyDecisionEvaluation::Admit, _) => continue,
                (PolicyDecisionEvaluation::Error, _) => Outcome::Error,
                (PolicyDecisionEvaluation::Deny, true) => Outcome::Fail,
                (PolicyDecisionEvaluation::Deny, false) => Outcome::Warn,
            };
            self.note(policy, binding, outcome, &decision.message);
        }
        for annotation in &found.audit_annotations {
            if let AuditOutcome::Error(error) = &annotation.outcome {
                self.note(policy, binding, Outcome::Error, error);
            }
        }
    }
}

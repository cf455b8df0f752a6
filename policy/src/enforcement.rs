//! Turns evaluations into denials, warnings and audit annotations (apiserver `pkg/admission/plugin/policy/validating/dispatcher.go`).

use gavel_apimachinery::json;
use gavel_apimachinery::server::{Difference, Server};

use crate::annotations::Annotations;
use crate::compiled::{CompiledPolicy, FailurePolicy};
use crate::compiled_binding::CompiledBinding;
use crate::decision::{Decision, Denial};
use crate::observer::Observer;
use crate::outcome::{AuditOutcome, Evaluation};

/// The maximum number of failed validations in one audit annotation.
const MAX_FAILURES: usize = 50;

impl Decision {
    /// Records that a policy or binding cannot be evaluated at all. The failure policy decides; `validationActions` are not used.
    pub(crate) fn misconfigured(
        &mut self,
        policy: &CompiledPolicy,
        binding: Option<&CompiledBinding>,
        error: &str,
        observer: &dyn Observer,
    ) {
        let message = match policy.failure_policy() {
            FailurePolicy::Ignore => {
                let binding = binding.map(CompiledBinding::name);
                return observer.ignored(policy.name(), binding, error);
            }
            FailurePolicy::Fail => {
                let what = if binding.is_some() {
                    "binding"
                } else {
                    "policy"
                };
                format!("failed to configure {what}: {error}")
            }
            FailurePolicy::Unknown(unknown) => format!("unrecognized failure policy: '{unknown}'"),
        };
        observer.refused(policy.name(), binding.map(CompiledBinding::name), error);
        self.denials.push(Denial {
            policy: policy.name().to_owned(),
            binding: binding.map(|binding| binding.name().to_owned()),
            message,
            reason: String::new(),
        });
    }

    /// Applies the binding's `validationActions` to the failed validations, and collects the audit annotations.
    pub(crate) fn enforce(
        &mut self,
        policy: &CompiledPolicy,
        binding: &CompiledBinding,
        evaluation: &Evaluation,
        annotations: &mut Annotations,
        server: Server,
    ) {
        let (policy_name, binding_name) = (policy.name(), binding.name());
        let denial = |message: &str, reason: &str| Denial {
            policy: policy_name.to_owned(),
            binding: Some(binding_name.to_owned()),
            message: message.to_owned(),
            reason: reason.to_owned(),
        };
        let decisions = evaluation.decisions.iter().enumerate();
        for (n, found) in decisions.filter(|(_, found)| found.denies) {
            for action in &binding.binding().spec.validation_actions {
                match action.as_str() {
                    "Deny" => self.denials.push(denial(&found.message, &found.reason)),
                    "Warn" => self.warnings.push(format!(
                        "Validation failed for ValidatingAdmissionPolicy '{policy_name}' with binding '{binding_name}': {}",
                        found.message
                    )),
                    "Audit" => self.failures.push(failure(binding, n, &found.message)),
                    _ => {}
                }
                if !server.has(Difference::FailuresAreAuditedTogether) {
                    self.publish_failures();
                }
            }
        }
        for annotation in &evaluation.audit_annotations {
            match &annotation.outcome {
                AuditOutcome::Publish(value) => annotations.add(&annotation.key, value),
                // A failed annotation denies the request, even if `validationActions` do not include `Deny`.
                AuditOutcome::Error(error) => self.denials.push(denial(error, "")),
                AuditOutcome::Exclude { .. } => {}
            }
        }
    }

    /// Adds the recorded failures to the audit event, all in one annotation.
    pub(crate) fn publish_failures(&mut self) {
        let mut failures = std::mem::take(&mut self.failures);
        if !failures.is_empty() {
            failures.truncate(MAX_FAILURES);
            let key = "validation.policy.admission.k8s.io/validation_failure";
            self.annotate(key.to_owned(), format!("[{}]", failures.join(",")));
        }
    }
}

/// A failed validation as JSON text, for the audit event.
fn failure(binding: &CompiledBinding, expression_index: usize, message: &str) -> String {
    let spec = &binding.binding().spec;
    let actions = match spec.validation_actions.as_slice() {
        [] => "null".to_owned(),
        actions => {
            let actions: Vec<String> = actions.iter().map(|action| json::quoted(action)).collect();
            format!("[{}]", actions.join(","))
        }
    };
    format!(
        "{{\"message\":{},\"policy\":{},\"binding\":{},\"expressionIndex\":{expression_index},\"validationActions\":{actions}}}",
        json::quoted(message),
        json::quoted(&spec.policy_name),
        json::quoted(binding.name()),
    )
}

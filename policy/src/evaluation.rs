//! Evaluates a policy for one binding and one param (apiserver `pkg/admission/plugin/policy/validating/validator.go`).

use gavel_engine::value::{Value, ValueKind};

use crate::cel::{COST_BUDGET, Expression, Group, Inputs, OUT_OF_BUDGET, Outcome, Runner};
use crate::compiled::{CompiledPolicy, FailurePolicy};
use crate::match_conditions;
use crate::outcome::{
    AuditOutcome, ConditionsOutcome, Evaluation, PolicyAuditAnnotation, PolicyDecision,
    PolicyDecisionEvaluation,
};

/// The length limit of a computed message, in bytes.
const MAX_MESSAGE_BYTES: usize = 5 * 1024;

/// The inputs of a policy's expressions, which differ by the kind of expression.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Views<'a> {
    /// The inputs of validations.
    pub(crate) inputs: Inputs<'a>,
    /// The variable `request` of match conditions. Its `resource` is the resource that the request was sent to, even if the policy matches
    /// an equivalent resource.
    pub(crate) conditions_request: Value<'a>,
    /// The value of `namespaceObject` in audit annotations.
    pub(crate) whole_namespace: Value<'a>,
}

/// The evaluation of a policy for one request, with any number of bindings and params.
#[derive(Debug)]
pub(crate) struct Session<'p> {
    policy: &'p CompiledPolicy,
    conditions: Group<'p>,
    validations: Group<'p>,
    messages: Group<'p>,
    annotations: Group<'p>,
}

impl<'p> Session<'p> {
    /// Begins the evaluation. The runner's arena stores the values that do not depend on params.
    pub(crate) fn new(policy: &'p CompiledPolicy, views: Views<'p>, runner: Runner<'p>) -> Self {
        let variables = &policy.variables;
        let inputs = views.inputs;
        let unauthorized = || Inputs {
            authorizer: None,
            ..inputs
        };
        let of_conditions = || Inputs {
            request: views.conditions_request,
            namespace_object: Value::NULL,
            ..inputs
        };
        let of_annotations = || Inputs {
            namespace_object: views.whole_namespace,
            ..unauthorized()
        };
        let has_messages = policy.messages.iter().any(Option::is_some);
        let messages = if has_messages {
            policy.messages.len()
        } else {
            0
        };
        let conditions = policy.match_conditions.len();
        let annotations = policy.audit_annotations.len();
        Session {
            conditions: Group::new(conditions, variables, of_conditions, runner),
            validations: Group::new(policy.validations.len(), variables, || inputs, runner),
            messages: Group::new(messages, variables, unauthorized, runner),
            annotations: Group::new(annotations, variables, of_annotations, runner),
            policy,
        }
    }

    /// Evaluates the policy for one binding and one param. `budget` is the cost budget of the validations, in cost units; `None` means the
    /// budget of Kubernetes.
    pub(crate) fn evaluate<'e>(
        &'e self,
        params: Value<'e>,
        runner: Runner<'e>,
        budget: Option<i64>,
    ) -> Evaluation {
        let policy = self.policy;
        match match_conditions::evaluate(
            &self.conditions,
            &policy.match_conditions,
            &policy.policy().spec.match_conditions,
            policy.failure_policy(),
            params,
            runner,
        ) {
            ConditionsOutcome::Error(message) => return policy.failed(message),
            ConditionsOutcome::NoMatch { .. } => return Evaluation::default(),
            ConditionsOutcome::Match => {}
        }
        let budget = budget.unwrap_or(COST_BUDGET);
        let mut left = budget;
        let expressions = policy.validations.iter().map(Some);
        let outcomes = self
            .validations
            .evaluate(expressions, params, runner, &mut left);
        let Ok(outcomes) = outcomes else {
            return policy.failed(OUT_OF_BUDGET.to_owned());
        };
        let expressions = policy.messages.iter().map(Option::as_ref);
        let messages = self
            .messages
            .evaluate(expressions, params, runner, &mut left);
        let decisions = outcomes
            .iter()
            .enumerate()
            .map(|(n, outcome)| match (outcome, messages) {
                (Some(Err(message)), _) => policy.error((*message).to_owned()),
                (_, Err(_)) => policy.error(format!("failed messageExpression: {OUT_OF_BUDGET}")),
                (Some(Ok(value)), _) if value.as_bool() == Some(true) => PolicyDecision {
                    denies: false,
                    evaluation: PolicyDecisionEvaluation::Admit,
                    message: String::new(),
                    reason: String::new(),
                },
                (_, Ok(messages)) => policy.denial(n, messages.get(n).copied().flatten()),
            });
        let decisions = decisions.collect();
        let mut left = budget;
        let expressions = policy.audit_annotations.iter().map(Some);
        match self
            .annotations
            .evaluate(expressions, params, runner, &mut left)
        {
            Ok(values) => Evaluation {
                decisions,
                audit_annotations: policy.annotations(values),
            },
            Err(_) => policy.failed(OUT_OF_BUDGET.to_owned()),
        }
    }
}

impl CompiledPolicy {
    /// The evaluation of a policy that failed as a whole.
    pub(crate) fn failed(&self, message: String) -> Evaluation {
        Evaluation {
            decisions: vec![self.error(message)],
            audit_annotations: Vec::new(),
        }
    }

    fn error(&self, message: String) -> PolicyDecision {
        PolicyDecision {
            denies: *self.failure_policy() != FailurePolicy::Ignore,
            evaluation: PolicyDecisionEvaluation::Error,
            message,
            reason: String::new(),
        }
    }

    /// The decision of validation `n`, which denies the request. `message` is the outcome of its message expression.
    fn denial(&self, n: usize, message: Outcome<'_>) -> PolicyDecision {
        let validation = self.policy().spec.validations.get(n);
        let computed = match message {
            Some(Ok(value)) => value.as_str().unwrap_or_default().trim(),
            _ => "",
        };
        let is_fit = computed.len() <= MAX_MESSAGE_BYTES && !computed.contains('\n');
        let fixed = validation.map_or("", |validation| validation.message.trim());
        let texts = [if is_fit { computed } else { "" }, fixed];
        let message = match texts.into_iter().find(|text| !text.is_empty()) {
            Some(text) => text.to_owned(),
            None => {
                let expression = validation.map_or("", |validation| validation.expression.trim());
                format!("failed expression: {expression}")
            }
        };
        let reason = validation.and_then(|validation| validation.reason.clone());
        PolicyDecision {
            denies: true,
            evaluation: PolicyDecisionEvaluation::Deny,
            message,
            reason: reason.unwrap_or_else(|| "Invalid".to_owned()),
        }
    }

    fn annotations(&self, values: &[Outcome<'_>]) -> Vec<PolicyAuditAnnotation> {
        let keys = self.policy().spec.audit_annotations.iter();
        let expressions = keys.zip(&self.audit_annotations);
        expressions
            .zip(values)
            .map(|((annotation, expression), value)| PolicyAuditAnnotation {
                key: annotation.key.clone(),
                outcome: self.annotation(expression, *value),
            })
            .collect()
    }

    fn annotation(&self, expression: &Expression, value: Outcome<'_>) -> AuditOutcome {
        let excluded = || AuditOutcome::Exclude {
            error: String::new(),
        };
        match value {
            Some(Err(error)) if *self.failure_policy() == FailurePolicy::Ignore => {
                AuditOutcome::Exclude {
                    error: error.to_owned(),
                }
            }
            Some(Err(error)) => AuditOutcome::Error(error.to_owned()),
            None => excluded(),
            Some(Ok(value)) => match value.kind() {
                ValueKind::Null => excluded(),
                ValueKind::String(text) => match text.trim() {
                    "" => excluded(),
                    text => AuditOutcome::Publish(text.to_owned()),
                },
                _ => AuditOutcome::Error(format!(
                    "valueExpression '{}' resulted in unsupported return type: {}. Return type must be either string or null.",
                    expression.text,
                    value.type_name()
                )),
            },
        }
    }
}

//! Evaluates a policy for one binding and one param (apiserver `pkg/admission/plugin/policy/validating/validator.go`).

use gavel_engine::value::{Value, ValueKind};

use crate::cel::{
    COST_BUDGET, Expression, Group, OUT_OF_BUDGET, OutOfBudget, Outcome, Runner, TypedInputs,
};
use crate::compiled::{CompiledPolicy, FailurePolicy};
use crate::expression_kind::ExpressionKind;
use crate::match_conditions;
use crate::outcome::{
    AuditOutcome, ConditionsOutcome, Evaluation, PolicyAuditAnnotation, PolicyDecision,
    PolicyDecisionEvaluation,
};

/// The length limit of a computed message, in bytes.
const MAX_MESSAGE_BYTES: usize = 5 * 1024;

/// The decision of a validation that is true.
const ADMITTED: PolicyDecision = PolicyDecision {
    denies: false,
    evaluation: PolicyDecisionEvaluation::Admit,
    message: String::new(),
    reason: String::new(),
};

/// The evaluation of a policy for one request, with any number of bindings and params.
pub(crate) struct Session<'p> {
    policy: &'p CompiledPolicy,
    conditions: Option<&'p Group<'p>>,
    validations: Option<&'p Group<'p>>,
    messages: Option<&'p Group<'p>>,
    annotations: Option<&'p Group<'p>>,
}

impl<'p> Session<'p> {
    /// Begins the evaluation. The runner's arena stores the session and the values that do not depend on params. `is_repeated` tells
    /// whether the policy may be evaluated more than once.
    #[inline]
    pub(crate) fn new(
        policy: &'p CompiledPolicy,
        inputs: TypedInputs<'p>,
        runner: Runner<'p>,
        is_repeated: bool,
    ) -> Self {
        let bump = runner.arena.bump();
        let group = |kind, count| -> Option<&'p Group<'p>> {
            let shared = if is_repeated { count } else { 0 };
            match count {
                0 => None,
                _ => Some(
                    bump.alloc_with(|| Group::new(kind, shared, &policy.variables, inputs, runner)),
                ),
            }
        };
        Session {
            conditions: group(
                ExpressionKind::MatchCondition,
                policy.match_conditions.len(),
            ),
            validations: group(ExpressionKind::Validation, policy.validations.len()),
            messages: group(ExpressionKind::Message, policy.messages.len()),
            annotations: group(
                ExpressionKind::AuditAnnotation,
                policy.audit_annotations.len(),
            ),
            policy,
        }
    }

    /// Evaluates the policy for one binding and one param, and stores the results in `found`, which must be empty. `budget` is the cost
    /// budget of the validations, in cost units; `None` means the budget of Kubernetes.
    pub(crate) fn evaluate<'e>(
        &self,
        params: Value<'e>,
        runner: &Runner<'e>,
        budget: Option<i64>,
        found: &mut Evaluation,
    ) {
        let policy = self.policy;
        // A policy without match conditions matches.
        if let Some(group) = self.conditions {
            match match_conditions::evaluate(
                group,
                &policy.match_conditions,
                &policy.policy().spec.match_conditions,
                policy.failure_policy(),
                params,
                runner,
            ) {
                ConditionsOutcome::Error(message) => return policy.fail(message, found),
                ConditionsOutcome::NoMatch { .. } => return,
                ConditionsOutcome::Match => {}
            }
        }
        let out_of_budget = |found| policy.fail(OUT_OF_BUDGET.to_owned(), found);
        let budget = budget.unwrap_or(COST_BUDGET);
        let mut left = budget;
        if let Some(group) = self.validations {
            let needs_all = runner.follower.is_some();
            let expressions = policy.validations.iter().map(Some);
            match self.messages {
                None => {
                    let left = &mut left;
                    let decide = |n, outcome| {
                        policy.decide(n, outcome, Ok(&[]), needs_all, found);
                    };
                    if let Err(OutOfBudget) =
                        group.evaluate_each(expressions, params, runner, left, needs_all, decide)
                    {
                        return out_of_budget(found);
                    }
                }
                Some(messages) => {
                    let Ok(outcomes) = group.evaluate(expressions, params, runner, &mut left)
                    else {
                        return out_of_budget(found);
                    };
                    let expressions = policy.messages.iter().map(Option::as_ref);
                    let messages = messages.evaluate(expressions, params, runner, &mut left);
                    for (n, outcome) in outcomes.iter().enumerate() {
                        policy.decide(n, *outcome, messages, needs_all, found);
                    }
                }
            }
        }
        if let Some(group) = self.annotations {
            let mut left = budget;
            let expressions = policy.audit_annotations.iter().map(Some);
            match group.evaluate(expressions, params, runner, &mut left) {
                Ok(values) => policy.annotate(values, found),
                Err(_) => out_of_budget(found),
            }
        }
    }
}

impl CompiledPolicy {
    /// Stores the evaluation of a policy that failed as a whole.
    pub(crate) fn fail(&self, message: String, found: &mut Evaluation) {
        found.clear();
        found.decisions.push(self.error(message));
    }

    /// Decides validation number `n`. `messages` are the results of the message expressions of all validations. A validation that is true is
    /// only stored in `found` if `needs_all`, or before one that is not true.
    #[inline]
    fn decide(
        &self,
        n: usize,
        outcome: Outcome<'_>,
        messages: Result<&[Outcome<'_>], OutOfBudget>,
        needs_all: bool,
        found: &mut Evaluation,
    ) {
        match (outcome, messages) {
            (Some(Ok(value)), Ok(_)) if value.as_bool() == Some(true) => {
                if needs_all {
                    found.decisions.push(ADMITTED);
                }
            }
            _ => self.decide_otherwise(n, outcome, messages, found),
        }
    }

    /// Decides a validation that is not true, or whose message cannot be computed.
    #[cold]
    fn decide_otherwise(
        &self,
        n: usize,
        outcome: Outcome<'_>,
        messages: Result<&[Outcome<'_>], OutOfBudget>,
        found: &mut Evaluation,
    ) {
        let decision = match (outcome, messages) {
            (Some(Err(message)), _) => self.error(message.to_owned()),
            (_, Err(OutOfBudget)) => {
                self.error(format!("failed messageExpression: {OUT_OF_BUDGET}"))
            }
            (_, Ok(messages)) => self.denial(n, messages.get(n).copied().flatten()),
        };
        found.decisions.resize(n, ADMITTED);
        found.decisions.push(decision);
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

    fn annotate(&self, values: &[Outcome<'_>], found: &mut Evaluation) {
        let keys = self.policy().spec.audit_annotations.iter();
        let expressions = keys.zip(&self.audit_annotations);
        let annotations = expressions.zip(values);
        let annotations =
            annotations.map(|((annotation, expression), value)| PolicyAuditAnnotation {
                key: annotation.key.clone(),
                outcome: self.annotation(expression, *value),
            });
        found.audit_annotations.extend(annotations);
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
                    expression.text(),
                    value.type_name()
                )),
            },
        }
    }
}

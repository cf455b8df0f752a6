//! The steps of a decision: the policies and bindings that matched, and the value of each expression.

use std::cell::RefCell;
use std::fmt;

use gavel_engine::value::{Json, Value};
use gavel_policy::cel::ExpressionKind;
use gavel_policy::mutating::difference;
use gavel_policy::{ConditionsOutcome, Evaluation, KeptObject, Matched, Observer, Run};

/// A step of a decision.
#[derive(Debug, Clone)]
pub enum Step {
    /// The constraints of a policy were evaluated for the request.
    Policy {
        /// The name of the policy.
        policy: String,
        /// Whether the policy matches the request; an error if its constraints cannot be evaluated.
        matched: Result<bool, String>,
    },
    /// The constraints of a binding were evaluated for the request.
    Binding {
        /// The policy.
        policy: String,
        /// The binding.
        binding: String,
        /// Whether the binding matches the request; an error if its constraints cannot be evaluated.
        matched: Result<bool, String>,
    },
    /// A policy or binding could not be evaluated.
    Failed {
        /// The policy.
        policy: String,
        /// The binding; `None` if the policy as a whole failed.
        binding: Option<String>,
        /// The error.
        error: String,
        /// Whether the request is denied because of the error.
        denies: bool,
    },
    /// A validating policy was evaluated.
    Evaluated {
        /// The policy, binding and param.
        invocation: Invocation,
        /// The results of the policy's validations and audit annotations.
        evaluation: Evaluation,
    },
    /// A mutating policy was evaluated.
    Mutated {
        /// The policy, binding and param.
        invocation: Invocation,
    },
}

/// A policy that was evaluated for a binding and a param.
#[derive(Debug, Clone, Default)]
pub struct Invocation {
    /// The policy.
    pub policy: String,
    /// The binding.
    pub binding: String,
    /// The param: `namespace/name`, or the name alone.
    pub param: Option<String>,
    /// The result of the match conditions.
    pub conditions: Option<ConditionsOutcome>,
    /// The expressions that ran, in order; a variable comes before the expression that first read it.
    pub runs: Vec<Ran>,
    /// Whether a mutating policy was invoked in the second mutation pass.
    pub is_second: bool,
    /// What the mutations changed, as the operations of a JSON patch; `None` for validating policies, and if no mutation was reached.
    pub patch: Option<Vec<Json>>,
}

/// An expression of a policy that was evaluated, with its cost and value.
#[derive(Debug, Clone)]
pub struct Ran {
    /// The kind of the expression.
    pub kind: ExpressionKind,
    /// The text.
    pub expression: String,
    /// The name of the variable.
    pub variable: Option<String>,
    /// The cost in cost units.
    pub cost: u64,
    /// The value, as the trace formats it, or the error.
    pub result: Result<String, String>,
    /// A help text for the error, or empty. The trace leaves it empty; callers can fill it in.
    pub help: String,
}

/// Records the steps of a decision.
pub struct Trace {
    write: fn(Value<'_>) -> String,
    steps: RefCell<Steps>,
}

#[derive(Default)]
struct Steps {
    done: Vec<Step>,
    runs: Vec<Ran>,
    conditions: Option<ConditionsOutcome>,
    /// The mutating policies to invoke in the current mutation pass.
    invocations: Vec<Invocation>,
    /// The current invocation.
    invoking: Option<Invocation>,
    /// What the current invocation changed.
    patch: Option<Vec<Json>>,
}

impl Trace {
    /// An empty trace; `write` formats values.
    pub fn new(write: fn(Value<'_>) -> String) -> Self {
        Trace {
            write,
            steps: RefCell::default(),
        }
    }

    /// The steps, in order.
    pub fn into_steps(self) -> Vec<Step> {
        let mut steps = self.steps.into_inner();
        steps.end_invocation();
        steps.done
    }

    /// Calls `look` with the steps recorded so far.
    pub(crate) fn with_steps<T>(&self, look: impl FnOnce(&[Step]) -> T) -> T {
        look(&self.steps.borrow().done)
    }

    /// Marks the end of mutation: the next steps are those of validating policies.
    pub(crate) fn end_mutation(&self) {
        self.steps.borrow_mut().end_invocation();
    }

    fn push(&self, step: Step) {
        self.steps.borrow_mut().done.push(step);
    }
}

impl Steps {
    /// Ends the mutation pass if one of its invocations has begun: the next policies belong to the next pass.
    fn end_pass(&mut self) {
        if self.invoking.is_some() {
            self.end_invocation();
            self.invocations.clear();
        }
    }

    fn end_invocation(&mut self) {
        if let Some(mut invocation) = self.invoking.take() {
            invocation.runs = std::mem::take(&mut self.runs);
            invocation.conditions = self.conditions.take();
            invocation.patch = self.patch.take();
            if !invocation.is_passed_over() {
                self.done.push(Step::Mutated { invocation });
            }
        }
    }
}

impl Invocation {
    /// Whether no mutation was reached although no match condition prevents it. In the second mutation pass, this is the case for policies
    /// that are not reinvoked: at most their match conditions are evaluated.
    fn is_passed_over(&self) -> bool {
        let is_mutation = |ran: &Ran| {
            matches!(
                ran.kind,
                ExpressionKind::ApplyConfiguration | ExpressionKind::JsonPatch
            )
        };
        let is_matched = match &self.conditions {
            None => true,
            Some(ConditionsOutcome::Match) => self.is_second,
            Some(ConditionsOutcome::NoMatch { .. } | ConditionsOutcome::Error(_)) => false,
        };
        is_matched && !self.runs.iter().any(is_mutation)
    }
}

impl fmt::Debug for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.steps.borrow().done).finish()
    }
}

impl Observer for Trace {
    fn policy_matched(&self, policy: &str, matched: &Result<Option<Matched<'_>>, String>) {
        self.steps.borrow_mut().end_pass();
        self.push(Step::Policy {
            policy: policy.to_owned(),
            matched: matched.as_ref().map(Option::is_some).map_err(String::clone),
        });
    }

    fn binding_matched(&self, policy: &str, binding: &str, matched: &Result<bool, String>) {
        self.push(Step::Binding {
            policy: policy.to_owned(),
            binding: binding.to_owned(),
            matched: matched.clone(),
        });
    }

    fn ignored(&self, policy: &str, binding: Option<&str>, error: &str) {
        // The failures of mutating policies are reported at the end of a pass.
        self.steps.borrow_mut().end_pass();
        self.push(failed(policy, binding, error, false));
    }

    fn refused(&self, policy: &str, binding: Option<&str>, error: &str) {
        self.push(failed(policy, binding, error, true));
    }

    fn ran(&self, run: &Run<'_>) {
        let ran = Ran {
            kind: run.kind,
            expression: run.expression.to_owned(),
            variable: run.variable.map(str::to_owned),
            cost: run.cost,
            result: run.result.map(self.write).map_err(str::to_owned),
            help: String::new(),
        };
        self.steps.borrow_mut().runs.push(ran);
    }

    fn conditions_matched(&self, outcome: &ConditionsOutcome) {
        self.steps.borrow_mut().conditions = Some(outcome.clone());
    }

    fn invocation(&self, policy: &str, binding: &str, param: Option<&KeptObject>, is_second: bool) {
        let mut steps = self.steps.borrow_mut();
        steps.end_pass();
        steps.invocations.push(Invocation {
            is_second,
            ..invocation(policy, binding, param)
        });
    }

    fn invoking(&self, _policy: &str, position: usize) {
        let mut steps = self.steps.borrow_mut();
        steps.end_invocation();
        steps.invoking = steps.invocations.get(position).cloned();
    }

    fn applied(&self, before: Value<'_>, after: Value<'_>) {
        if let (Some(before), Some(after)) = (before.to_json(), after.to_json()) {
            self.steps.borrow_mut().patch = Some(difference(&before, &after));
        }
    }

    fn evaluated(
        &self,
        policy: &str,
        binding: &str,
        param: Option<&KeptObject>,
        found: &Evaluation,
    ) {
        let mut steps = self.steps.borrow_mut();
        steps.end_invocation();
        let invocation = Invocation {
            conditions: steps.conditions.take(),
            runs: std::mem::take(&mut steps.runs),
            ..invocation(policy, binding, param)
        };
        steps.done.push(Step::Evaluated {
            invocation,
            evaluation: found.clone(),
        });
    }
}

fn failed(policy: &str, binding: Option<&str>, error: &str, denies: bool) -> Step {
    Step::Failed {
        policy: policy.to_owned(),
        binding: binding.map(str::to_owned),
        error: error.to_owned(),
        denies,
    }
}

fn invocation(policy: &str, binding: &str, param: Option<&KeptObject>) -> Invocation {
    let param = param.map(|param| match param.namespace() {
        "" => param.name().to_owned(),
        namespace => format!("{namespace}/{}", param.name()),
    });
    Invocation {
        policy: policy.to_owned(),
        binding: binding.to_owned(),
        param,
        ..Invocation::default()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use super::*;
    use crate::{Operation, Setup, Subject, user};

    #[test]
    fn runs_after_mutation_belong_to_the_validating_policy() {
        let constraints = json!({"resourceRules": [
            {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]},
        ]});
        let policy = |kind: &str, rest: Json| {
            let mut spec = json!({"matchConstraints": constraints});
            spec.as_object_mut()
                .unwrap()
                .extend(rest.as_object().unwrap().clone());
            let version = "admissionregistration.k8s.io/v1";
            json!({"apiVersion": version, "kind": kind, "metadata": {"name": kind.to_lowercase()}, "spec": spec})
        };
        let mut setup = Setup::new(Default::default()).unwrap();
        let mutation = json!({"expression": "Object{data: {'a': 'b'}}"});
        setup.add_value(policy(
            "MutatingAdmissionPolicy",
            json!({
                "reinvocationPolicy": "Never",
                "mutations": [{"patchType": "ApplyConfiguration", "applyConfiguration": mutation}],
            }),
        ));
        let validation = json!({"expression": "object.data.a == 'b'"});
        setup.add_value(policy(
            "ValidatingAdmissionPolicy",
            json!({"validations": [validation]}),
        ));
        setup.bind_unbound();
        let world = setup.finish();
        let object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}});
        let alice = user("alice", &[]);
        let subject = Subject {
            operation: Operation::Create,
            object: &object,
            old: None,
            namespace: "default",
            user: &alice,
        };
        let trace = Trace::new(|value| format!("{value:?}"));
        let ruling = world.decide(&world.request(&subject), &trace).unwrap();
        assert_eq!((ruling.status, ruling.findings.len()), (None, 0));
        let ran: Vec<(bool, Vec<ExpressionKind>)> = trace
            .into_steps()
            .iter()
            .filter_map(|step| match step {
                Step::Mutated { invocation } => Some((true, &invocation.runs)),
                Step::Evaluated { invocation, .. } => Some((false, &invocation.runs)),
                _ => None,
            })
            .map(|(mutates, runs)| (mutates, runs.iter().map(|ran| ran.kind).collect()))
            .collect();
        assert_eq!(
            ran,
            [
                (true, vec![ExpressionKind::ApplyConfiguration]),
                (false, vec![ExpressionKind::Validation]),
            ]
        );
    }
}

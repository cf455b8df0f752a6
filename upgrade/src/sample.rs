//! The answers of an API server to a request.

use std::cell::RefCell;
use std::collections::BTreeMap;

use gavel_engine::value::{Arena, Json, Value};
use gavel_policy::mutating::mutate;
use gavel_policy::{AdmissionRequest, KeptObject, Matched, Observer, Options, Run, dispatch};
use gavel_state::State;

use crate::facts::{Facts, Topic};

/// The answers to a request by the rules of its kind, by mutating policies, and by validating policies. Validating policies are evaluated
/// with the object before mutation, so that each change is reported once.
pub(crate) fn facts(state: &State, request: &Json) -> Facts {
    let mut facts = Facts::default();
    let mut request = request.clone();
    let object = request.get_mut("object");
    if let Some(Err(error)) = object.map(|object| state.schemas().fill_defaults(object)) {
        facts.add(Topic::Creation, "object", error.to_string());
        return facts;
    }
    let arena = Arena::new();
    // This does not fail: the request was also read when it was added.
    let Ok(request) = AdmissionRequest::read(Value::from(&request), &arena) else {
        return facts;
    };
    add_rules(&mut facts, state, &request);
    let snapshot = state.snapshot(&request);
    let costs = Costs::default();
    let options = Options {
        authorizer: Some(state.authorizer()),
        observer: &costs,
        ..Options::default()
    };
    let mutated = mutate(&snapshot, &request, state.schemas(), &options);
    if let Some(status) = mutated.status {
        facts.add(Topic::Mutation, "", status.message);
    } else if let Some(object) = mutated.object {
        facts.add(
            Topic::Mutation,
            "",
            gavel_apimachinery::json::to_string(&object),
        );
    }
    let decision = dispatch(&snapshot, &request, &options);
    if let Some(status) = decision.status {
        facts.add(Topic::Decision, "", status.message);
    }
    for warning in decision.warnings {
        facts.add(Topic::Warning, "", warning);
    }
    for (key, value) in decision.audit_annotations {
        facts.add_about(Topic::Audit, "", key, value);
    }
    for (expression, cost) in costs.spent.into_inner() {
        facts.add_about(Topic::Cost, "", expression, cost.to_string());
    }
    facts
}

fn add_rules(facts: &mut Facts, state: &State, request: &AdmissionRequest<'_>) {
    let found = state.definitions().validate(request, &|| false);
    for error in &found.errors {
        // Kubernetes calls the object as a whole `<nil>`.
        let field = error.field.as_str();
        let field = if field == "<nil>" { "" } else { field };
        facts.add_about(Topic::Decision, field, &found.kind, error.to_string());
    }
    for warning in found.warnings {
        facts.add(Topic::Warning, "", warning);
    }
    if let Some(error) = found.unreadable {
        facts.add_about(Topic::Decision, "", &found.kind, error.message);
    }
    if found.cost > 0 {
        facts.add_about(Topic::Cost, "", "all rules", found.cost.to_string());
    }
}

/// The costs of policies' expressions.
#[derive(Debug, Default)]
struct Costs {
    /// The policy that is being evaluated.
    policy: RefCell<String>,
    /// The mutating policies of a pass, in the order of their invocations.
    invocations: RefCell<Vec<String>>,
    /// The cost by policy and expression, for all bindings and params together.
    spent: RefCell<BTreeMap<String, u64>>,
}

impl Observer for Costs {
    fn policy_matched(&self, policy: &str, _: &Result<Option<Matched<'_>>, String>) {
        policy.clone_into(&mut self.policy.borrow_mut());
    }

    fn invocation(&self, policy: &str, _: &str, _: Option<&KeptObject>, _: bool) {
        self.invocations.borrow_mut().push(policy.to_owned());
    }

    fn invoking(&self, _policy: &str, position: usize) {
        if let Some(policy) = self.invocations.borrow().get(position) {
            policy.clone_into(&mut self.policy.borrow_mut());
        }
    }

    fn ran(&self, run: &Run<'_>) {
        let expression = match run.variable {
            Some(name) => format!("variable {name}"),
            None => format!("{} {}", run.kind.name(), run.expression),
        };
        let expression = format!("policy {}: {expression}", self.policy.borrow());
        let mut spent = self.spent.borrow_mut();
        let spent = spent.entry(expression).or_default();
        *spent = spent.saturating_add(run.cost);
    }
}

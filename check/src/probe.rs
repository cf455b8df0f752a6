//! Probes: the values of the parts of a policy's validations, and the outcomes of the conditions among them, for one request.
//!
//! A probe is evaluated in a copy of the policy. The copy keeps the variables and match conditions, and gets an additional variable for each
//! probe; its validations only read these variables. Therefore probes are evaluated as an API server would evaluate them, with all
//! variables of the policy.

use gavel_apimachinery::status::Status;
use gavel_engine::value::{Json, Value};
use gavel_libraries::Server;
use gavel_manifest::Document;
use serde_json::json;

use crate::conditions::Condition;
use crate::parts::{Part, parts, reached};
use crate::role::{kind_of, name_of};
use crate::trace::{Invocation, Step, Trace};
use crate::world::{Setup, World};

/// A policy that evaluates the parts of its validations.
#[derive(Debug)]
pub struct Probe {
    probing: Probing,
    /// The parts of each validation.
    validations: Vec<Vec<Part>>,
}

/// A copy of a policy that evaluates other expressions.
#[derive(Debug)]
struct Probing {
    world: World,
    policy: String,
}

/// The values of the parts for a binding and a param.
#[derive(Debug, Clone)]
pub struct Probed {
    /// The binding and the param.
    pub invocation: Invocation,
    /// The parts of each validation.
    pub validations: Vec<Vec<Seen>>,
}

/// A part with its value.
#[derive(Debug, Clone)]
pub struct Seen {
    /// The part.
    pub part: Part,
    /// Whether evaluating the validation reaches the part; false if an earlier operand already decides the result.
    pub is_reached: bool,
    /// The value, or the error.
    pub value: Result<String, String>,
}

impl Probe {
    /// Builds the probe of the validating policy with the name `policy` among the `given` objects. Returns `None` if there is no such policy.
    ///
    /// # Errors
    ///
    /// The environments cannot be built, which is a bug.
    pub fn new(server: Server, given: &[Document], policy: &str) -> Result<Option<Self>, String> {
        let Some(document) = find(given, policy) else {
            return Ok(None);
        };
        let validations: Vec<_> = expressions(document).map(parts).collect();
        let probes = validations.iter().flatten().map(|part| part.probe.clone());
        Ok(Some(Probe {
            probing: Probing::new(server, given, document, probes.collect(), |_| {})?,
            validations,
        }))
    }

    /// Evaluates the parts for a request, once for each binding and param; `write` formats values.
    ///
    /// # Errors
    ///
    /// The JSON is not the request of an AdmissionReview.
    pub fn evaluate(
        &self,
        request: &Json,
        write: fn(Value<'_>) -> String,
    ) -> Result<Vec<Probed>, String> {
        let invocations = self.probing.evaluate(request, write, |_| Ok(None))?;
        let invocations = invocations.into_iter();
        Ok(invocations
            .map(|invocation| self.probed(invocation))
            .collect())
    }

    fn probed(&self, invocation: Invocation) -> Probed {
        let mut results = (0..).map(|n| result(&invocation, n));
        let validations = self.validations.iter().map(|parts| {
            let values = results.by_ref().take(parts.len());
            let values =
                values.map(|value| value.unwrap_or_else(|| Err("not evaluated".to_owned())));
            seen(parts, values.collect())
        });
        Probed {
            validations: validations.collect(),
            invocation,
        }
    }
}

/// The outcomes of the conditions within the validations of a policy, for a request; empty if there is no such policy. A policy without a
/// binding gets one. `validate` validates the object by its definition, see [`World::decide_validated`].
///
/// # Errors
///
/// The environments cannot be built, or the JSON is not the request of an AdmissionReview.
pub(crate) fn conditions(
    server: Server,
    given: &[Document],
    policy: &str,
    request: &Json,
    validate: impl FnOnce(&Json) -> Result<Option<Json>, Box<Status>>,
) -> Result<Vec<Condition>, String> {
    let Some(document) = find(given, policy) else {
        return Ok(Vec::new());
    };
    let mut conditions = Vec::new();
    let mut probes = Vec::new();
    for (n, text) in expressions(document).enumerate() {
        let field = format!("spec.validations[{n}].expression");
        for (condition, outcomes) in Condition::within(&field, text) {
            conditions.push(condition);
            probes.extend(outcomes);
        }
    }
    let probing = Probing::new(server, given, document, probes, Setup::bind_unbound)?;
    let write = |value: Value<'_>| match value.as_bool() {
        Some(true) => "true".to_owned(),
        _ => String::new(),
    };
    for invocation in probing.evaluate(request, write, validate)? {
        let mut results = (0..).map(|n| result(&invocation, n));
        let mut was_true = || results.next().flatten() == Some(Ok("true".to_owned()));
        for condition in &mut conditions {
            condition.was_true |= was_true();
            condition.was_false |= was_true();
        }
    }
    Ok(conditions)
}

impl Probing {
    /// Builds the copy of a policy that evaluates the expressions `probes`.
    fn new(
        server: Server,
        given: &[Document],
        policy: &Document,
        probes: Vec<String>,
        prepare: impl FnOnce(&mut Setup),
    ) -> Result<Self, String> {
        let mut setup = Setup::new(server)?;
        for document in given {
            match std::ptr::eq(document, policy) {
                true => setup.add_value(replaced(document.value(), probes.as_slice())),
                false => setup.add(document.clone()),
            }
        }
        prepare(&mut setup);
        Ok(Probing {
            world: setup.finish(),
            policy: name_of(policy.value()).to_owned(),
        })
    }

    /// The evaluations of the policy for a request, one for each binding and param.
    fn evaluate(
        &self,
        request: &Json,
        write: fn(Value<'_>) -> String,
        validate: impl FnOnce(&Json) -> Result<Option<Json>, Box<Status>>,
    ) -> Result<Vec<Invocation>, String> {
        let trace = Trace::new(write);
        self.world.decide_validated(request, &trace, validate)?;
        let steps = trace.into_steps().into_iter();
        let invocations = steps.filter_map(|step| match step {
            Step::Evaluated { invocation, .. } if invocation.policy == self.policy => {
                Some(invocation)
            }
            _ => None,
        });
        Ok(invocations.collect())
    }
}

/// The validating policy with this name.
fn find<'g>(given: &'g [Document], policy: &str) -> Option<&'g Document> {
    let mut given = given.iter();
    given.find(|document| {
        let object = document.value();
        kind_of(object) == "ValidatingAdmissionPolicy" && name_of(object) == policy
    })
}

/// The expressions of a policy's validations; empty for a validation without an expression.
fn expressions(policy: &Document) -> impl Iterator<Item = &str> {
    let validations = policy.value().pointer("/spec/validations");
    let validations = validations.and_then(Json::as_array);
    let validations = validations.into_iter().flatten();
    validations.map(|each| {
        let expression = each.get("expression").and_then(Json::as_str);
        expression.unwrap_or_default()
    })
}

/// The result of probe number `n`; `None` if it was not evaluated.
fn result(invocation: &Invocation, n: usize) -> Option<Result<String, String>> {
    let name = variable(n);
    let mut runs = invocation.runs.iter();
    let run = runs.find(|run| run.variable.as_ref() == Some(&name))?;
    Some(run.result.clone())
}

/// The parts of an expression with their values; `evaluate` returns the value of an expression as text.
pub fn explain(expression: &str, evaluate: impl Fn(&str) -> Result<String, String>) -> Vec<Seen> {
    let parts = parts(expression);
    let values = parts.iter().map(|part| evaluate(&part.probe)).collect();
    seen(&parts, values)
}

fn seen(parts: &[Part], values: Vec<Result<String, String>>) -> Vec<Seen> {
    let known: Vec<Option<String>> = values.iter().map(|value| value.clone().ok()).collect();
    let reached = reached(parts, &known);
    let seen = parts.iter().zip(reached).zip(values);
    let seen = seen.map(|((part, is_reached), value)| Seen {
        part: part.clone(),
        is_reached,
        value,
    });
    seen.collect()
}

/// The name of the variable for probe number `n`.
fn variable(n: usize) -> String {
    format!("gavelPart{n}")
}

/// A copy of a policy with a variable for each probe. Its validations only read these variables.
fn replaced(policy: &Json, probes: &[String]) -> Json {
    let mut policy = policy.clone();
    let Some(Json::Object(spec)) = policy.get_mut("spec") else {
        return policy;
    };
    let probes = probes.iter().enumerate();
    let variables = probes
        .clone()
        .map(|(n, probe)| json!({"name": variable(n), "expression": probe}));
    let asking = probes.map(|(n, _)| {
        let name = variable(n);
        json!({"expression": format!("variables.{name} == variables.{name}")})
    });
    let known = spec.entry("variables").or_insert_with(|| json!([]));
    if let Json::Array(known) = known {
        known.extend(variables);
    }
    spec.insert("validations".to_owned(), asking.collect());
    spec.insert("failurePolicy".to_owned(), "Ignore".into());
    spec.remove("auditAnnotations");
    policy
}

//! Probes: the values of the parts of a policy's validations, for one request.
//!
//! A probe is a copy of the policy. It keeps the variables and match conditions, and gets an additional variable for each part of a
//! validation; its validations only read these variables. Therefore the parts are evaluated as an API server would evaluate them, with all
//! variables of the policy.

use gavel_engine::value::{Json, Value};
use gavel_libraries::Server;
use gavel_manifest::Document;
use serde_json::json;

use crate::parts::{Part, parts, reached};
use crate::trace::{Invocation, Step, Trace};
use crate::world::{Setup, World};

/// A policy that also evaluates the parts of its validations.
#[derive(Debug)]
pub struct Probe {
    world: World,
    policy: String,
    /// The parts of each validation.
    validations: Vec<Vec<Part>>,
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
    /// Builds the probe of the validating policy with the name `policy` among the `given` objects. `prepare` can add more objects. Returns
    /// `None` if there is no such policy.
    ///
    /// # Errors
    ///
    /// The environments cannot be built, which is a bug.
    pub fn new(
        server: Server,
        given: &[Document],
        policy: &str,
        prepare: impl FnOnce(&mut Setup),
    ) -> Result<Option<Self>, String> {
        let is_policy = |document: &Document| {
            let text = |pointer: &str| document.value().pointer(pointer).and_then(Json::as_str);
            text("/kind") == Some("ValidatingAdmissionPolicy")
                && text("/metadata/name") == Some(policy)
        };
        let mut setup = Setup::new(server)?;
        let mut validations = None;
        for document in given {
            match is_policy(document) {
                true => {
                    let mut probing = document.value().clone();
                    validations = Some(add_parts(&mut probing));
                    setup.add_value(probing);
                }
                false => setup.add(document.clone()),
            }
        }
        let Some(validations) = validations else {
            return Ok(None);
        };
        prepare(&mut setup);
        Ok(Some(Probe {
            world: setup.finish(),
            policy: policy.to_owned(),
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
        let trace = Trace::new(write);
        self.world.decide(request, &trace)?;
        let steps = trace.into_steps().into_iter();
        let invocations = steps.filter_map(|step| match step {
            Step::Evaluated { invocation, .. } if invocation.policy == self.policy => {
                Some(invocation)
            }
            _ => None,
        });
        Ok(invocations
            .map(|invocation| self.probed(invocation))
            .collect())
    }

    fn probed(&self, invocation: Invocation) -> Probed {
        let validations = self.validations.iter().enumerate().map(|(n, parts)| {
            let values: Vec<Result<String, String>> = (0..parts.len())
                .map(|part| {
                    let name = variable(n, part);
                    let run = invocation
                        .runs
                        .iter()
                        .find(|run| run.variable.as_ref() == Some(&name));
                    run.map_or_else(|| Err("not evaluated".to_owned()), |run| run.result.clone())
                })
                .collect();
            seen(parts, values)
        });
        Probed {
            validations: validations.collect(),
            invocation,
        }
    }
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

/// The name of the variable that a probe adds for a part.
fn variable(validation: usize, part: usize) -> String {
    format!("gavelPart{validation}_{part}")
}

/// Adds a variable to the policy for each part of its validations, and replaces the validations with ones that read these variables.
/// Returns the parts of each validation.
fn add_parts(policy: &mut Json) -> Vec<Vec<Part>> {
    let Some(Json::Object(spec)) = policy.get_mut("spec") else {
        return Vec::new();
    };
    let validations = spec.get("validations").and_then(Json::as_array);
    let expressions = validations.into_iter().flatten();
    let expressions = expressions.map(|each| each.get("expression").and_then(Json::as_str));
    let found: Vec<Vec<Part>> = expressions
        .map(|text| text.map(parts).unwrap_or_default())
        .collect();
    let mut variables = Vec::new();
    let mut asking = Vec::new();
    for (n, parts) in found.iter().enumerate() {
        for (part, Part { probe, .. }) in parts.iter().enumerate() {
            let name = variable(n, part);
            asking.push(json!({"expression": format!("variables.{name} == variables.{name}")}));
            variables.push(json!({"name": name, "expression": probe}));
        }
    }
    let known = spec.entry("variables").or_insert_with(|| json!([]));
    if let Json::Array(known) = known {
        known.extend(variables);
    }
    spec.insert("validations".to_owned(), asking.into());
    spec.insert("failurePolicy".to_owned(), "Ignore".into());
    spec.remove("auditAnnotations");
    found
}

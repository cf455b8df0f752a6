//! Runs a test of policies, and compares the decision with the expected one.

use gavel_engine::value::{Json, Value};
use gavel_libraries::Server;
use gavel_manifest::Document;
use serde_json::json;

use super::difference::Decided;
use super::{Difference, Question, Test, Validated, difference, kind_of, name_of, policies};
use crate::bare::{bare, is_mutating};
use crate::conditions::Condition;
use crate::custom::{Key, KnownDefinition, RuleProbe};
use crate::probe;
use crate::role::Role;
use crate::subject::Subject;
use crate::trace::{Step, Trace};
use crate::world::{Ruling, Setup, World};

/// The result of a test: the decision, and how it differs from the expected one.
#[derive(Debug)]
pub struct Report {
    /// The differences from the expected results; the test passes if there are none.
    pub differences: Vec<Difference>,
    /// The decision.
    pub ruling: Ruling,
    /// The validation of a custom resource by its definition.
    pub validated: Option<Validated>,
    /// The steps that led to the decision.
    pub steps: Vec<Step>,
    /// As [`Test::is_bare`].
    is_bare: bool,
}

impl Test {
    /// Runs the test as an API server of the version `server` would; `write` formats the values in the report.
    ///
    /// # Errors
    ///
    /// An API server would reject a policy, or the input is missing or not a request.
    pub fn run(&self, server: Server, write: fn(Value<'_>) -> String) -> Result<Report, String> {
        let world = self.world(server)?;
        let request = self.request(&world)?;
        let trace = Trace::new(write);
        let mut validated = None;
        let mut ruling = world.decide_validated(&request, &trace, |object| {
            validated = Validated::of(&request, object, &self.definitions);
            validated.as_ref().map_or(Ok(None), Validated::result)
        })?;
        if let Some(validated) = &validated {
            ruling.warnings.splice(0..0, validated.warnings());
            // Without policies, only the definition can decide.
            ruling.is_examined |= world.policies() == 0;
        }
        let mut report = Report {
            differences: Vec::new(),
            ruling,
            validated,
            steps: trace.into_steps(),
            is_bare: self.is_bare,
        };
        report.differences =
            difference::differences(&self.expected, &self.question, report.decided());
        Ok(report)
    }

    /// The outcomes of the conditions within the validations of one policy.
    ///
    /// # Errors
    ///
    /// An API server would reject a policy, or the input is missing or not a request.
    pub fn conditions(&self, server: Server, policy: &str) -> Result<Vec<Condition>, String> {
        let given = self.given.iter().filter(|each| self.counts(each.value()));
        let given: Vec<Document> = given.cloned().collect();
        let request = self.request(&self.world(server)?)?;
        let validate = |object: &Json| {
            let validated = Validated::of(&request, object, &self.definitions);
            validated.map_or(Ok(None), |validated| validated.result())
        };
        probe::conditions(server, &given, policy, &request, validate)
    }

    /// The outcomes of the conditions within the rules of the definition by which the object is validated. Empty if it has no definition.
    ///
    /// # Errors
    ///
    /// An API server would reject a policy, or the input is missing or not a request.
    pub fn conditions_of_rules(&self, server: Server) -> Result<Vec<Condition>, String> {
        let Some(definition) = self.definition() else {
            return Ok(Vec::new());
        };
        let probe = RuleProbe::new(definition, server)?;
        let world = self.world(server)?;
        let request = self.request(&world)?;
        let mut validated = None;
        world.decide_validated(&request, &Trace::new(|_| String::new()), |object| {
            validated = Validated::of(&request, object, &probe.definitions);
            Ok(None)
        })?;
        let recorded = validated.map(|validated| validated.checked.rules);
        Ok(probe.conditions(&recorded.unwrap_or_default()))
    }

    fn request(&self, world: &World) -> Result<Json, String> {
        match &self.question {
            Question::Missing(reason) => Err(reason.clone()),
            Question::Review(request) => Ok(request.clone()),
            Question::Subject {
                operation,
                object,
                old,
                is_status,
                namespace,
                user,
            } => {
                let mut request = world.request(&Subject {
                    operation: *operation,
                    object,
                    old: old.as_ref(),
                    namespace,
                    user,
                });
                if let (true, Json::Object(request)) = (*is_status, &mut request) {
                    request.insert("subResource".to_owned(), "status".into());
                }
                Ok(request)
            }
        }
    }

    /// Builds the test's world: the policies and all objects that they read.
    fn world(&self, server: Server) -> Result<World, String> {
        let param = self.param.as_ref();
        let param = param.map(|(namespace, name)| (namespace.as_str(), name.as_str()));
        let given = self.given.iter().filter(|each| self.counts(each.value()));
        if self.is_bare && !given.clone().any(|each| is_mutating(each.value())) {
            return World::of_bare_policies(server, given.map(Document::value), param);
        }
        let mut setup = Setup::new(server)?;
        for document in given {
            if self.is_bare && is_mutating(document.value()) {
                let objects = bare(document.value(), param).into_iter();
                objects.for_each(|object| setup.add_value(object));
            } else {
                setup.add(document.clone());
            }
        }
        setup.bind_unbound();
        let world = setup.finish();
        let problems: Vec<String> = world.problems().map(ToString::to_string).collect();
        match &problems[..] {
            [] if world.policies() == 0 && self.known_definition().is_none() => {
                Err(match (&self.policy, self.key()) {
                    (Some(policy), _) => format!("the policy {policy:?} is not given"),
                    (None, Some(key)) if !self.definitions.is_empty() => {
                        format!("no policy is given, and no CustomResourceDefinition of {key}")
                    }
                    _ => "no policy is given".to_owned(),
                })
            }
            [] => Ok(world),
            problems => Err(problems.join("\n")),
        }
    }

    /// The definition of the object's kind, if it is given.
    fn known_definition(&self) -> Option<&KnownDefinition> {
        self.definitions.find(&self.key()?)
    }

    fn key(&self) -> Option<Key<'_>> {
        Key::of(self.question.object()?).ok()
    }

    /// Whether the test uses a given object. If the test names a policy, other policies and their bindings are not used.
    fn counts(&self, object: &Json) -> bool {
        let (Some(policy), Role::Policy) = (&self.policy, Role::of(object)) else {
            return true;
        };
        let name = match kind_of(object).ends_with("Binding") {
            true => object.pointer("/spec/policyName").and_then(Json::as_str),
            false => Some(name_of(object)),
        };
        name == Some(policy.as_str())
    }
}

impl Report {
    fn decided(&self) -> Decided<'_> {
        Decided {
            ruling: &self.ruling,
            validated: self.validated.as_ref(),
            steps: &self.steps,
            is_bare: self.is_bare,
        }
    }

    /// Returns an expectation that this result satisfies: the decision and, for a denial, the message of the first finding. If the request
    /// is admitted and the object is mutated, the expectation also has the object after the mutation.
    pub fn expectation(&self) -> Json {
        let decision = difference::decision(self.decided()).name();
        let messages = difference::messages(self.decided());
        match messages.first().filter(|_| self.ruling.status.is_some()) {
            Some(message) => json!({"decision": decision, "message": message}),
            None => match &self.ruling.mutated {
                Some(mutated) => json!({"decision": decision, "object": mutated}),
                None => decision.into(),
            },
        }
    }
}

impl Test {
    /// The policies among the given objects.
    pub fn policies(&self) -> impl Iterator<Item = &Document> {
        policies(&self.given).filter(|each| self.counts(each.value()))
    }

    /// The CustomResourceDefinition by which the object is validated, if it is given.
    pub fn definition(&self) -> Option<&Document> {
        let name = &self.known_definition()?.name;
        let mut given = self.given.iter();
        given.find(|each| {
            Role::of(each.value()) == Role::Definition && name_of(each.value()) == name
        })
    }
}

//! `op=map`: applies a MutatingAdmissionPolicy as an API server does.

use std::cell::{Cell, RefCell};
use std::iter;
use std::sync::Arc;

use serde_json::json;

use gavel_apimachinery::json::with_whole_numbers;
use gavel_engine::value::{Arena, Json, JsonObject};
use gavel_libraries::authorizer::Authorizer;
use gavel_libraries::{EnvSet, Server};
use gavel_policy::api::MutatingAdmissionPolicy;
use gavel_policy::cel::ExpressionKind;
use gavel_policy::mutating::{ObjectSchemas, mutate_by};
use gavel_policy::{
    AdmissionRequest, CompiledMutatingBinding, CompiledMutatingPolicy, ConditionsOutcome,
    GroupVersionKind, KeptObject, Matched, Observer, Options, PolicyIndex, Run,
};
use gavel_schema::JsonSchema;
use gavel_schema::default::DefaultsTooLarge;

use crate::admission::{
    AdmissionQuestion, binding_match, conditions_match, errors, param_name, policy_match,
};
use crate::request::{Fields, RequestError};
use crate::run::Runs;

/// A `map` request.
#[derive(Debug)]
pub(crate) struct MutationQuestion {
    /// The keys that `map` and `vap` requests share.
    question: AdmissionQuestion,
    schemas: ObjectSchemas,
}

impl MutationQuestion {
    /// Reads the keys of a `map` request.
    pub(crate) fn read(mut fields: Fields) -> Result<Self, RequestError> {
        let schemas = fields.raw("schemas").unwrap_or_default();
        let mut question = AdmissionQuestion::read(fields)?;
        let mut schemas = read_schemas(&schemas, question.server)?;
        if question.is_typed {
            schemas = schemas.typed();
        }
        // An API server sets the defaults of custom resources before admission, so they are set here.
        for key in ["object", "oldObject"] {
            let request = question.request.as_mut();
            if let Some(object) = request.and_then(|request| request.get_mut(key)) {
                let filled = schemas.fill_defaults(object);
                let within = |error: DefaultsTooLarge| {
                    RequestError(error.to_string()).within(&format!("request.{key}"))
                };
                filled.map_err(within)?;
            }
        }
        Ok(MutationQuestion { question, schemas })
    }

    /// Answers the request.
    pub(crate) fn answer(&self, id: &Json) -> Result<Json, RequestError> {
        let question = &self.question;
        let environments =
            EnvSet::new(question.server).map_err(|error| RequestError(error.to_string()))?;
        let policy: MutatingAdmissionPolicy = question.registration(&question.policy, "policy")?;
        let policy = CompiledMutatingPolicy::new(policy, environments.stored_expressions());
        let compile_errors = errors(policy.errors());
        let mut answer = json!({"id": id, "ok": true, "compileErrors": compile_errors});
        let mut set = |key: &str, value: Json| {
            if let Json::Object(answer) = &mut answer {
                answer.insert(key.to_owned(), value);
            }
        };
        let Some(request) = &question.request else {
            set("ok", policy.errors().is_empty().into());
            return Ok(answer);
        };
        let arena = Arena::new();
        let request = &AdmissionRequest::read(request.into(), &arena)
            .map_err(|error| RequestError(error.to_string()))?;
        let mut index = PolicyIndex::new(&environments);
        question.fill(
            &mut index,
            policy.policy().spec.param_kind.as_ref(),
            request,
        )?;
        let bindings = question.bindings(CompiledMutatingBinding::new)?;
        let witness = MutationWitness {
            trace: question.trace,
            ..MutationWitness::default()
        };
        let authorizer = Arc::clone(&question.authorizer.authorizer) as Arc<dyn Authorizer>;
        let options = Options {
            authorizer: Some(&authorizer),
            cost_budget: question.cost_budget,
            observer: &witness,
            ..Options::default()
        };
        let hooks = iter::once((&policy, bindings.iter())).filter(|_| !bindings.is_empty());
        let mutated = mutate_by(hooks, &index.snapshot(), request, &self.schemas, &options);
        witness.entries.check()?;
        let object = match (&mutated.status, mutated.object) {
            (Some(_), _) => Json::Null,
            (None, Some(object)) => object,
            (None, None) => with_whole_numbers(request.object.to_json().unwrap_or_default()),
        };
        set("allowed", mutated.status.is_none().into());
        set("status", json!(mutated.status));
        set("object", object);
        let mut passes = witness.passes.into_inner().into_iter();
        let first = passes.next().unwrap_or_default();
        set("policyMatch", first.policy);
        let bindings = Some(first.bindings).filter(|bindings| !bindings.is_empty());
        set("bindingMatches", json!(bindings));
        let results = witness.results.into_inner().into_iter();
        set("results", results.map(Json::Object).collect());
        let calls = question.authorizer.authorizer.calls();
        if !calls.is_empty() {
            set("authorizerCalls", json!(calls));
        }
        Ok(answer)
    }
}

fn read_schemas(schemas: &Json, server: Server) -> Result<ObjectSchemas, RequestError> {
    let mut known = ObjectSchemas::new(server);
    for (name, schema) in schemas.as_object().into_iter().flatten() {
        let wrong =
            |error: &str| RequestError(error.to_owned()).within(&format!("schemas[{name:?}]"));
        let (api_version, kind) = name
            .rsplit_once('/')
            .ok_or_else(|| wrong("must be named group/version/Kind"))?;
        let schema = JsonSchema::read(schema).map_err(|error| wrong(&error.to_string()))?;
        known.insert(GroupVersionKind::new(api_version, kind), Arc::new(schema));
    }
    Ok(known)
}

/// Whether the policy and its bindings match at the beginning of a pass, before the mutations of this pass.
#[derive(Debug, Default)]
struct Matches {
    policy: Json,
    bindings: Vec<Json>,
}

/// Records the steps of both passes: the invocations, and the reinvocations.
#[derive(Debug, Default)]
struct MutationWitness {
    /// The matches of each pass. The answer reports only those of the first pass.
    passes: RefCell<Vec<Matches>>,
    /// The result of each invocation, in both passes.
    results: RefCell<Vec<JsonObject>>,
    /// The index of the first invocation of the current pass.
    begin: Cell<usize>,
    /// The index of the current invocation.
    current: Cell<usize>,
    /// The runs of expressions for the current mutation.
    runs: RefCell<Vec<Json>>,
    entries: Runs,
    trace: bool,
}

impl MutationWitness {
    /// Changes the result of the current invocation.
    fn note(&self, note: impl FnOnce(&mut JsonObject)) {
        if let Some(result) = self.results.borrow_mut().get_mut(self.current.get()) {
            note(result);
        }
    }
}

impl Observer for MutationWitness {
    fn policy_matched(&self, _: &str, matched: &Result<Option<Matched<'_>>, String>) {
        self.passes.borrow_mut().push(Matches {
            policy: policy_match(matched),
            bindings: Vec::new(),
        });
        self.begin.set(self.results.borrow().len());
    }

    fn binding_matched(&self, _: &str, binding: &str, matched: &Result<bool, String>) {
        if let Some(pass) = self.passes.borrow_mut().last_mut() {
            pass.bindings.push(binding_match(binding, matched));
        }
    }

    fn invocation(&self, _: &str, binding: &str, param: Option<&KeptObject>, is_second: bool) {
        let mut result = JsonObject::new();
        result.insert("binding".to_owned(), binding.into());
        result.insert("param".to_owned(), param.map_or(Json::Null, param_name));
        result.insert("mutations".to_owned(), json!([]));
        if is_second {
            result.insert("reinvocation".to_owned(), true.into());
        }
        if self.trace {
            result.insert("trace".to_owned(), json!([]));
        }
        self.results.borrow_mut().push(result);
    }

    fn invoking(&self, _policy: &str, position: usize) {
        self.current.set(self.begin.get().saturating_add(position));
        self.runs.borrow_mut().clear();
    }

    fn conditions_matched(&self, outcome: &ConditionsOutcome) {
        let outcome = conditions_match(outcome);
        self.note(|result| {
            result.insert("matchConditions".to_owned(), outcome);
        });
        self.runs.borrow_mut().clear();
    }

    fn ran(&self, run: &Run<'_>) {
        let entry = self.entries.entry(run);
        if self.trace {
            let entry = entry.clone();
            self.note(|result| {
                if let Some(Json::Array(trace)) = result.get_mut("trace") {
                    trace.push(entry);
                }
            });
        }
        self.runs.borrow_mut().push(entry);
    }

    fn mutated(&self, kind: ExpressionKind, error: Option<&str>) {
        let mut mutation = JsonObject::new();
        let patch_type = match kind {
            ExpressionKind::JsonPatch => "JSONPatch",
            _ => "ApplyConfiguration",
        };
        mutation.insert("patchType".to_owned(), patch_type.into());
        if let Some(error) = error {
            mutation.insert("error".to_owned(), error.into());
        }
        let runs = self.runs.take();
        if !runs.is_empty() {
            let costs = runs.iter().filter_map(|run| run.get("cost")?.as_u64());
            let cost = costs.fold(0_u64, u64::saturating_add);
            mutation.insert("cost".to_owned(), cost.into());
        }
        let is_mutation = |run: &&Json| run.get("variable").is_none();
        if let Some(value) = runs
            .iter()
            .find(is_mutation)
            .and_then(|run| run.get("value"))
        {
            mutation.insert("value".to_owned(), value.clone());
        }
        self.note(|result| {
            if let Some(Json::Array(mutations)) = result.get_mut("mutations") {
                mutations.push(mutation.into());
            }
        });
    }
}

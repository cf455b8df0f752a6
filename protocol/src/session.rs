//! A session: answers a stream of requests, and keeps state between them.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use gavel_engine::program::EvalOptions;
use gavel_engine::value::{Arena, Json};
use gavel_libraries::Server;
use gavel_policy::validation::Validator;
use serde::Serialize;

use crate::admission::AdmissionQuestion;
use crate::answer::Answer;
use crate::definition::DefinitionRequest;
use crate::definitions::{DefinitionSource, NamedDefinitions};
use crate::environment::Environments;
use crate::evaluate::EvalRequest;
use crate::evaluation::Compiled;
use crate::mutation::MutationQuestion;
use crate::object::ObjectRequest;
use crate::request::{Fields, Request, RequestError};
use crate::resource::{ValidateAnswer, ValidateRequest};
use crate::{line, typecheck};

/// Answers requests, one after the other.
#[derive(Debug, Default)]
pub struct Session {
    environments: Environments,
    definitions: NamedDefinitions,
    arena: Arena,
    /// The validators, by API server.
    validators: BTreeMap<Server, Validator>,
}

#[derive(Debug, Clone, Copy)]
enum Operation {
    Eval,
    Map,
    Crd,
    Object,
    Typecheck,
    Validate,
    Vap,
}

const OPERATIONS: [(&str, Operation); 7] = [
    ("eval", Operation::Eval),
    ("map", Operation::Map),
    ("crd", Operation::Crd),
    ("object", Operation::Object),
    ("typecheck", Operation::Typecheck),
    ("validate", Operation::Validate),
    ("vap", Operation::Vap),
];

impl Session {
    /// A session before its first request.
    pub fn new() -> Self {
        Self::default()
    }

    /// Answers a request, which is a line of JSON, and appends the answer to `out`. Every line gets an answer, even if it is not JSON.
    pub fn answer(&mut self, request: &[u8], out: &mut Vec<u8>) {
        self.arena.reset();
        match Request::read(request) {
            Ok(Request { id, fields }) => {
                if let Err(error) = self.dispatch(&id, fields, request, out) {
                    misunderstood(&id, &error, out);
                }
            }
            Err((id, error)) => misunderstood(&id, &error, out),
        }
    }

    fn dispatch(
        &mut self,
        id: &Json,
        mut fields: Fields,
        line: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), RequestError> {
        match fields.choice("op", &OPERATIONS)? {
            Some(Operation::Eval) => self.eval(id, &EvalRequest::read(fields)?, out),
            Some(Operation::Object) => self.object(id, &ObjectRequest::read(fields, line)?, out),
            Some(Operation::Crd) => self.crd(id, &DefinitionRequest::read(fields)?, out),
            Some(Operation::Typecheck) => write(&typecheck::answer(id, fields)?, out),
            Some(Operation::Validate) => self.validate(id, fields, out),
            Some(Operation::Map) => write(&MutationQuestion::read(fields)?.answer(id)?, out),
            Some(Operation::Vap) => write(&AdmissionQuestion::read(fields)?.answer(id)?, out),
            None => Err(RequestError(format!(
                "op must be set; this version of gavel knows {}",
                OPERATIONS.map(|(name, _)| format!("{name:?}")).join(", ")
            ))),
        }
    }

    fn object(
        &mut self,
        id: &Json,
        request: &ObjectRequest,
        out: &mut Vec<u8>,
    ) -> Result<(), RequestError> {
        let validator = match self.validators.entry(request.server) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => {
                let validator = Validator::new(request.server);
                entry.insert(validator.map_err(|error| RequestError(error.to_string()))?)
            }
        };
        request.answer(id, validator, out)
    }

    fn crd(
        &mut self,
        id: &Json,
        request: &DefinitionRequest,
        out: &mut Vec<u8>,
    ) -> Result<(), RequestError> {
        self.definitions.remember(id, &request.definition);
        write(&request.answer(id)?, out)
    }

    fn validate(
        &mut self,
        id: &Json,
        mut fields: Fields,
        out: &mut Vec<u8>,
    ) -> Result<(), RequestError> {
        let definition = DefinitionSource::read(&mut fields)?;
        let request = ValidateRequest::read(fields)?;
        let loaded = self.definitions.load(definition, request.server)?;
        let answer = ValidateAnswer::new(id, request.verdict(&loaded)?);
        write(&answer, out)
    }

    fn eval(
        &mut self,
        id: &Json,
        request: &EvalRequest,
        out: &mut Vec<u8>,
    ) -> Result<(), RequestError> {
        let env = self.environments.environment(&request.environment);
        let env = env.map_err(|error| RequestError(error.to_string()))?;
        let compiled = Compiled::new(&env, request);
        let bound = request.bind(&self.arena);
        let bound = bound.map_err(|(name, error)| error.within(&format!("bindings[{name:?}]")))?;
        let options = EvalOptions {
            cost_limit: Some(request.cost_limit),
            ..EvalOptions::default()
        };
        let outcome = compiled.run(&bound.activation, &self.arena, &options);
        write(
            &Answer {
                id: Some(id),
                authorizer_calls: bound.authorizer_calls(),
                ..outcome.answer()
            },
            out,
        )
    }
}

/// Appends an answer.
fn write(answer: &impl Serialize, out: &mut Vec<u8>) -> Result<(), RequestError> {
    Ok(line::write(answer, out)?)
}

/// Appends the answer to a request that cannot be answered otherwise.
fn misunderstood(id: &Json, error: &RequestError, out: &mut Vec<u8>) {
    let answer = Answer::misunderstood(id, error);
    if line::write(&answer, out).is_err() {
        // The `id` is too long.
        let answer = Answer::misunderstood(&Json::Null, error);
        let _ = line::write(&answer, out);
    }
}

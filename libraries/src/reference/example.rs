//! Evaluates the examples of rows.

use std::sync::Arc;

use gavel_engine::decl::Overload;
use gavel_engine::env::Env;
use gavel_engine::program::{Activation, EvalOptions};
use gavel_engine::types::{Type, TypeTextError};
use gavel_engine::value::Arena;

use crate::authorizer::{Authorizer, AuthorizerAttributes, Decision, ResourceAttributes, Verdict};
use crate::kubernetes::authorizer::{AuthorizerValue, ResourceCheck};

/// The error for an example that is not true.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ExampleError {
    /// The environment cannot be built.
    #[error(transparent)]
    Signature(#[from] TypeTextError),
    /// The expression of the example, and why it fails: its errors, or the value that it has instead of true.
    #[error("{0}: {1}")]
    Example(&'static str, String),
}

const AUTHORIZER: &str = "authorizer";
const REQUEST_RESOURCE: &str = "authorizer.requestResource";

/// The authorizer of the examples.
#[derive(Debug)]
struct AllowAll;

impl Authorizer for AllowAll {
    fn authorize(&self, _: &AuthorizerAttributes) -> Decision {
        Decision {
            verdict: Verdict::Allow,
            ..Decision::default()
        }
    }
}

/// The cost of evaluating a row's example, in cost units. Examples may use `authorizer`, which allows everything.
///
/// # Errors
///
/// The environment cannot be built, or the example is not true.
pub fn example_cost(env: &Env, row: &Overload) -> Result<u64, ExampleError> {
    let failed = |what: String| ExampleError::Example(row.example, what);
    let of_type = |name: &str| Type::Struct(format!("kubernetes.authorization.{name}").into());
    let env = env
        .extend()
        .variable(AUTHORIZER, of_type("Authorizer"))
        .variable(REQUEST_RESOURCE, of_type("ResourceCheck"))
        .build()?;
    let checked = env
        .compile(row.example)
        .map_err(|issues| failed(issues.to_string()))?;
    let program = env
        .plan(&checked)
        .map_err(|error| failed(error.to_string()))?;
    let arena = Arena::new();
    let authorizer = AuthorizerValue::new(Arc::default(), Arc::new(AllowAll));
    let request = ResourceCheck::new(authorizer.clone(), ResourceAttributes::default());
    let mut activation = Activation::new();
    activation.bind(AUTHORIZER, arena.opaque(authorizer));
    activation.bind(REQUEST_RESOURCE, arena.opaque(request));
    let evaluation = program.eval(&activation, &arena, &EvalOptions::default());
    match evaluation.result {
        Ok(value) if value.as_bool() == Some(true) => Ok(evaluation.cost),
        Ok(other) => Err(failed(other.in_message().to_string())),
        Err(error) => Err(failed(error.to_string())),
    }
}

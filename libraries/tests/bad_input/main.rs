//! Tests that every expression and every document gives a value or an error, in bounded time, memory and stack.
//!
//! Test threads have a stack of 2 MiB. Unoptimized code needs most of it.
#![cfg(test)]

use std::sync::LazyLock;

use gavel_engine::env::Env;
use gavel_engine::estimate::{NoSizes, bound, estimate};
use gavel_engine::program::{Activation, EvalOptions};
use gavel_engine::types::Type;
use gavel_engine::value::{Arena, Json, Value};
use gavel_libraries::{EnvSet, KubeVersion, cel_env};
use serde_json::json;

mod bounds;
mod depth;
mod size;
mod texts;
mod values;

/// The environment of the newest Kubernetes version, and the specification's environment with all libraries.
static ENVIRONMENTS: LazyLock<[Env; 2]> = LazyLock::new(|| {
    let kubernetes = EnvSet::new(KubeVersion::NEWEST.into()).unwrap();
    [kubernetes.new_expressions().clone(), cel_env().unwrap()].map(|env| {
        let env = env
            .extend()
            .variable("d", Type::Dyn)
            .variable("i", Type::Int);
        let env = env.variable("b", Type::Bool).variable("s", Type::String);
        let env = env.variable("l", Type::list(Type::Int));
        env.variable("m", Type::map(Type::String, Type::Int))
            .build()
            .unwrap()
    })
});

/// Compiles, estimates, plans and evaluates an expression; returns its value or error as text. The variable `d` is bound to `document`.
fn run_with(env: &Env, text: &str, document: &Json) -> Result<String, String> {
    let checked = env.compile(text).map_err(|issues| issues.to_string())?;
    estimate(&checked, &NoSizes);
    let bound = bound(&checked, &NoSizes).cost;
    let program = env.plan(&checked).map_err(|error| error.to_string())?;
    let (list, map) = (json!([1, 2, 3]), json!({"k": 1}));
    let (arena, mut activation) = (Arena::new(), Activation::new());
    activation
        .bind("d", document)
        .bind("l", &list)
        .bind("m", &map);
    activation
        .bind("i", Value::from(7))
        .bind("b", Value::from(true))
        .bind("s", Value::from("text"));
    let options = EvalOptions {
        cost_limit: Some(100_000),
        ..EvalOptions::default()
    };
    let evaluation = program.eval(&activation, &arena, &options);
    if let Some(bound) = bound {
        assert!(
            evaluation.cost <= bound.max,
            "{text}: {} of {}",
            evaluation.cost,
            bound.max
        );
    }
    match evaluation.result {
        Ok(value) => Ok(value.in_message().to_string()),
        Err(error) => Err(error.to_string()),
    }
}

fn run(env: &Env, text: &str) -> Result<String, String> {
    run_with(env, text, &json!({"a": {"b": [1, 2.5, null, "x"]}}))
}

/// Runs the expression in all environments. It may fail, but with a message.
fn survives(text: &str) {
    for env in ENVIRONMENTS.iter() {
        if let Err(message) = run(env, text) {
            assert!(!message.is_empty());
        }
    }
}

//! Tests of programs: plans, cost limits, interrupts, failures, and fast paths.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a test"
)]

mod cost_limits;
mod failures;
mod fast_paths;
mod golden;
mod interruption;
mod invariants;
mod ladders;
mod plans;
mod random;

use gavel_engine::env::{Env, EnvBuilder, EnvOptions};
use gavel_engine::error::EvalError;
use gavel_engine::program::{Activation, EvalOptions, Evaluation, Program};
use gavel_engine::types::Type;
use gavel_engine::value::{Arena, Json, Value};
use gavel_libraries::{EnvSet, Server, cel_env};
use serde_json::json;

/// The variables of the tests with their types. They are bound to the fields of [`document`].
const VARIABLES: &[(&str, &str)] = &[
    ("b", "bool"),
    ("i", "int"),
    ("j", "int"),
    ("d", "double"),
    ("s", "string"),
    ("l", "list(int)"),
    ("ls", "list(string)"),
    ("m", "map(string, int)"),
    ("o", "dyn"),
    ("x", "dyn"),
    ("ka", "dyn"),
    ("kb", "dyn"),
    ("kc", "dyn"),
];

/// All functions and macros, under the rules of Kubernetes.
fn builder() -> EnvBuilder {
    cel_env().unwrap().extend().options(EnvOptions::default())
}

/// The environment of the tests.
fn env() -> Env {
    let builder = VARIABLES.iter().fold(builder(), |builder, (name, ty)| {
        builder.variable(*name, ty.parse::<Type>().unwrap())
    });
    builder.build().unwrap()
}

/// The environment of Kubernetes with the same variables.
fn kubernetes() -> Env {
    let set = EnvSet::new(Server::default()).unwrap();
    let builder = VARIABLES
        .iter()
        .fold(set.new_expressions().extend(), |builder, (name, ty)| {
            builder.variable(*name, ty.parse::<Type>().unwrap())
        });
    builder.build().unwrap()
}

/// The environment of the tests, with variables of type `dyn`.
fn dyn_env() -> Env {
    let builder = VARIABLES.iter().fold(builder(), |builder, (name, _)| {
        builder.variable(*name, Type::Dyn)
    });
    builder.build().unwrap()
}

/// The object whose fields are the values of the variables.
fn document() -> Json {
    json!({
        "b": true, "i": 7, "j": -2, "d": 1.5, "s": "some text",
        "l": [3, 1, 2], "ls": ["b", "a"], "m": {"a": 1, "b": 2},
        "o": {"a": {"a": 1, "b": {"c": [1, 2]}}, "b": "text", "c": null},
        "x": 5, "ka": "a", "kb": "b", "kc": "c",
    })
}

fn bind<'a>(document: &'a Json, activation: &mut Activation<'a>) {
    for (name, value) in document.as_object().unwrap() {
        activation.bind(name, value);
    }
}

#[track_caller]
fn plan(env: &Env, expression: &str) -> Program {
    let checked = match env.compile(expression) {
        Ok(checked) => checked,
        Err(issues) => panic!("{issues}"),
    };
    match env.plan(&checked) {
        Ok(program) => program,
        Err(error) => panic!("{expression}: {error}"),
    }
}

/// Evaluates a program with the variables of a document, and passes the evaluation to `look`.
fn evaluate<T>(
    program: &Program,
    document: &Json,
    options: &EvalOptions<'_>,
    look: impl FnOnce(Evaluation<'_>) -> T,
) -> T {
    let arena = Arena::new();
    let mut activation = Activation::new();
    bind(document, &mut activation);
    look(program.eval(&activation, &arena, options))
}

/// The text of a value, which does not depend on how the value is stored.
fn text(value: &Value<'_>) -> String {
    if let Some(list) = value.as_list() {
        let elements: Vec<_> = list.iter().map(|element| text(&element)).collect();
        return format!("[{}]", elements.join(", "));
    }
    if let Some(map) = value.as_map() {
        let entries = map.iter().map(|entry| {
            let (key, value) = entry.unwrap();
            format!("{}: {}", text(&key), text(&value))
        });
        let mut entries: Vec<_> = entries.collect();
        entries.sort();
        return format!("{{{}}}", entries.join(", "));
    }
    format!("{} {}", value.type_name(), value.in_message())
}

/// The text of a result, which does not depend on how its values are stored.
fn result_text(result: &Result<Value<'_>, EvalError>) -> String {
    match result {
        Ok(value) => text(value),
        Err(error) => format!("error: {error}"),
    }
}

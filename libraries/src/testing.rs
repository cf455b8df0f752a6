//! Helpers of the libraries' tests: they call a single function or evaluate an expression, and check the result.

use gavel_engine::decl::{CallContext, Overload};
use gavel_engine::program::{Activation, EvalOptions};
use gavel_engine::value::{Arena, Value};

/// Calls the row with this id, also with its receiver as a constant, and compares the result, as messages print it, with `expected`.
#[track_caller]
pub(crate) fn check(
    rows: &[Overload],
    id: &str,
    arguments: &[Value<'_>],
    expected: Result<&str, &str>,
) {
    let row = rows.iter().find(|row| row.id == id).unwrap();
    let function = row.calls.implementation.function().unwrap();
    let arena = Arena::new();
    let context = CallContext::new(&arena);
    let receiver = arguments.first().and_then(Value::as_str);
    let specialized = row.calls.specialize.zip(receiver);
    let specialized = specialized.and_then(|(specialize, receiver)| specialize(receiver));
    let outcomes = [
        Some(function(&context, arguments)),
        specialized.and_then(|calls| calls.call(&context, arguments)),
    ];
    for outcome in outcomes.into_iter().flatten() {
        let outcome = outcome.map(|value| value.in_message().to_string());
        let outcome = outcome.as_deref().map_err(|error| error.message());
        assert_eq!(outcome, expected, "{id}{arguments:?}");
    }
}

/// Evaluates an expression in the specification's environment and compares the result, as messages print it.
#[track_caller]
pub(crate) fn check_expression(expression: &str, expected: Result<&str, &str>) {
    let env = crate::cel_env().unwrap();
    let checked = env.compile(expression).unwrap();
    let program = env.plan(&checked).unwrap();
    let arena = Arena::new();
    let outcome = program
        .eval(&Activation::new(), &arena, &EvalOptions::default())
        .result;
    let outcome = outcome.map(|value| value.in_message().to_string());
    let outcome = outcome.as_deref().map_err(|error| error.message());
    assert_eq!(outcome, expected, "{expression}");
}

pub(crate) fn int(value: i64) -> Value<'static> {
    Value::from(value)
}

pub(crate) fn uint(value: u64) -> Value<'static> {
    Value::from(value)
}

pub(crate) fn double(value: f64) -> Value<'static> {
    Value::from(value)
}

pub(crate) fn string(value: &str) -> Value<'_> {
    Value::from(value)
}

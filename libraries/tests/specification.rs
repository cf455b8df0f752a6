//! Tests the differences between CEL's specification, which `cel_env` follows, and Kubernetes, which `EnvSet` follows.
#![expect(clippy::unwrap_used, reason = "a test")]

use gavel_engine::env::Env;
use gavel_engine::program::{Activation, EvalOptions};
use gavel_engine::types::Type;
use gavel_engine::value::{Arena, Value};
use gavel_libraries::{EnvSet, KubeVersion, cel_env};

/// The value or failure of an expression, as messages print it. The variables `y`, `y.z` and `com.example.y` have the value 42.
fn outcome(env: &Env, container: &str, expression: &str) -> String {
    const VARIABLES: [&str; 3] = ["y", "y.z", "com.example.y"];
    let env = env.extend().container(container);
    let env = VARIABLES
        .iter()
        .fold(env, |env, name| env.variable(*name, Type::Int))
        .build()
        .unwrap();
    let checked = match env.compile(expression) {
        Ok(checked) => checked,
        Err(issues) => return issues.to_string(),
    };
    let program = match env.plan(&checked) {
        Ok(program) => program,
        Err(error) => return format!("plan: {error}"),
    };
    let arena = Arena::new();
    let mut activation = Activation::new();
    for name in VARIABLES {
        activation.bind(name, Value::from(42));
    }
    let result = program
        .eval(&activation, &arena, &EvalOptions::default())
        .result;
    result.map_or_else(
        |error| error.to_string(),
        |value| value.in_message().to_string(),
    )
}

#[track_caller]
fn check(container: &str, expression: &str, specified: &str, kubernetes: &str) {
    let set = EnvSet::new(KubeVersion::v1(36).into()).unwrap();
    assert_eq!(
        outcome(&cel_env().unwrap(), container, expression),
        specified,
        "cel: {expression}"
    );
    assert_eq!(
        outcome(set.new_expressions(), container, expression),
        kubernetes,
        "kubernetes: {expression}"
    );
}

#[test]
fn a_loop_variable_hides_other_names() {
    check("com.example", "[0].exists(y, y == 0)", "true", "false");
    check("", "[0].exists(y, .y == 42)", "true", "false");
    check("", "[{'z': 0}].exists(y, y.z == 0)", "true", "false");
    check("", "[{'z': 0}].exists(y, .y.z == 42)", "true", "true");
}

#[test]
fn keys_of_map_literals_are_checked() {
    check(
        "",
        "{1: 'a', 1: 'b'}[1]",
        "insert failed: key 1 already exists",
        "b",
    );
    check(
        "",
        "{dyn(1): 'a', dyn(1u): 'b'}[1]",
        "insert failed: key 1 already exists",
        "a",
    );
    check("", "{1.0: 'a'}[1.0]", "unsupported key type: double", "a");
    check(
        "",
        "{'a': 1}[dyn(b'')] == 1 || true",
        "true",
        "plan: invalid qualifier type: types.Bytes",
    );
}

#[test]
fn only_maps_have_fields() {
    check(
        "",
        "{'a': dyn(1)}.?a.b.hasValue()",
        "no such key: b",
        "false",
    );
    check("", "{'a': dyn({})}.?a.b.hasValue()", "false", "false");
}

#[test]
fn an_optional_stays_as_it_is_when_it_is_read() {
    check(
        "",
        "(true ? optional.of(type(1)) : optional.none()).value() == dyn('int')",
        "false",
        "true",
    );
    check(
        "",
        "(true ? optional.of(optional.of(1)) : optional.none()).value() == dyn(1)",
        "false",
        "true",
    );
}

#[test]
fn milliseconds_are_those_within_the_second() {
    check("", "duration('-61.5s').getMilliseconds()", "-500", "-61500");
}

#[test]
fn null_does_not_decide_the_type_of_a_list() {
    let checked = cel_env()
        .unwrap()
        .compile("[optional.of(1), null]")
        .unwrap();
    assert_eq!(
        checked.output_type().to_string(),
        "list(optional_type(int))"
    );
}

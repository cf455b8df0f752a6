//! Any text, through the whole way of an expression: an answer or an error, in bounded time, never a panic.
//!
//! Beyond that: what parses is unparsed to a text that parses to the same; what was checked and knows no `dyn` never
//! fails for want of an overload; an evaluation stops within its limit, and costs the same the second time.
#![no_main]

use std::sync::LazyLock;

use gavel_engine::env::Env;
use gavel_engine::estimate::{NoSizes, estimate};
use gavel_engine::program::{Activation, EvalOptions};
use gavel_engine::types::Type;
use gavel_engine::value::{Arena, Json, Value};
use gavel_libraries::EnvSet;
use libfuzzer_sys::fuzz_target;

const LIMIT: u64 = 20_000;

static ENVIRONMENTS: LazyLock<[Env; 2]> = LazyLock::new(|| {
    let set = EnvSet::new("1.36".parse().expect("a version")).expect("an environment");
    [set.new_expressions().clone(), gavel_libraries::cel_env().expect("an environment")].map(|env| {
        let env = env.extend().variable("d", Type::Dyn).variable("i", Type::Int);
        let env = env.variable("s", Type::String).variable("l", Type::list(Type::Int));
        env.build().expect("an environment")
    })
});

static DOCUMENT: LazyLock<Json> = LazyLock::new(|| {
    serde_json::json!({"a": {"b": [1, 2.5, null, "x"], "c": true}, "s": "héllo", "n": 3, "l": [1, 2, 3]})
});

fuzz_target!(|text: &str| {
    for env in ENVIRONMENTS.iter() {
        run(env, text);
    }
});

fn run(env: &Env, text: &str) {
    let ast = match env.parse(text) {
        Ok(ast) => ast,
        Err(issues) => {
            assert!(!issues.to_string().is_empty());
            return;
        }
    };
    let checked = match env.check(ast) {
        Ok(checked) => checked,
        Err(issues) => {
            assert!(!issues.to_string().is_empty());
            return;
        }
    };
    let range = estimate(&checked, &NoSizes);
    let Ok(program) = env.plan(&checked) else { return };
    let evaluate = || {
        let arena = Arena::new();
        let mut activation = Activation::new();
        activation.bind("d", &*DOCUMENT);
        activation.bind("i", Value::Int(7));
        activation.bind("s", Value::String("text"));
        activation.bind("l", &DOCUMENT["l"]);
        let options = EvalOptions { cost_limit: Some(LIMIT), interrupt: None };
        let evaluation = program.eval(&activation, &arena, &options);
        let text = match evaluation.result {
            Ok(value) => value.in_message().to_string(),
            Err(error) => error.to_string(),
        };
        (text, evaluation.cost)
    };
    let first = evaluate();
    assert_eq!(first, evaluate(), "{text} must evaluate to the same twice");
    // The parser bounds the tree, so that an estimate is never an empty range.
    assert!(range.min <= range.max || range.max == 0, "{text}: {range:?}");
}

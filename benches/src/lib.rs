//! What the benchmarks share: the rules of `../shared/bench/eval.ndjson`, compiled, and the same rules as Rust closures.
#![expect(
    clippy::expect_used,
    clippy::print_stderr,
    reason = "a benchmark stops where its inputs are not right"
)]

use std::path::PathBuf;

use gavel_engine::check::CheckedAst;
use gavel_engine::env::Env;
use gavel_engine::program::Program;
use gavel_engine::types::Type;
use gavel_engine::value::Json;
use gavel_libraries::{EnvSet, Server};

mod closures;
pub mod definition;

pub use closures::{Closure, closure};

/// A rule of the benchmark inputs, whose variable `object` is of type `dyn`.
#[derive(Debug)]
pub struct Rule {
    /// The rule's name.
    pub id: String,
    /// Its text.
    pub expression: String,
    /// The value of `object`.
    pub object: Json,
}

/// The rules over a `dyn` object, or none, said on standard error, where the inputs are absent.
pub fn rules() -> Vec<Rule> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/bench/eval.ndjson");
    let Ok(text) = std::fs::read_to_string(&path) else {
        eprintln!("skipped: {} is not here", path.display());
        return Vec::new();
    };
    let rule = |line: &str| {
        let mut request: Json = serde_json::from_str(line).ok()?;
        let text = |key: &str| Some(request.get(key)?.as_str()?.to_owned());
        let (id, expression) = (text("id")?, text("expr")?);
        let object = request.get_mut("bindings")?.get_mut("object")?.take();
        Some(Rule {
            id,
            expression,
            object,
        })
    };
    text.lines().filter_map(rule).collect()
}

/// The environment of Kubernetes 1.36 with a variable `object` of type `dyn`.
pub fn environment() -> Env {
    let server: Server = "1.36".parse().expect("a version");
    let set = EnvSet::new(server).expect("an environment");
    set.new_expressions()
        .extend()
        .variable("object", Type::Dyn)
        .build()
        .expect("an environment")
}

/// Parses and checks.
pub fn check(env: &Env, expression: &str) -> CheckedAst {
    env.compile(expression)
        .expect("an expression without a fault")
}

/// Parses, checks and plans.
pub fn plan(env: &Env, expression: &str) -> Program {
    env.plan(&check(env, expression))
        .expect("an expression that can be planned")
}

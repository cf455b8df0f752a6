//! Inputs that the benchmarks share: the rules of `../shared/bench/eval.ndjson` and the same rules as Rust closures, a custom resource and
//! its definition, and policies for pods.
#![expect(
    clippy::expect_used,
    clippy::print_stderr,
    reason = "a benchmark panics if an input is invalid"
)]

use std::path::PathBuf;

use gavel_engine::check::CheckedAst;
use gavel_engine::env::Env;
use gavel_engine::program::{EvalOptions, Program};
use gavel_engine::types::Type;
use gavel_engine::value::{Arena, Json, Value, read_json};
use gavel_libraries::{EnvSet, Server};
use gavel_schema::JsonSchema;
use gavel_schema::cel::CelSchema;
use serde::Deserialize;

mod closures;
pub mod definition;
pub mod policies;

pub use closures::{Closure, closure};

/// The limits that Kubernetes sets for one expression.
pub const OPTIONS: EvalOptions<'_> = EvalOptions {
    cost_limit: Some(1_000_000),
    interrupt: None,
};

/// A rule of the benchmark inputs, over one variable.
#[derive(Debug)]
pub struct Rule {
    /// The rule's name.
    pub id: String,
    /// The rule's text.
    pub expression: String,
    /// The name of the rule's only variable.
    pub variable: String,
    /// The schema of the variable. Without a schema, the type of the variable is `dyn`.
    pub schema: Option<CelSchema>,
    /// The value of the variable.
    pub object: Json,
}

impl Rule {
    /// A rule over the variable `object` of type `dyn`.
    pub fn over_object(id: &str, expression: &str, object: Json) -> Self {
        Rule {
            id: id.to_owned(),
            expression: expression.to_owned(),
            variable: "object".to_owned(),
            schema: None,
            object,
        }
    }

    /// A rule over the variable `self`, which has the given schema.
    pub fn over_schema(id: &str, expression: &str, schema: &Json, object: Json) -> Self {
        let schema = JsonSchema::deserialize(schema).expect("a schema");
        Rule {
            variable: "self".to_owned(),
            schema: Some(CelSchema::for_server(&schema, false, server())),
            ..Rule::over_object(id, expression, object)
        }
    }

    fn read(line: &str) -> Option<Self> {
        let request: Json = serde_json::from_str(line).ok()?;
        let text = |key: &str| request.get(key)?.as_str();
        let (variable, ty) = request.get("vars")?.as_object()?.iter().next()?;
        let object = request.get("bindings")?.get(variable)?.clone();
        let (id, expression) = (text("id")?, text("expr")?);
        Some(match ty.get("schema") {
            Some(schema) => Rule::over_schema(id, expression, schema, object),
            None => Rule::over_object(id, expression, object),
        })
    }

    /// The environment of Kubernetes 1.36 with the rule's variable.
    pub fn environment(&self) -> Env {
        match &self.schema {
            None => environment(),
            Some(schema) => {
                let env = environments().new_expressions().extend();
                let env = schema.declare(&self.variable, env);
                env.build().expect("an environment")
            }
        }
    }

    /// The value of the variable, bound from JSON that the host has already parsed.
    pub fn bind<'a>(&'a self, arena: &'a Arena) -> Value<'a> {
        match &self.schema {
            None => Value::from(&self.object),
            Some(schema) => schema.bind(&self.object, arena),
        }
    }

    /// The value of the variable, parsed into an arena as reviews are parsed. A variable with a schema is bound as in [`Rule::bind`].
    pub fn read_into<'a>(&'a self, arena: &'a Arena) -> Value<'a> {
        match &self.schema {
            None => {
                let text = arena.bump().alloc_str(&self.object.to_string());
                read_json(text, arena).expect("JSON")
            }
            Some(schema) => schema.bind(&self.object, arena),
        }
    }
}

/// The rules of the benchmark inputs. If the inputs are absent, prints a message to standard error and returns no rules.
pub fn rules() -> Vec<Rule> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/bench/eval.ndjson");
    let Ok(text) = std::fs::read_to_string(&path) else {
        eprintln!("skipped: {} is not here", path.display());
        return Vec::new();
    };
    text.lines().filter_map(Rule::read).collect()
}

fn server() -> Server {
    "1.36".parse().expect("a version")
}

fn environments() -> EnvSet {
    EnvSet::new(server()).expect("an environment")
}

/// The environment of Kubernetes 1.36 with a variable `object` of type `dyn`.
pub fn environment() -> Env {
    let env = environments().new_expressions().extend();
    let env = env.variable("object", Type::Dyn);
    env.build().expect("an environment")
}

/// Parses and checks an expression.
pub fn check(env: &Env, expression: &str) -> CheckedAst {
    env.compile(expression)
        .expect("an expression without a fault")
}

/// Parses, checks and plans an expression.
pub fn plan(env: &Env, expression: &str) -> Program {
    env.plan(&check(env, expression))
        .expect("an expression that can be planned")
}

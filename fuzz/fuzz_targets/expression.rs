//! Fuzzes expressions. Any text is parsed, checked, estimated, planned and evaluated. The result must be a value or an error, in bounded
//! time and without a panic.
//!
//! The target also checks that the text that `unparse` writes for a tree parses to the same tree, and that a second evaluation has the same
//! result and cost. An expression whose types are all known must not fail with "no such overload".
#![no_main]

use std::sync::LazyLock;

use gavel_engine::ast::{Ast, unparse};
use gavel_engine::check::CheckedAst;
use gavel_engine::env::Env;
use gavel_engine::estimate::{NoSizes, estimate};
use gavel_engine::program::{Activation, EvalOptions};
use gavel_engine::syntax::Macros;
use gavel_engine::types::Type;
use gavel_engine::value::{Arena, Json, Value};
use gavel_libraries::{EnvSet, KubeVersion, cel_env};
use libfuzzer_sys::fuzz_target;

/// The cost limit of an evaluation, in cost units.
const LIMIT: u64 = 20_000;

static ENVIRONMENTS: LazyLock<[Env; 2]> = LazyLock::new(|| {
    let set = EnvSet::new(KubeVersion::NEWEST.into()).expect("an environment");
    [
        set.new_expressions().clone(),
        cel_env().expect("an environment"),
    ]
    .map(|env| {
        let env = env
            .extend()
            .variable("d", Type::Dyn)
            .variable("i", Type::Int);
        let env = env
            .variable("s", Type::String)
            .variable("l", Type::list(Type::Int));
        env.build().expect("an environment")
    })
});

static WITHOUT_MACROS: LazyLock<Env> = LazyLock::new(|| {
    let env = ENVIRONMENTS[0].extend().macros(Macros::default());
    env.build().expect("an environment")
});

static DOCUMENT: LazyLock<Json> = LazyLock::new(
    || serde_json::json!({"a": {"b": [1, 2.5, null, "x"], "c": true}, "s": "héllo", "n": 3, "l": [1, 2, 3]}),
);

fuzz_target!(|text: &str| {
    unparsed_parses_to_the_same(text);
    for env in ENVIRONMENTS.iter() {
        match env.compile(text) {
            Ok(checked) => evaluates(env, &checked, text),
            Err(issues) => assert!(!issues.to_string().is_empty()),
        }
    }
});

fn unparsed_parses_to_the_same(text: &str) {
    let Ok(ast) = WITHOUT_MACROS.parse(text) else {
        return;
    };
    let Some(unparsed) = unparse(ast.root()) else {
        return;
    };
    match WITHOUT_MACROS.parse(&unparsed) {
        Ok(again) => assert_eq!(shape(&again), shape(&ast), "{text}\n{unparsed}"),
        // Unparsing adds characters, so the unparsed text may exceed a limit of the parser.
        Err(issues) => assert!(issues.to_string().contains("limit"), "{unparsed}\n{issues}"),
    }
}

/// The syntax tree as text, without expression ids.
fn shape(ast: &Ast) -> String {
    let text = format!("{:?}", ast.root());
    text.split("ExprId(")
        .map(|part| part.trim_start_matches(|c: char| c.is_ascii_digit()))
        .collect()
}

fn evaluates(env: &Env, checked: &CheckedAst, text: &str) {
    estimate(checked, &NoSizes);
    let Ok(program) = env.plan(checked) else {
        return;
    };
    let evaluate = || {
        let arena = Arena::new();
        let mut activation = Activation::new();
        activation.bind("d", &*DOCUMENT);
        activation.bind("i", Value::from(7));
        activation.bind("s", Value::from("text"));
        activation.bind("l", &DOCUMENT["l"]);
        let options = EvalOptions {
            cost_limit: Some(LIMIT),
            ..EvalOptions::default()
        };
        let evaluation = program.eval(&activation, &arena, &options);
        let result = match evaluation.result {
            Ok(value) => Ok(value.in_message().to_string()),
            Err(error) => Err(error.to_string()),
        };
        (result, evaluation.cost)
    };
    let first = evaluate();
    assert_eq!(first, evaluate(), "{text}: not the same twice");
    let typed = checked
        .ast()
        .walk()
        .all(|expr| is_known(checked.type_of(expr.id)));
    if let Err(error) = first.0
        && typed
    {
        assert!(!error.starts_with("no such overload"), "{text}: {error}");
    }
}

/// Whether every value of an expression of type `ty` has exactly this type and is not null.
fn is_known(ty: &Type) -> bool {
    match ty {
        Type::Bool | Type::Int | Type::Uint | Type::Double | Type::String | Type::Bytes => true,
        Type::Duration | Type::Timestamp | Type::Type(_) => true,
        Type::List(element) => is_known(element),
        Type::Map(entry) => is_known(&entry.0) && is_known(&entry.1),
        // Other types are excluded. As in upstream, some functions of libraries report "no such overload" for a text that they cannot
        // parse, such as `cidr('10.0.0.0/8').containsIP('x')`.
        ty => ty.as_optional().is_some_and(is_known),
    }
}

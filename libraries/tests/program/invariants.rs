//! Tests that evaluations that share the results of invariant steps have the same values, failures and costs as evaluations on their own.

use gavel_engine::env::Env;
use gavel_engine::program::{EvalOptions, Invariants, Program};
use gavel_engine::value::{Arena, Json, Value};
use proptest::prelude::*;
use serde_json::json;

use crate::random::{entropy, expression, with_fields};
use crate::{document, env, plan, result_text};

/// The environment of the tests, in which `i` and `o` vary.
fn varying() -> Env {
    let builder = env().extend().varying("i").varying("o");
    builder.build().unwrap()
}

/// The value or failure of an evaluation, and its cost.
fn outcome<'a>(
    program: &'a Program,
    document: &'a Json,
    invariants: Invariants<'a>,
    arena: &'a Arena,
    limit: u64,
) -> (String, u64) {
    let resolve = |name: &str| document.get(name).map(Value::from);
    let options = EvalOptions {
        cost_limit: Some(limit),
        ..EvalOptions::default()
    };
    let evaluation = program.eval_typed(resolve, None, invariants, arena, &options);
    (result_text(&evaluation.result), evaluation.cost)
}

fn assert_same_outcomes(env: &Env, expression: &str) {
    let program = plan(env, expression);
    let documents = [json!(7), json!(0), json!(-1)].map(|i| {
        let mut document = document();
        document["i"] = i.clone();
        document["o"]["a"]["c"] = i;
        document
    });
    let arena = Arena::new();
    for limit in (0..30).chain([u64::MAX]) {
        let invariants = program.invariants(&arena);
        for document in documents.iter().chain(&documents) {
            assert_eq!(
                outcome(&program, document, invariants, &arena, limit),
                outcome(&program, document, Invariants::default(), &arena, limit),
                "{expression} at {limit}"
            );
        }
    }
}

#[test]
fn operands_without_varying_variables_are_invariant_beside_one_that_varies() {
    let env = varying();
    let count = |expression: &str| {
        assert_same_outcomes(&env, expression);
        format!("{:?}", plan(&env, expression))
            .matches("invariant ")
            .count()
    };
    for (expression, expected) in [
        ("size(l) <= i", 1),
        ("size(l) + i <= j * 2", 2),
        ("l.all(e, e > 0) && o.a.c > 0", 1),
        ("l.exists(e, e > i && size(l) > j)", 1),
        ("l.exists(e, e + j > i || size(l) < 0)", 1),
        ("o.a.c > 0 ? size(ls) : size(l)", 2),
        ("(b ? size(l) : j) > i", 1),
        ("b ? (b ? size(l) : j) > i : (b ? j > 1 : b)", 2),
        // Constants, chains, texts, lists and opaque values are not shared.
        ("i > 0 && b", 0),
        ("s + 'x' == string(i)", 0),
        ("[1, j] == [i]", 0),
        ("duration('1s') < duration(string(i) + 's')", 0),
        // Nothing varies.
        ("size(l) <= j", 0),
        ("l.all(e, e > size(l))", 0),
        // A failure is not shared.
        ("l[10] > i", 0),
        ("int(s) > i || j / 0 > i", 2),
    ] {
        assert_eq!(count(expression), expected, "{expression}");
    }
}

#[test]
fn shared_results_are_not_computed_again() {
    let env = varying();
    let program = plan(&env, "size(l) <= i");
    let arena = Arena::new();
    let invariants = program.invariants(&arena);
    let outcome = |l: Json| {
        let document = json!({"i": 1, "l": l});
        outcome(&program, &document, invariants, &Arena::new(), u64::MAX)
    };
    assert_eq!(outcome(json!([1])), outcome(json!([1, 2])));
}

proptest! {
    #[test]
    fn random_expressions_have_the_same_outcomes(entropy in entropy()) {
        assert_same_outcomes(&varying(), &with_fields(&expression(&entropy)));
    }
}

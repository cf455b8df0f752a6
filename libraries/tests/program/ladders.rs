//! Tests that chains of presence tests, such as `has(o.a) && has(o.a.b)`, have the same value or failure, and the same cost, whether or not
//! they are evaluated as a ladder: in one pass that looks up each field once. Only objects that were parsed into an arena are evaluated so.

use gavel_engine::program::{Activation, EvalOptions, Program};
use gavel_engine::value::{Arena, Json, Value, read_json};
use proptest::prelude::*;
use serde_json::json;

use crate::{env, plan, result_text};

/// The value or failure of a program with this value of `o`, and its cost.
fn outcome(program: &Program, o: Value<'_>, arena: &Arena, limit: u64) -> (String, u64) {
    let mut activation = Activation::new();
    activation.bind("o", o);
    let options = EvalOptions {
        cost_limit: Some(limit),
        ..EvalOptions::default()
    };
    let evaluation = program.eval(&activation, arena, &options);
    (result_text(&evaluation.result), evaluation.cost)
}

fn assert_same_outcomes(expression: &str, o: &Json) {
    let program = plan(&env(), expression);
    let (text, arena) = (o.to_string(), Arena::new());
    let parsed = read_json(&text, &arena).unwrap();
    for limit in (0..40).chain([u64::MAX]) {
        assert_eq!(
            outcome(&program, parsed, &arena, limit),
            outcome(&program, Value::from(o), &arena, limit),
            "{expression} at {limit} with {o}"
        );
    }
}

/// A document with an object, another value or nothing at `o.a`, `o.a.b` and `o.a.b.c`.
fn document() -> impl Strategy<Value = Json> {
    let leaf = || prop::sample::select(vec![json!(true), json!(false), json!(null), json!(1)]);
    let object = |name: &'static str, inner: BoxedStrategy<Json>| {
        prop_oneof![
            1 => Just(json!({"z": 1})),
            1 => leaf(),
            6 => inner.prop_map(move |inner| json!({name: inner, "y": true})),
        ]
        .boxed()
    };
    object("a", object("b", object("c", leaf().boxed())))
}

/// A bool term: a presence test or a chain, possibly negated.
fn term() -> impl Strategy<Value = String> {
    let chain = prop::sample::select(vec!["o", "o.a", "o.a.b", "o.a.b.c", "o.y", "o.a.y"]);
    (chain, any::<bool>(), any::<bool>()).prop_map(|(chain, tests, negated)| {
        let not = if negated { "!" } else { "" };
        match tests && chain.contains('.') {
            true => format!("{not}has({chain})"),
            false => format!("{not}{chain}"),
        }
    })
}

proptest! {
    #[test]
    fn random_junctions_have_the_outcomes_of_their_terms(
        terms in prop::collection::vec(term(), 2..6),
        and in any::<bool>(),
        o in document(),
    ) {
        let operator = if and { " && " } else { " || " };
        assert_same_outcomes(&terms.join(operator), &o);
    }

    #[test]
    fn ladders_have_the_outcomes_of_their_terms(
        from in 0_usize..4,
        to in 0_usize..5,
        other in term(),
        o in document(),
    ) {
        let rungs = ["has(o.a)", "has(o.a.b)", "has(o.a.b.c)", "o.a.b.c"];
        let some = rungs.get(from..to).unwrap_or_default();
        let negated: Vec<_> = some.iter().map(|term| format!("!{term}")).collect();
        for (terms, operator) in [(some.join(" && "), "&&"), (negated.join(" || "), "||")] {
            if some.len() > 1 {
                let ladder = format!("ladder of {}", some.len());
                let expression = format!("{other} {operator} {terms}");
                let listing = format!("{:?}", plan(&env(), &terms));
                prop_assert!(listing.contains(&ladder), "{}", listing);
                assert_same_outcomes(&expression, &o);
                assert_same_outcomes(&format!("[o].exists_one(e, {})", terms.replace("o.", "e.")), &o);
            }
        }
    }
}

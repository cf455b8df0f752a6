//! Tests that each fast path has the same value or failure, and the same cost, as the general path.

use gavel_engine::ast::operators::{ACCUMULATOR, EQUALS};
use gavel_engine::env::Env;
use gavel_engine::program::{Activation, EvalOptions, Program};
use gavel_engine::value::{Arena, Json, OwnedValue, Value};
use proptest::prelude::*;
use serde_json::json;

use crate::{document, dyn_env, env, evaluate, kubernetes, plan, random, result_text};

/// The value or failure of an evaluation, and its cost.
fn outcome(program: &Program) -> (String, u64) {
    evaluate(
        program,
        &document(),
        &EvalOptions::default(),
        |evaluation| (result_text(&evaluation.result), evaluation.cost),
    )
}

/// Plans an expression; returns the program, or the message if planning fails.
fn planned(env: &Env, expression: &str) -> Result<Program, String> {
    let checked = env.compile(expression).unwrap();
    env.plan(&checked).map_err(|error| error.to_string())
}

/// Plans an expression after renaming the accumulators of its comprehensions, so that the planner recognizes no macro.
fn plan_unrecognized(env: &Env, expression: &str) -> Program {
    let mut ast = env.parse(expression).unwrap();
    ast.rename_variable(ACCUMULATOR, "@other");
    let checked = env.check(ast).unwrap();
    env.plan(&checked).unwrap()
}

#[test]
fn renamed_accumulators_make_general_folds() {
    let env = env();
    for expression in ["l.all(e, e > 0)", "l.map(e, e)", "m.transformMap(k, v, v)"] {
        assert!(!format!("{:?}", plan(&env, expression)).contains("fold "));
        assert!(format!("{:?}", plan_unrecognized(&env, expression)).contains("fold "));
    }
}

/// The value or failure of an evaluation, and its cost. The variables are bound to copies of the document's values instead of JSON.
fn outcome_of_held(program: &Program, document: &Json) -> (String, u64) {
    let owned: Vec<_> = document
        .as_object()
        .unwrap()
        .iter()
        .map(|(name, value)| (name, OwnedValue::copy_of(&Value::from(value)).unwrap()))
        .collect();
    let arena = Arena::new();
    let mut activation = Activation::new();
    for (name, value) in &owned {
        activation.bind(name, value.as_value());
    }
    let evaluation = program.eval(&activation, &arena, &EvalOptions::default());
    (result_text(&evaluation.result), evaluation.cost)
}

#[test]
fn optional_fields_of_json_and_owned_values_are_the_same() {
    let env = env();
    let objects = [
        json!({}),
        json!({"a": null}),
        json!({"a": 1}),
        json!({"a": {"b": [1]}}),
        json!({"a": {"b": {"c": 2}}}),
        json!([1]),
        json!(null),
    ];
    for chain in [
        "o.?a",
        "o.?a.?b",
        "o.?a.?b.?c",
        "o.a.?b",
        "o.a.b.?c",
        "o.?a[?'b']",
        "o.?a.b.?c",
        "[o].map(e, e.?a.?b.?c)",
    ] {
        let program = plan(&env, chain);
        for object in &objects {
            let mut document = document();
            document["o"] = object.clone();
            let of_json = evaluate(&program, &document, &EvalOptions::default(), |evaluation| {
                (result_text(&evaluation.result), evaluation.cost)
            });
            let held = outcome_of_held(&program, &document);
            assert_eq!(of_json, held, "{chain} {object}");
        }
    }
}

/// Asserts that the negation of a call has the opposite value or the same failure, and costs one unit more: `!` evaluates the call as a
/// predicate.
#[track_caller]
fn assert_predicate_is_call(env: &Env, document: &Json, call: &str) {
    let run = |expression: &str| {
        let program = plan(env, expression);
        evaluate(&program, document, &EvalOptions::default(), |evaluation| {
            let value = evaluation.result.as_ref().map(|value| value.as_bool());
            (value.map_err(ToString::to_string), evaluation.cost)
        })
    };
    let (value, cost) = run(call);
    let negated = value.map(|value| value.map(|value| !value));
    assert_eq!((negated, cost + 1), run(&format!("!({call})")), "{call}");
}

#[test]
fn membership_is_tested_as_calls_do() {
    let mut document = document();
    let elements = [
        json!("a"),
        json!("z"),
        json!(1),
        json!(1.0),
        json!(null),
        json!(["a"]),
        json!({}),
    ];
    let containers = [
        json!([]),
        json!(["b", "a"]),
        json!([1, "a", null, ["a"], {}]),
        json!({}),
        json!({"a": 1}),
        json!("a"),
        json!(null),
    ];
    for (element, container) in elements
        .iter()
        .flat_map(|element| containers.iter().map(move |container| (element, container)))
    {
        document["x"] = element.clone();
        document["o"] = container.clone();
        for call in [
            "x in o",
            "o in [o]",
            "x in ls",
            "ka in ls",
            "kc in ls",
            "ka in m",
            "kc in m",
            "i in l",
            "x in l",
            "x in [x, o]",
            "o.missing in o",
            "x in o.missing",
            "x in {'a': o}",
        ] {
            assert_predicate_is_call(&env(), &document, call);
            assert_predicate_is_call(&dyn_env(), &document, call);
        }
    }
}

proptest! {
    #[test]
    fn recognized_folds_are_general_folds(entropy in random::entropy()) {
        let env = env();
        let expression = random::with_fields(&random::expression(&entropy));
        if let Ok(program) = planned(&env, &expression) {
            let general = plan_unrecognized(&env, &expression);
            prop_assert_eq!(outcome(&program), outcome(&general), "{}", expression);
        }
    }

    #[test]
    fn known_overloads_are_those_that_dispatch_finds(entropy in random::entropy()) {
        let expression = random::arithmetic(&entropy);
        let (typed, dispatched) = (planned(&env(), &expression), planned(&dyn_env(), &expression));
        match (typed, dispatched) {
            (Ok(typed), Ok(dispatched)) => {
                prop_assert_eq!(outcome(&typed), outcome(&dispatched), "{}", expression);
            }
            (typed, dispatched) => prop_assert_eq!(typed.err(), dispatched.err(), "{}", expression),
        }
    }

    #[test]
    fn known_types_change_no_result(entropy in random::entropy()) {
        let expression = random::with_fields(&random::expression(&entropy));
        if let (Ok(typed), Ok(untyped)) = (planned(&env(), &expression), planned(&dyn_env(), &expression)) {
            prop_assert_eq!(outcome(&typed).0, outcome(&untyped).0, "{}", expression);
        }
    }

    #[test]
    fn json_and_owned_values_give_the_same_results(entropy in random::entropy()) {
        let expression = random::with_fields(&random::expression(&entropy));
        if let Ok(program) = planned(&env(), &expression) {
            let held = outcome_of_held(&program, &document());
            prop_assert_eq!(outcome(&program), held, "{}", expression);
        }
    }

    #[test]
    fn fields_are_found_as_keys_are(entropy in random::entropy()) {
        let expression = random::expression(&entropy);
        let fields = planned(&env(), &random::with_fields(&expression));
        let indices = planned(&env(), &random::with_indices(&expression));
        if let (Ok(fields), Ok(indices)) = (fields, indices) {
            prop_assert_eq!(outcome(&fields), outcome(&indices), "{}", expression);
        }
    }

    #[test]
    fn constants_are_what_variables_would_be(left in -3_i64..4, right in -3_i64..4) {
        let env = env();
        let mut document = document();
        document["i"] = json!(left);
        document["j"] = json!(right);
        document["l"] = json!([left, right, 2]);
        for template in [
            "I + J == J + I", "I / J", "I % J < J", "I in [I, J, 2]", "J in [1, 2]", "[I, J][I]",
            "int(string(I)) == I", "{I: J}[J]", "[I, J].map(e, e / J)", "[I, J, 2] == l", "string(I) + string(J)",
            "[I, J].exists(e, 6 / e > J)", "dyn(I) < dyn(J)", "I < J", "I >= J",
        ] {
            let (constants, variables) = (
                template.replace('I', &left.to_string()).replace('J', &right.to_string()),
                template.replace('I', "i").replace('J', "j"),
            );
            let run = |expression: &str| match planned(&env, expression) {
                Ok(program) => evaluate(&program, &document, &EvalOptions::default(), |evaluation| {
                    result_text(&evaluation.result)
                }),
                Err(error) => format!("error: {error}"),
            };
            prop_assert_eq!(run(&constants), run(&variables), "{}", constants);
        }
    }

    #[test]
    fn texts_are_tested_as_calls_do(text in "[aä]{0,14}", part in "[aä]{0,3}") {
        let env = env();
        for function in ["contains", "startsWith", "endsWith"] {
            for (o, x) in [(json!(text), json!(part)), (json!(text), json!(1)), (json!(1), json!(part))] {
                let mut document = document();
                document["o"] = o;
                document["x"] = x;
                assert_predicate_is_call(&env, &document, &format!("o.{function}(x)"));
            }
        }
        for o in [json!(text), json!(1)] {
            let mut document = document();
            document["o"] = o;
            for call in ["o.matches('^a+ä')", "matches(o, 'ä{3}')", "dyn(type(o)).matches('^i')", "o.missing.matches('a')"] {
                assert_predicate_is_call(&env, &document, call);
                assert_predicate_is_call(&dyn_env(), &document, call);
            }
        }
    }

    #[test]
    fn equality_costs_what_its_row_says(left in "[aä]{0,14}", right in "[aä]{0,14}", int in any::<i64>()) {
        let env = env();
        let program = plan(&env, "o == x");
        let row = env.declarations().function(EQUALS).unwrap().overloads[0].calls.cost;
        for (o, x) in [(json!(left), json!(right)), (json!(int), json!(int)), (json!(true), json!(int))] {
            let mut document = document();
            document["o"] = o.clone();
            document["x"] = x.clone();
            let by_row = row.track(&[Some(&Value::from(&o)), Some(&Value::from(&x))], None).unwrap();
            let cost = evaluate(&program, &document, &EvalOptions::default(), |evaluation| evaluation.cost);
            prop_assert_eq!(cost, 2 + by_row, "{} == {}", o, x);
        }
    }

    #[test]
    fn skipped_ints_count_like_visited_ones(
        ints in prop::collection::vec(-2_i64..9, 0..400),
        other in prop::option::of((0_usize..400, prop::sample::select(vec![json!("a"), json!(1.5), json!(null), json!(8)]))),
        limit in prop::option::of(0_u64..2500),
        bound in -3_i64..9,
    ) {
        let env = env();
        let mut list: Vec<_> = ints.into_iter().map(|int| json!(int)).collect();
        if let Some((place, element)) = other {
            list.insert(place.min(list.len()), element);
        }
        let mut document = document();
        document["l"] = json!(list);
        document["o"] = json!(list);
        let options = EvalOptions { cost_limit: limit, ..EvalOptions::default() };
        let run = |program: &Program| evaluate(program, &document, &options, |evaluation| {
            (result_text(&evaluation.result), evaluation.cost)
        });
        for template in [
            "l.all(e, e < B)", "l.all(e, B >= e)", "o.exists(e, e > B)", "l.exists(e, B <= e) && l.all(e, e >= B)",
        ] {
            let expression = template.replace('B', &bound.to_string());
            let program = plan(&env, &expression);
            prop_assert!(format!("{program:?}").contains("ints at once"), "{}", expression);
            prop_assert_eq!(run(&program), run(&plan_unrecognized(&env, &expression)), "{}", expression);
        }
    }

    #[test]
    fn constant_templates_format_like_computed_ones(
        pieces in prop::collection::vec(prop::sample::select(vec!["%s", "%s", "%.2s", "a", "é", "%%", "%d", "%"]), 0..6),
        values in prop::collection::vec(prop::sample::select(vec![json!("a"), json!(""), json!("né"), json!(7)]), 0..6),
    ) {
        let env = kubernetes();
        let mut document = document();
        document["ka"] = json!(pieces.concat());
        document["kb"] = json!(values);
        let run = |program: &Program| evaluate(program, &document, &EvalOptions::default(), |evaluation| {
            (result_text(&evaluation.result), evaluation.cost)
        });
        let constant = plan(&env, &format!("'{}'.format(kb)", pieces.concat()));
        if !pieces.contains(&"%d") && !pieces.contains(&"%") {
            prop_assert!(format!("{constant:?}").contains("specialized"), "{:?}", constant);
        }
        let ((value, cost), (expected, more)) = (run(&constant), run(&plan(&env, "ka.format(kb)")));
        prop_assert_eq!(value, expected);
        // Reading the template from a variable costs one unit.
        prop_assert_eq!(cost.saturating_add(1), more);
    }

    #[test]
    fn texts_that_are_read_once_are_read_anew(texts in prop::collection::vec("[0-9]{0,2}(Mi|k|x|Ei)?", 0..6)) {
        let env = kubernetes();
        let mut document = document();
        document["ls"] = json!(texts);
        let run = |expression: &str| {
            let program = plan(&env, expression);
            evaluate(&program, &document, &EvalOptions::default(), |evaluation| {
                (result_text(&evaluation.result), evaluation.cost)
            })
        };
        // Calls with large quantities, such as 1Ei, change their first operand.
        for template in [
            "ls.map(e, Q.isLessThan(quantity('5k')) || Q.isGreaterThan(quantity('9Mi')))",
            "ls.map(e, Q.compareTo(quantity('1Ei')) < 0 && Q.isInteger())",
            "ls.map(e, quantity('5k').isLessThan(Q) || quantity('5k').isInteger())",
            "ls.map(e, [Q.add(quantity('1Ei')), Q.sub(Q), Q.add(1), Q])",
            "ls.map(e, [quantity('1Ei').add(Q), quantity('1Ei')])",
            "ls.map(e, [Q].all(q, q.isLessThan(quantity('1Ei')) || q.isInteger()))",
        ] {
            // A quantity is parsed only once per variable, but each time for an index such as `[e][0]`.
            let once = template.replace('Q', "quantity(e)");
            let anew = template.replace('Q', "quantity([e][0])");
            let ((value, cost), (expected, more)) = (run(&once), run(&anew));
            prop_assert_eq!(value, expected, "{}", template);
            prop_assert!(cost <= more, "{}", template);
        }
    }
}

//! What an evaluation costs at every limit.

use gavel_engine::error::EvalErrorKind;
use gavel_engine::program::EvalOptions;

use crate::{document, env, evaluate, golden, plan, result_text};

/// What is charged before the evaluation stops, for each limit up to the least that lets it finish, and then the result. An evaluation that
/// is stopped says so; one that is not has the value that it has without limits.
#[test]
fn evaluations_stop_at_the_first_charge_beyond_the_limit() {
    let env = env();
    let document = document();
    golden::check("costs", |expression| {
        let program = plan(&env, expression);
        let run = |cost_limit| {
            let options = EvalOptions {
                cost_limit,
                ..EvalOptions::default()
            };
            evaluate(&program, &document, &options, |evaluation| {
                let kind = evaluation.result.as_ref().err().map(|error| error.kind());
                (kind, result_text(&evaluation.result), evaluation.cost)
            })
        };
        let (_, unlimited, full) = run(None);
        let mut stops: Vec<u64> = Vec::new();
        let mut limit = 0;
        loop {
            let (kind, result, cost) = run(Some(limit));
            if kind != Some(EvalErrorKind::CostLimit) {
                assert_eq!((result, cost), (unlimited.clone(), full), "{expression}");
                assert!(limit >= full, "{expression}: {full} units within {limit}");
                break;
            }
            assert!(cost > limit, "{expression}: {cost} at {limit}");
            match stops.last() {
                // The charges are the same whatever the limit is: none lies between two stops.
                Some(last) if *last > limit => assert_eq!(cost, *last, "{expression}: {limit}"),
                _ => stops.push(cost),
            }
            limit += 1;
        }
        let stops: Vec<_> = stops.iter().map(u64::to_string).collect();
        format!(
            "stops at {}\ncosts {full} within {limit}: {unlimited}",
            stops.join(" ")
        )
    });
}

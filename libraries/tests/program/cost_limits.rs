//! Tests what an evaluation costs at every cost limit.

use gavel_engine::error::EvalErrorKind;
use gavel_engine::program::EvalOptions;

use crate::{document, env, evaluate, golden, plan, result_text};

/// Evaluates each expression at every cost limit from 0 up to the first limit that suffices. Records the charges at which the evaluation
/// stops, and then its result, which must be the same as without a limit.
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
                // The limit does not change the charges, so the evaluation stops at the same charge until the limit reaches it.
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

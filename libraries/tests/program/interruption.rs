//! Tests that an interrupt stops an evaluation at once.

use std::sync::atomic::{AtomicUsize, Ordering};

use gavel_engine::error::EvalErrorKind;
use gavel_engine::program::EvalOptions;
use serde_json::json;

use crate::{document, env, evaluate, plan};

/// Expressions that take long, each for a different reason.
const LONG: &[&str] = &[
    "l.all(e, l.all(f, e + f >= 0))",
    "l.exists(e, l.exists(f, e + f < 0))",
    "l.exists_one(e, l.exists_one(f, e == f))",
    "l.map(e, l.map(f, e * f)).size() > 0",
    "l.filter(e, l.filter(f, e == f).size() == 1).size() > 0",
    "l.transformList(n, e, l.transformList(p, f, n + f)).size() > 0",
    "l.map(e, m.transformMap(k, v, e + v)).size() > 0",
    "l.map(e, m.transformMapEntry(k, v, {k: e + v})).size() > 0",
    "l.all(e, m.all(k, v, size(k) + v + e > 0))",
    "l.all(e, cel.bind(y, l.map(f, f + e), size(y) > 0))",
    "l.sortBy(e, l.filter(f, f == e).size()).size() > 0",
    // `||` absorbs a failure, but not an interrupt.
    "l.all(e, l.all(f, 1 / 0 > e + f)) || true",
    "l.exists(e, l.exists(f, 1 / 0 > e + f)) || true",
    // Long work in calls.
    "l.all(e, s.matches('(a|b|ab)*c' + string(e)) || true)",
    "l.all(e, (s + s + s).contains('missing') || e >= 0)",
    "l.all(e, [s, s] == [s, s])",
    "l.all(e, (l + l).size() > 0)",
    "l.all(e, !(s in ls))",
];

#[test]
fn an_interrupt_stops_an_evaluation_whatever_it_does() {
    let env = env();
    let mut document = document();
    document["l"] = (0..400).collect();
    document["s"] = json!("ab".repeat(2_000));
    document["ls"] = (0..100).map(|_| json!("ab".repeat(2_000) + "c")).collect();
    document["m"] = json!({"a": 1, "b": 2, "c": 3});
    for expression in LONG {
        let program = plan(&env, expression);
        let polls = AtomicUsize::new(0);
        let run = |stop_at: usize| {
            polls.store(0, Ordering::Relaxed);
            let interrupt = || polls.fetch_add(1, Ordering::Relaxed) >= stop_at;
            let options = EvalOptions {
                interrupt: Some(&interrupt),
                ..EvalOptions::default()
            };
            let kind = evaluate(&program, &document, &options, |evaluation| {
                evaluation.result.err().map(|error| error.kind())
            });
            (kind, polls.load(Ordering::Relaxed))
        };
        let (kind, total) = run(usize::MAX);
        assert_eq!(kind, None, "{expression}");
        assert!(total >= 3, "{expression}: asked {total} times");
        for stop_at in [0, 1, total / 3, total / 2, total - 1] {
            let (kind, checks) = run(stop_at);
            let stopped = (Some(EvalErrorKind::Interrupted), stop_at + 1);
            assert_eq!((kind, checks), stopped, "{expression}");
        }
    }
}

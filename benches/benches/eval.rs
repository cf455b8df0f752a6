//! Compares the evaluation of the same rules by Gavel, by the `cel` crate and by Rust closures.
//!
//! Each evaluator takes the object as parsed JSON, as in a webhook. The times include the binding of the object to the variable.
#![expect(clippy::print_stdout, reason = "the benchmark prints counts")]

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use gavel_benches::{OPTIONS, Rule, closure, environment, plan, rules};
use gavel_engine::program::{Activation, EvalOptions};
use gavel_engine::value::{Arena, Json};

fn eval(criterion: &mut Criterion) {
    for rule in &rules() {
        let mut group = criterion.benchmark_group(format!("eval/{}", rule.id));
        let program = plan(&rule.environment(), &rule.expression);
        let mut arena = Arena::new();
        let mut run = || {
            arena.reset();
            let mut activation = Activation::new();
            activation.bind(&rule.variable, rule.bind(&arena));
            program
                .eval(&activation, &arena, &OPTIONS)
                .result
                .is_ok_and(|value| value.as_bool() == Some(true))
        };
        assert!(run(), "{} must hold", rule.id);
        let allocations = allocation_counter::measure(|| {
            black_box(run());
        });
        println!("{}: {} allocations", rule.id, allocations.count_total);
        group.bench_function("gavel", |bencher| bencher.iter(|| black_box(run())));
        if let Some(mut peer) = peer(rule) {
            group.bench_function("cel", |bencher| bencher.iter(|| black_box(peer())));
        }
        if let Some(closure) = closure(&rule.id) {
            assert_eq!(closure(&rule.object), Some(true), "{} must hold", rule.id);
            group.bench_function("closure", |bencher| {
                bencher.iter(|| black_box(closure(black_box(&rule.object))))
            });
        }
        group.finish();
    }
}

/// A function that evaluates the rule with the `cel` crate. `None` if the crate cannot evaluate the rule.
fn peer(rule: &Rule) -> Option<impl FnMut() -> bool> {
    let program = cel::Program::compile(&rule.expression).ok()?;
    let run = move || {
        let mut context = cel::Context::default();
        let bound = context
            .add_variable(rule.variable.as_str(), rule.object.clone())
            .is_ok();
        bound && matches!(program.execute(&context), Ok(cel::Value::Bool(true)))
    };
    run().then_some(run)
}

/// Measures loops of different lengths: the time of one iteration must not depend on the number of iterations.
fn comprehensions(criterion: &mut Criterion) {
    let env = environment();
    for (name, expression) in [
        ("all", "object.all(x, x >= 0)"),
        ("map", "object.map(x, x + 1).size() > 0"),
        ("filter", "object.filter(x, x > 5).size() >= 0"),
        (
            "transformMap",
            "object.transformMap(i, x, x + i).size() > 0",
        ),
    ] {
        let program = plan(&env, expression);
        let mut group = criterion.benchmark_group(format!("iteration/{name}"));
        for size in [10_u64, 1_000, 100_000] {
            let object: Json = (0..size).collect();
            let mut arena = Arena::new();
            group.throughput(Throughput::Elements(size));
            group.bench_function(BenchmarkId::from_parameter(size), |bencher| {
                bencher.iter(|| {
                    arena.reset();
                    let mut activation = Activation::new();
                    activation.bind("object", &object);
                    let options = EvalOptions {
                        cost_limit: Some(100_000_000),
                        ..EvalOptions::default()
                    };
                    program
                        .eval(&activation, &arena, &options)
                        .result
                        .is_ok_and(|value| value.as_bool() == Some(true))
                });
            });
        }
        group.finish();
    }
}

criterion_group!(benches, eval, comprehensions);
criterion_main!(benches);

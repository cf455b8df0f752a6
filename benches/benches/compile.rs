//! Measures the steps from the text of an expression to its program: parse, check, estimate and plan.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use gavel_benches::{check, plan, rules};
use gavel_engine::estimate::{NoSizes, estimate};

fn compile(criterion: &mut Criterion) {
    for rule in &rules() {
        let env = rule.environment();
        let mut group = criterion.benchmark_group(format!("compile/{}", rule.id));
        let text = rule.expression.as_str();
        group.bench_function("parse", |bencher| {
            bencher.iter(|| black_box(env.parse(black_box(text))))
        });
        group.bench_function("parse+check", |bencher| {
            bencher.iter(|| black_box(check(&env, black_box(text))))
        });
        group.bench_function("parse+check+plan", |bencher| {
            bencher.iter(|| black_box(plan(&env, black_box(text))))
        });
        let checked = check(&env, text);
        group.bench_function("estimate", |bencher| {
            bencher.iter(|| black_box(estimate(&checked, &NoSizes)))
        });
        if cel::Program::compile(text).is_ok() {
            group.bench_function("cel", |bencher| {
                bencher.iter(|| black_box(cel::Program::compile(black_box(text))))
            });
        }
        group.finish();
    }
}

criterion_group!(benches, compile);
criterion_main!(benches);

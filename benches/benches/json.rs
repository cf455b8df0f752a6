//! Parses a pod from JSON text into an arena, as requests are parsed. The baselines are `serde_json` and `simd-json`.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use gavel_benches::rules;
use gavel_engine::value::{Arena, Json};
use gavel_schema::read_value;
use serde::de::IgnoredAny;

fn read(criterion: &mut Criterion) {
    let rules = rules();
    let Some(rule) = rules.iter().find(|rule| rule.schema.is_none()) else {
        return;
    };
    let text = rule.object.to_string();
    let text = text.as_bytes();
    let mut group = criterion.benchmark_group(format!("json/{} bytes", text.len()));
    group.bench_function("arena", |bencher| {
        let mut arena = Arena::new();
        bencher.iter(|| {
            arena.reset();
            let value = read_value(black_box(text), &arena);
            black_box(value).is_ok()
        });
    });
    group.bench_function("serde_json: document", |bencher| {
        bencher.iter(|| serde_json::from_slice::<Json>(black_box(text)));
    });
    group.bench_function("serde_json: nothing is kept", |bencher| {
        bencher.iter(|| serde_json::from_slice::<IgnoredAny>(black_box(text)));
    });
    group.bench_function("simd-json: tape", |bencher| {
        let (mut copy, mut buffers) = (Vec::new(), simd_json::Buffers::default());
        bencher.iter(|| {
            copy.clear();
            copy.extend_from_slice(black_box(text));
            let tape = simd_json::to_tape_with_buffers(&mut copy, &mut buffers);
            black_box(tape).is_ok()
        });
    });
    group.finish();
}

criterion_group!(benches, read);
criterion_main!(benches);

//! Custom resources: compiles a definition with 400 rules and validates objects against it. The baseline is kube-cel, which evaluates only
//! the rules. Memory is printed before the times.
#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a benchmark panics if an input is invalid, and prints its results"
)]

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use gavel_benches::definition::{Sections, definition, object, schema};
use gavel_crd::CompiledCrd;
use gavel_crd::definition::Definition;
use gavel_crd::resource::COST_BUDGET;
use gavel_engine::value::Json;

fn compiled(definition: &Json) -> CompiledCrd {
    let definition = Definition::read(definition).expect("a definition");
    CompiledCrd::compile(&definition).expect("a definition that compiles")
}

fn is_valid(crd: &CompiledCrd, object: &Json) -> bool {
    let outcome = crd.validate("v1", object, None, COST_BUDGET);
    let outcome = outcome.expect("a version of the definition");
    assert_eq!(
        outcome
            .errors()
            .map(ToString::to_string)
            .collect::<Vec<_>>(),
        [""; 0]
    );
    outcome.is_valid()
}

/// Compiles a definition with Gavel and with kube-cel, measures the time, and prints the memory.
fn compile(
    criterion: &mut Criterion,
    name: &str,
    sections: Sections,
) -> (CompiledCrd, kube_cel::CompiledSchema) {
    let schema = schema(sections);
    let definition = definition(&schema);
    // The first compilation creates values that a process creates only once.
    drop((compiled(&definition), kube_cel::compile_schema(&schema)));
    let mut kept = None;
    let ours = allocation_counter::measure(|| kept = Some(compiled(&definition)));
    let crd = kept.expect("a definition");
    let mut kept = None;
    let theirs = allocation_counter::measure(|| kept = Some(kube_cel::compile_schema(&schema)));
    let peer = kept.expect("a schema");
    println!(
        "{name}, memory: gavel {} KB, at most {} KB while compiling; kube-cel {} KB, at most {} KB",
        ours.bytes_current / 1024,
        ours.bytes_max / 1024,
        theirs.bytes_current / 1024,
        theirs.bytes_max / 1024
    );

    let mut group = criterion.benchmark_group(name);
    group.sample_size(20);
    group.bench_function("gavel", |bencher| {
        bencher.iter(|| compiled(black_box(&definition)))
    });
    group.bench_function("kube-cel", |bencher| {
        bencher.iter(|| kube_cel::compile_schema(black_box(&schema)));
    });
    group.finish();
    (crd, peer)
}

fn resources(criterion: &mut Criterion) {
    compile(
        criterion,
        "compile 400 different rules",
        Sections::Different,
    );
    let (crd, peer) = compile(criterion, "compile 400 rules", Sections::Alike);

    let large = object(40, 100);
    let small: Vec<_> = (0..1_000).map(|_| object(1, 2)).collect();
    let validator = kube_cel::Validator::new();
    let found = validator.validate_compiled(&peer, &large, None);
    found.expect("an object that breaks no rule");
    for (name, objects) in [
        ("validate a large object", std::slice::from_ref(&large)),
        ("validate 1,000 small objects", &small),
    ] {
        let mut group = criterion.benchmark_group(name);
        group.sample_size(10);
        group.bench_function("gavel", |bencher| {
            bencher.iter(|| {
                objects
                    .iter()
                    .all(|object| is_valid(&crd, black_box(object)))
            });
        });
        group.bench_function("kube-cel", |bencher| {
            bencher.iter(|| {
                let valid = |object| {
                    validator
                        .validate_compiled(&peer, black_box(object), None)
                        .is_ok()
                };
                objects.iter().all(valid)
            });
        });
        group.finish();
    }
}

criterion_group!(benches, resources);
criterion_main!(benches);

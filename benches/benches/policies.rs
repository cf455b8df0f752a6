//! Admission policies: decides a request with one rule, with ten rules, with sixteen policies for pods, and with one policy that has many
//! bindings and params. Memory and allocations are printed before the times. Requests and params are parsed before the measurement.
//!
//! The baseline is kube-cel, which evaluates the expressions of policies. The work for a request is:
//!
//! - gavel matches policies and bindings, finds params and the namespace, evaluates in the order and within the budgets of Kubernetes, and
//!   returns a decision with a status.
//! - kube-cel converts object, request and params to values and evaluates all expressions, once for each binding. It neither matches
//!   policies nor looks up params, and it computes no costs. Its evaluators, one for each param, are created before the measurement.
#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a benchmark panics if an input is invalid, and prints its results"
)]

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use gavel_benches::policies::{
    POD_SECURITY, WITH_PARAMS, bound, bound_with_params, index, one_by_one, param, pod, policy,
    request,
};
use gavel_engine::value::Arena;
use gavel_policy::{Options, Snapshot, dispatch};
use kube_cel::{CompiledVapExpression, VapError, VapEvaluator, VapExpression};
use serde_json::Value as Json;

/// The same rules and params, prepared for kube-cel.
struct Peer {
    rules: Vec<Result<CompiledVapExpression, VapError>>,
    /// One evaluator for each param, or a single evaluator if there are no params.
    evaluators: Vec<VapEvaluator>,
}

impl Peer {
    fn new(rules: &[&str], params: &[Json]) -> Self {
        let evaluator = || {
            VapEvaluator::builder()
                .object(pod())
                .request(kube_cel::AdmissionRequest {
                    operation: "CREATE".to_owned(),
                    username: "ada".to_owned(),
                    groups: vec!["developers".to_owned()],
                    name: "web".to_owned(),
                    namespace: "default".to_owned(),
                    ..Default::default()
                })
        };
        let with_params = |param: &Json| evaluator().params(param.clone()).build();
        let evaluators = match params {
            [] => vec![evaluator().build()],
            params => params.iter().map(with_params).collect(),
        };
        Peer {
            rules: compiled_by_peer(rules),
            evaluators,
        }
    }

    fn allows(&self) -> bool {
        let passed = |evaluator: &VapEvaluator| {
            let found = evaluator.evaluate_compiled(black_box(&self.rules));
            found.iter().all(|rule| rule.passed)
        };
        self.evaluators.iter().all(passed)
    }
}

fn compiled_by_peer(rules: &[&str]) -> Vec<Result<CompiledVapExpression, VapError>> {
    let expression = |rule: &&str| VapExpression {
        expression: (*rule).to_owned(),
        message: None,
        message_expression: None,
    };
    let expressions: Vec<VapExpression> = rules.iter().map(expression).collect();
    VapEvaluator::builder()
        .build()
        .compile_expressions(&expressions)
}

fn tell_memory() {
    let ten = POD_SECURITY.get(..10).expect("ten rules");
    // Creates the environments, which a process creates only once, before the measurement.
    drop(bound(&[("p", ten)]));
    let (mut kept, mut kept_by_peer) = (None, None);
    let names: Vec<String> = (0..1_000).map(|n| format!("p{n}")).collect();
    let ours = allocation_counter::measure(|| {
        let objects = names.iter().map(|name| policy(name, false, ten));
        kept = Some(index(objects.collect()));
    });
    let mut kept_different = None;
    let different = allocation_counter::measure(|| {
        let objects = names.iter().map(|name| {
            let rules = ten.iter().map(|rule| format!("({rule}) || '{name}' == ''"));
            let rules: Vec<String> = rules.collect();
            let rules: Vec<&str> = rules.iter().map(String::as_str).collect();
            policy(name, false, &rules)
        });
        kept_different = Some(index(objects.collect()));
    });
    let theirs = allocation_counter::measure(|| {
        kept_by_peer = Some(Vec::from_iter((0..1_000).map(|_| compiled_by_peer(ten))));
    });
    println!(
        "memory of 1,000 policies with the same 10 rules: gavel {} KB, at most {} KB while compiling; kube-cel {} KB",
        ours.bytes_current / 1024,
        ours.bytes_max / 1024,
        theirs.bytes_current / 1024,
    );
    println!(
        "memory of 1,000 policies with 10 different rules each: gavel {} KB",
        different.bytes_current / 1024,
    );
}

fn policies(criterion: &mut Criterion) {
    tell_memory();
    let arena = Arena::new();
    let request = request(&arena);
    let allowed = |snapshot: &Snapshot| {
        let decision = dispatch(snapshot, black_box(&request), &Options::default());
        assert_eq!(decision.denials, []);
    };
    let one = ["object.spec.containers.size() <= 5"];
    let ten = POD_SECURITY.get(..10).expect("ten rules");
    let mut cases = vec![
        (
            "one rule".to_owned(),
            bound(&[("p", &one)]),
            Peer::new(&one, &[]),
        ),
        (
            "10 rules".to_owned(),
            bound(&[("p", ten)]),
            Peer::new(ten, &[]),
        ),
        (
            "16 pod security policies".to_owned(),
            one_by_one(),
            Peer::new(&POD_SECURITY, &[]),
        ),
    ];
    for count in [1, 10, 100, 1_000, 1_024] {
        let params: Vec<Json> = (0..count).map(|n| param(&format!("b{n}"))).collect();
        cases.push((
            format!("{count} bindings with params"),
            bound_with_params(count),
            Peer::new(&WITH_PARAMS, &params),
        ));
    }
    for (name, snapshot, peer) in &cases {
        // The first decision allocates memory that the thread reuses for later decisions.
        allowed(snapshot);
        let counted = allocation_counter::measure(|| allowed(snapshot));
        println!(
            "{name}: gavel makes {} allocations, {} bytes at most",
            counted.count_total, counted.bytes_max
        );
        assert!(peer.allows(), "{name}");
        let mut group = criterion.benchmark_group(name);
        group.sample_size(20);
        group.bench_function("gavel", |bencher| {
            bencher.iter(|| allowed(black_box(snapshot)));
        });
        group.bench_function("kube-cel", |bencher| bencher.iter(|| peer.allows()));
        group.finish();
    }
}

criterion_group!(benches, policies);
criterion_main!(benches);

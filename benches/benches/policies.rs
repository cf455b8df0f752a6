//! Admission policies: requests decided by one rule, by ten, by sixteen policies for pods, and by one policy with many
//! bindings and params; memory and allocations are told before the times. Requests and params are parsed beforehand.
//!
//! Beside it kube-cel, which evaluates the expressions of policies. What each does for a request:
//!
//! - gavel decides: matches policies and bindings, finds params and namespace, evaluates in the order and within the budgets
//!   of Kubernetes, and makes the decision with its status.
//! - kube-cel turns object, request and params into values and evaluates all expressions, for each binding anew: nothing is
//!   matched or looked up, and there are no costs. Its evaluators, one for each param, are made beforehand.
#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a benchmark stops where its inputs are not right, and prints what it counts"
)]

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use gavel_engine::value::Arena;
use gavel_libraries::{EnvSet, Server};
use gavel_policy::{AdmissionRequest, Options, PolicyIndex, Snapshot, dispatch};
use gavel_schema::read_value;
use kube_cel::{CompiledVapExpression, VapError, VapEvaluator, VapExpression};
use serde_json::{Value as Json, json};

/// What Kubernetes' pod security standards ask of pods, and what else is often asked, in the CEL that both evaluate.
const POD_SECURITY: [&str; 16] = [
    "!has(object.spec.hostNetwork) || !object.spec.hostNetwork",
    "!has(object.spec.hostPID) || !object.spec.hostPID",
    "!has(object.spec.hostIPC) || !object.spec.hostIPC",
    "object.spec.containers.all(c, !has(c.securityContext) || !has(c.securityContext.privileged) || !c.securityContext.privileged)",
    "object.spec.containers.all(c, !has(c.securityContext) || !has(c.securityContext.runAsNonRoot) || c.securityContext.runAsNonRoot)",
    "object.spec.containers.all(c, !has(c.securityContext) || !has(c.securityContext.procMount) || c.securityContext.procMount == 'Default')",
    "object.spec.containers.all(c, !has(c.ports) || c.ports.all(p, !has(p.hostPort) || p.hostPort == 0))",
    "object.spec.containers.all(c, !has(c.securityContext) || !has(c.securityContext.capabilities) || !has(c.securityContext.capabilities.add) || c.securityContext.capabilities.add.all(a, a in ['NET_BIND_SERVICE', 'CHOWN']))",
    "object.spec.containers.all(c, c.image.startsWith('registry.example.com/'))",
    "object.spec.containers.all(c, !c.image.endsWith(':latest'))",
    "!has(object.spec.volumes) || object.spec.volumes.all(v, !has(v.hostPath))",
    "!has(object.spec.securityContext) || !has(object.spec.securityContext.sysctls) || object.spec.securityContext.sysctls.all(s, s.name in ['net.ipv4.ping_group_range'])",
    "!has(object.spec.securityContext) || !has(object.spec.securityContext.seccompProfile) || object.spec.securityContext.seccompProfile.type in ['RuntimeDefault', 'Localhost']",
    "object.spec.containers.all(c, has(c.resources) && has(c.resources.limits))",
    "has(object.metadata.labels) && 'team' in object.metadata.labels",
    "object.spec.containers.all(c, quantity(c.resources.limits.memory).isLessThan(quantity('2Gi')))",
];

/// A rule about params, and one that is not.
const WITH_PARAMS: [&str; 2] = [
    "object.spec.containers.size() <= int(params.data.most)",
    "object.spec.containers.all(c, c.image.startsWith('registry.example.com/'))",
];

fn pod() -> Json {
    let containers: Vec<Json> = (0..3)
        .map(|n| {
            json!({
                "name": format!("c{n}"), "image": "registry.example.com/web:1.2.3",
                "ports": [{"containerPort": 8080}],
                "resources": {"limits": {"cpu": "500m", "memory": "256Mi"}},
                "securityContext": {"privileged": false, "runAsNonRoot": true, "capabilities": {"drop": ["ALL"]}},
            })
        })
        .collect();
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": "web", "namespace": "default", "labels": {"team": "web"}},
        "spec": {"containers": containers, "volumes": [{"name": "tmp", "emptyDir": {}}]},
    })
}

/// A request as it is read from a review.
fn request(arena: &Arena) -> AdmissionRequest<'_> {
    let request = json!({
        "uid": "1", "operation": "CREATE", "name": "web", "namespace": "default",
        "kind": {"group": "", "version": "v1", "kind": "Pod"},
        "resource": {"group": "", "version": "v1", "resource": "pods"},
        "userInfo": {"username": "ada", "groups": ["developers"]},
        "object": pod(),
    });
    let text = arena.bump().alloc_str(&request.to_string());
    let request = read_value(text.as_bytes(), arena).expect("JSON");
    AdmissionRequest::read(request, arena).expect("a request")
}

fn param(name: &str) -> Json {
    json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": "default"}, "data": {"most": "5"},
    })
}

fn policy(name: &str, with_params: bool, rules: &[&str]) -> Json {
    let rules = rules.iter().map(|rule| json!({"expression": rule}));
    let kind = json!({"apiVersion": "v1", "kind": "ConfigMap"});
    json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": name},
        "spec": {
            "paramKind": with_params.then_some(kind),
            "matchConstraints": {"resourceRules": [
                {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE", "UPDATE"], "resources": ["pods"]}
            ]},
            "validations": Vec::from_iter(rules),
        },
    })
}

fn binding(name: &str, policy: &str, param: Option<&str>) -> Json {
    let selection = param.map(|name| json!({"name": name, "parameterNotFoundAction": "Deny"}));
    json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": name},
        "spec": {"policyName": policy, "validationActions": ["Deny"], "paramRef": selection},
    })
}

fn index(objects: Vec<Json>) -> PolicyIndex {
    let environments = EnvSet::new(Server::default()).expect("environments");
    let mut index = PolicyIndex::new(environments.stored_expressions());
    let namespace =
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default"}});
    for object in std::iter::once(namespace).chain(objects) {
        index.apply(object).expect("an object of its kind");
    }
    index
}

/// Policies with these rules, each bound once.
fn bound(policies: &[(&str, &[&str])]) -> Snapshot {
    let objects = policies
        .iter()
        .flat_map(|(name, rules)| [policy(name, false, rules), binding(name, name, None)]);
    index(objects.collect()).snapshot()
}

/// One policy, bound so many times, each time with a param of its own.
fn bound_with_params(bindings: usize) -> Snapshot {
    let mut objects = vec![policy("p", true, &WITH_PARAMS)];
    for n in 0..bindings {
        let name = format!("b{n}");
        objects.push(binding(&name, "p", Some(&name)));
        objects.push(param(&name));
    }
    index(objects).snapshot()
}

/// The same rules and params as kube-cel has them.
struct Peer {
    rules: Vec<Result<CompiledVapExpression, VapError>>,
    /// One for each param.
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
    // Environments are made once a process.
    drop(bound(&[("p", ten)]));
    let (mut kept, mut kept_by_peer) = (None, None);
    let ours = allocation_counter::measure(|| {
        let names: Vec<String> = (0..1_000).map(|n| format!("p{n}")).collect();
        let objects = names.iter().map(|name| policy(name, false, ten));
        kept = Some(index(objects.collect()));
    });
    let theirs = allocation_counter::measure(|| {
        kept_by_peer = Some(Vec::from_iter((0..1_000).map(|_| compiled_by_peer(ten))));
    });
    println!(
        "memory of 1,000 policies with 10 rules each: gavel {} KB, at most {} KB while compiling; kube-cel {} KB",
        ours.bytes_current / 1024,
        ours.bytes_max / 1024,
        theirs.bytes_current / 1024,
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
    let names: Vec<String> = (0..16).map(|n| format!("pod-security-{n}")).collect();
    let rules = POD_SECURITY.each_ref().map(std::slice::from_ref);
    let names = names.iter().map(String::as_str);
    let sixteen: Vec<(&str, &[&str])> = names.zip(rules).collect();
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
            bound(&sixteen),
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
        // A thread keeps memory from one decision to the next.
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

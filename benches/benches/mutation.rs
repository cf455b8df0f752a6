//! Mutating policies on a Pod of 4 KB: a JSON patch, an apply configuration, and a Pod that no policy matches.
//!
//! If `GAVEL_ORACLE` is the path of the program that evaluates with Kubernetes' own code, the time of Kubernetes is printed too. It is the
//! mean time of a mutation minus the mean time of a request that the policy does not match.
#![expect(
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::print_stdout,
    reason = "a benchmark"
)]

use std::hint::black_box;
use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use criterion::{Criterion, criterion_group, criterion_main};
use gavel_engine::value::Arena;
use gavel_libraries::{EnvSet, Server};
use gavel_policy::mutating::{ObjectSchemas, mutate};
use gavel_policy::{AdmissionRequest, Namespace, Options, PolicyIndex};
use serde_json::{Value as Json, json};

const PATCH: &str = "[JSONPatch{op: 'add', path: '/metadata/labels/' + jsonpatch.escapeKey('example.com/team'), value: 'a'}, \
    JSONPatch{op: 'replace', path: '/spec/containers/0/image', value: 'registry.example.com/' + object.spec.containers[0].image}]";
const CONFIGURATION: &str = "Object{spec: Object.spec{containers: object.spec.containers.map(c, \
    Object.spec.containers{name: c.name, env: [Object.spec.containers.env{name: 'REGION', value: 'eu'}]})}}";

fn pod() -> Json {
    let container = |n: usize| {
        let env = |m: usize| json!({"name": format!("VARIABLE_{m}"), "value": format!("the value of variable {m}")});
        json!({
            "name": format!("container-{n}"), "image": format!("registry.example.com/team/service-{n}:1.{n}.0"),
            "env": (0..8).map(env).collect::<Vec<_>>(),
            "ports": [{"containerPort": 8080 + n, "protocol": "TCP", "name": "http"}],
            "resources": {"limits": {"cpu": "1", "memory": "512Mi"}, "requests": {"cpu": "100m", "memory": "128Mi"}},
            "livenessProbe": {"httpGet": {"path": "/healthz", "port": "http", "scheme": "HTTP"}, "periodSeconds": 10},
            "securityContext": {"runAsNonRoot": true, "allowPrivilegeEscalation": false, "capabilities": {"drop": ["ALL"]}},
            "volumeMounts": [{"name": "config", "mountPath": "/etc/config"}],
        })
    };
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": "web", "namespace": "default", "labels": {"app": "web", "tier": "front"}},
        "spec": {"containers": (0..4).map(container).collect::<Vec<_>>(), "volumes": [{"name": "config", "configMap": {"name": "web"}}]},
    })
}

fn policy(patch_type: &str, expression: &str, resource: &str) -> [Json; 2] {
    let member = if patch_type == "JSONPatch" {
        "jsonPatch"
    } else {
        "applyConfiguration"
    };
    let version = "admissionregistration.k8s.io/v1";
    [
        json!({"apiVersion": version, "kind": "MutatingAdmissionPolicy", "metadata": {"name": "p"}, "spec": {
            "reinvocationPolicy": "Never",
            "matchConstraints": {"resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": [resource]}]},
            "mutations": [{"patchType": patch_type, member: {"expression": expression}}],
        }}),
        json!({"apiVersion": version, "kind": "MutatingAdmissionPolicyBinding", "metadata": {"name": "b"}, "spec": {"policyName": "p"}}),
    ]
}

fn request() -> Json {
    let kind = json!({"group": "", "version": "v1", "kind": "Pod"});
    let resource = json!({"group": "", "version": "v1", "resource": "pods"});
    json!({"uid": "u", "operation": "CREATE", "kind": kind, "requestKind": kind, "resource": resource, "requestResource": resource,
        "name": "web", "namespace": "default", "userInfo": {"username": "me"}, "object": pod()})
}

fn mutations(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("mutation");
    for (name, patch_type, expression, resource) in [
        ("json patch", "JSONPatch", PATCH, "pods"),
        ("configuration", "ApplyConfiguration", CONFIGURATION, "pods"),
        ("no policy matches", "JSONPatch", PATCH, "services"),
    ] {
        let policies = policy(patch_type, expression, resource);
        let mut index = PolicyIndex::new(&EnvSet::new(Server::default()).unwrap());
        for object in &policies {
            index.apply(object.clone()).unwrap();
        }
        let namespace = json!({"metadata": {"name": "default"}});
        index.insert_namespace(Arc::new(Namespace::from_json(&namespace).unwrap()));
        let snapshot = index.snapshot();
        let schemas = ObjectSchemas::new(Server::default());
        let (review, options, arena) = (request(), Options::default(), Arena::new());
        let read = AdmissionRequest::read((&review).into(), &arena).unwrap();
        let run = || mutate(&snapshot, black_box(&read), &schemas, &options);
        assert_eq!(run().status, None);
        assert_eq!(run().object.is_some(), resource == "pods");
        group.bench_function(name, |bencher| bencher.iter(run));
        if resource == "pods" {
            kubernetes(name, &policies, &review);
        }
    }
    group.finish();
}

/// Prints the time that Kubernetes takes, if `GAVEL_ORACLE` is set.
fn kubernetes(name: &str, [policy, binding]: &[Json; 2], request: &Json) {
    let Ok(oracle) = std::env::var("GAVEL_ORACLE") else {
        return;
    };
    const TIMES: u32 = 2000;
    let mut other = policy.clone();
    *other
        .pointer_mut("/spec/matchConstraints/resourceRules/0/resources")
        .unwrap() = json!(["services"]);
    let time = |policy: &Json| -> Duration {
        let question = json!({"id": 1, "op": "map", "policy": policy, "bindings": [binding], "request": request});
        let text = format!("{question}\n").repeat(TIMES as usize);
        let mut child = Command::new(&oracle)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        // The first batch of questions is not timed, because it starts the program and compiles the policy.
        input.write_all(text.as_bytes()).unwrap();
        let began = Instant::now();
        input.write_all(text.as_bytes()).unwrap();
        drop(input);
        child.wait().unwrap();
        began.elapsed()
    };
    let took = time(policy).saturating_sub(time(&other)) / TIMES;
    println!("mutation/{name}: Kubernetes takes {took:?}");
}

criterion_group!(benches, mutations);
criterion_main!(benches);

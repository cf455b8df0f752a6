//! Admission policies: requests decided by one rule, by ten, by sixteen policies for pods, and by one policy with many
//! bindings and params. Memory of a thousand policies is told before the times.
#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a benchmark stops where its inputs are not right, and prints what it counts"
)]

use std::hint::black_box;
use std::sync::Arc;

use criterion::{Criterion, criterion_group, criterion_main};
use gavel_libraries::authorizer::{Authorizer, Rbac};
use gavel_libraries::{EnvSet, KubeVersion};
use gavel_policy::{AdmissionRequest, Options, PolicyIndex, Snapshot, dispatch};
use serde_json::{Value as Json, json};

/// What Kubernetes' pod security standards ask of pods, as policies write it.
const POD_SECURITY: [&str; 16] = [
    "!object.spec.?hostNetwork.orValue(false)",
    "!object.spec.?hostPID.orValue(false)",
    "!object.spec.?hostIPC.orValue(false)",
    "object.spec.containers.all(c, !c.?securityContext.?privileged.orValue(false))",
    "object.spec.containers.all(c, c.?securityContext.?runAsNonRoot.orValue(true))",
    "object.spec.containers.all(c, !has(c.securityContext) || !has(c.securityContext.procMount) || c.securityContext.procMount == 'Default')",
    "object.spec.containers.all(c, c.?ports.orValue([]).all(p, p.?hostPort.orValue(0) == 0))",
    "object.spec.containers.all(c, c.?securityContext.?capabilities.?add.orValue([]).all(a, a in ['NET_BIND_SERVICE', 'CHOWN']))",
    "object.spec.containers.all(c, c.image.startsWith('registry.example.com/'))",
    "object.spec.containers.all(c, !c.image.endsWith(':latest'))",
    "object.spec.?volumes.orValue([]).all(v, !has(v.hostPath))",
    "object.spec.?securityContext.?sysctls.orValue([]).all(s, s.name in ['net.ipv4.ping_group_range'])",
    "object.spec.?securityContext.?seccompProfile.?type.orValue('RuntimeDefault') in ['RuntimeDefault', 'Localhost']",
    "object.spec.containers.all(c, has(c.resources) && has(c.resources.limits))",
    "object.metadata.?labels['team'].hasValue()",
    "object.spec.containers.all(c, quantity(c.resources.limits.memory).isLessThan(quantity('2Gi')))",
];

fn pod() -> AdmissionRequest {
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
    let request = json!({
        "uid": "1", "operation": "CREATE", "name": "web", "namespace": "default",
        "kind": {"group": "", "version": "v1", "kind": "Pod"},
        "resource": {"group": "", "version": "v1", "resource": "pods"},
        "userInfo": {"username": "ada", "groups": ["developers"]},
        "object": {
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": "web", "namespace": "default", "labels": {"team": "web"}},
            "spec": {"containers": containers, "volumes": [{"name": "tmp", "emptyDir": {}}]},
        },
    });
    AdmissionRequest::from_json(request).expect("a request")
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
    let environments = EnvSet::new(KubeVersion::default()).expect("environments");
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

/// One policy with a rule about params and one that is not, bound so many times.
fn bound_with_params(bindings: usize) -> Snapshot {
    let rules = [
        "object.spec.containers.size() <= int(params.data.most)",
        "object.spec.containers.all(c, c.image.startsWith('registry.example.com/'))",
    ];
    let mut objects = vec![policy("p", true, &rules)];
    for n in 0..bindings {
        let name = format!("b{n}");
        objects.push(binding(&name, "p", Some(&name)));
        objects.push(json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": name, "namespace": "default"}, "data": {"most": "5"},
        }));
    }
    index(objects).snapshot()
}

fn policies(criterion: &mut Criterion) {
    let request = pod();
    let authorizer: Arc<dyn Authorizer> = Arc::new(Rbac::default());
    let allowed = |snapshot: &Snapshot| {
        let decision = dispatch(
            snapshot,
            black_box(&request),
            &authorizer,
            &Options::default(),
        );
        assert_eq!(decision.denials, []);
    };

    let ten: Vec<&str> = POD_SECURITY.into_iter().take(10).collect();
    // Environments are made once a process.
    drop(bound(&[("p", &ten)]));
    let mut kept = None;
    let memory = allocation_counter::measure(|| {
        let names: Vec<String> = (0..1_000).map(|n| format!("p{n}")).collect();
        let objects = names.iter().map(|name| policy(name, false, &ten));
        kept = Some(index(objects.collect()));
    });
    println!(
        "memory of 1,000 policies with 10 rules each: {} KB, at most {} KB while compiling",
        memory.bytes_current / 1024,
        memory.bytes_max / 1024
    );
    drop(kept);

    let names: Vec<String> = (0..16).map(|n| format!("pod-security-{n}")).collect();
    let rules: Vec<[&str; 1]> = POD_SECURITY.into_iter().map(|rule| [rule]).collect();
    let sixteen: Vec<(&str, &[&str])> = names
        .iter()
        .zip(&rules)
        .map(|(name, rules)| (name.as_str(), rules.as_slice()))
        .collect();
    for (name, snapshot) in [
        (
            "one rule",
            bound(&[("p", &["object.spec.containers.size() <= 5"])]),
        ),
        ("10 rules", bound(&[("p", &ten)])),
        ("16 pod security policies", bound(&sixteen)),
        ("1 binding with a param", bound_with_params(1)),
        ("10 bindings with params", bound_with_params(10)),
        ("100 bindings with params", bound_with_params(100)),
        ("1,000 bindings with params", bound_with_params(1_000)),
    ] {
        criterion.bench_function(name, |bencher| {
            bencher.iter(|| allowed(black_box(&snapshot)))
        });
    }
}

criterion_group!(benches, policies);
criterion_main!(benches);

//! Policies for pods, a pod, and a request to create it.

use std::sync::Arc;

use gavel_engine::value::Arena;
use gavel_libraries::{EnvSet, Server};
use gavel_policy::{AdmissionRequest, KeptObject, PolicyIndex, Snapshot};
use gavel_schema::read_value;
use serde_json::{Value as Json, json};

/// Rules of Kubernetes' pod security standards, and other frequent rules for pods. Both Gavel and kube-cel can evaluate them.
pub const POD_SECURITY: [&str; 16] = [
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

/// Two rules. The first rule uses params, the second does not.
pub const WITH_PARAMS: [&str; 2] = [
    "object.spec.containers.size() <= int(params.data.most)",
    "object.spec.containers.all(c, c.image.startsWith('registry.example.com/'))",
];

/// A pod that violates none of the rules.
pub fn pod() -> Json {
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

/// A request to create the pod, parsed into an arena as reviews are parsed.
pub fn request(arena: &Arena) -> AdmissionRequest<'_> {
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

/// A ConfigMap that serves as a param.
pub fn param(name: &str) -> Json {
    json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": "default"}, "data": {"most": "5"},
    })
}

/// A policy with the given rules.
pub fn policy(name: &str, with_params: bool, rules: &[&str]) -> Json {
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

/// A binding of a policy.
pub fn binding(name: &str, policy: &str, param: Option<&str>) -> Json {
    let selection = param.map(|name| json!({"name": name, "parameterNotFoundAction": "Deny"}));
    json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": name},
        "spec": {"policyName": policy, "validationActions": ["Deny"], "paramRef": selection},
    })
}

/// An index with the given objects and the namespace of the pod.
pub fn index(objects: Vec<Json>) -> PolicyIndex {
    let environments = EnvSet::new(Server::default()).expect("environments");
    let mut index = PolicyIndex::new(&environments);
    let namespace =
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default"}});
    for object in std::iter::once(namespace).chain(objects) {
        index.apply(object).expect("an object of its kind");
    }
    index
}

/// A snapshot of policies with the given names and rules, and a binding for each policy.
pub fn bound(policies: &[(&str, &[&str])]) -> Snapshot {
    let objects = policies
        .iter()
        .flat_map(|(name, rules)| [policy(name, false, rules), binding(name, name, None)]);
    index(objects.collect()).snapshot()
}

/// A snapshot of one policy with the given number of bindings. Each binding has its own param.
pub fn bound_with_params(bindings: usize) -> Snapshot {
    let names: Vec<String> = (0..bindings).map(|n| format!("b{n}")).collect();
    let policy = std::iter::once(policy("p", true, &WITH_PARAMS));
    let bindings = names.iter().map(|name| binding(name, "p", Some(name)));
    let mut index = index(policy.chain(bindings).collect());
    for name in &names {
        // A server stores params in this form.
        index.insert_param(Arc::new(KeptObject::compact(&param(name))));
    }
    index.snapshot()
}

/// A snapshot of sixteen policies, one for each rule of [`POD_SECURITY`].
pub fn one_by_one() -> Snapshot {
    let names: Vec<String> = (0..16).map(|n| format!("pod-security-{n}")).collect();
    let names = names.iter().map(String::as_str);
    let rules = POD_SECURITY.each_ref().map(std::slice::from_ref);
    bound(&Vec::from_iter(names.zip(rules.iter().copied())))
}

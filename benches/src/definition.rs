//! A CustomResourceDefinition with 400 rules, and custom resources of this definition.

use gavel_engine::value::Json;
use serde_json::json;

/// The number of sections in a definition's `spec`. Each section has ten rules.
const SECTIONS: usize = 40;

/// Whether the sections of a definition are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sections {
    /// All sections are the same, like the schemas of pods and containers that real definitions repeat.
    Alike,
    /// The rules of different sections are different.
    Different,
}

/// Six of the ten rules of a section, in the style of frequent rules: bounds, names, and relations between fields. The fields of the
/// section have the other four.
const RULES: [(&str, &str); 6] = [
    (
        "self.minReplicas <= self.replicas",
        "replicas must be at least minReplicas",
    ),
    (
        "self.replicas <= 100 || self.tier == 'large'",
        "more than 100 replicas need the tier large",
    ),
    (
        "!has(self.schedule) || self.schedule.size() <= 64",
        "the schedule must be short",
    ),
    (
        "self.ports.all(p, p.port > 0 && p.port < 65536)",
        "ports must be from 1 to 65535",
    ),
    (
        "self.ports.exists(p, p.name == 'http')",
        "a port must be named http",
    ),
    (
        "self.labels.all(k, k.startsWith('app-') && self.labels[k] != '')",
        "labels must start with app-",
    ),
];

/// The schema of the only version of a definition.
pub fn schema(sections: Sections) -> Json {
    let sections = (0..SECTIONS).map(|n| (format!("section{n}"), section(n, sections)));
    json!({
        "type": "object",
        "properties": {"spec": {"type": "object", "properties": sections.collect::<serde_json::Map<_, _>>()}},
    })
}

fn section(n: usize, sections: Sections) -> Json {
    let rule = |(rule, message): &(&str, &str)| {
        let rule = match sections {
            Sections::Alike => (*rule).to_owned(),
            Sections::Different => format!("({rule}) || {n} < 0"),
        };
        json!({"rule": rule, "message": message})
    };
    let rules = |rules: &[(&str, &str)]| Json::Array(rules.iter().map(rule).collect());
    json!({
        "type": "object",
        "required": ["replicas", "minReplicas", "ports", "labels"],
        "properties": {
            "replicas": {"type": "integer", "x-kubernetes-validations": rules(&[("self >= 0", "must not be negative")])},
            "minReplicas": {"type": "integer", "x-kubernetes-validations": rules(&[("self >= 0", "must not be negative")])},
            "tier": {"type": "string", "maxLength": 16},
            "schedule": {"type": "string", "maxLength": 256},
            "ports": {
                "type": "array", "maxItems": 100,
                "x-kubernetes-validations": rules(&[("self.size() >= 1", "a port is needed")]),
                "items": {
                    "type": "object",
                    "required": ["name", "port"],
                    "properties": {"name": {"type": "string", "maxLength": 63}, "port": {"type": "integer"}},
                    "x-kubernetes-validations": rules(&[("self.name != 'admin' || self.port > 1023", "admin must not be privileged")]),
                },
            },
            "labels": {
                "type": "object", "maxProperties": 20,
                "additionalProperties": {"type": "string", "maxLength": 63},
            },
        },
        "x-kubernetes-validations": rules(&RULES),
    })
}

/// A definition with the given schema.
pub fn definition(schema: &Json) -> Json {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "systems.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "systems", "singular": "system", "kind": "System", "listKind": "SystemList"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}}],
        },
    })
}

/// A custom resource with the given number of sections, and of ports in each section. It violates no rule.
pub fn object(sections: usize, ports: usize) -> Json {
    let ports: Vec<_> = (0..ports)
        .map(|n| match n {
            0 => json!({"name": "http", "port": 80}),
            n => json!({"name": format!("port-{n}"), "port": n.saturating_add(1024)}),
        })
        .collect();
    let section = json!({
        "replicas": 3, "minReplicas": 1, "tier": "small", "schedule": "0 * * * *", "ports": ports,
        "labels": {"app-name": "a", "app-part": "b", "app-tier": "c"},
    });
    let sections = (0..sections).map(|n| (format!("section{n}"), section.clone()));
    json!({
        "apiVersion": "example.com/v1",
        "kind": "System",
        "metadata": {"name": "a", "namespace": "default"},
        "spec": sections.collect::<serde_json::Map<_, _>>(),
    })
}

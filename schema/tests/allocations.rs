//! Tests that rules on typed data are evaluated without allocations.
#![expect(clippy::unwrap_used, reason = "a test")]

use gavel_engine::env::Env;
use gavel_engine::program::{Activation, EvalOptions};
use gavel_engine::syntax::{Macros, STANDARD};
use gavel_engine::value::Arena;
use gavel_schema::cel::CelSchema;
use serde_json::{Value as Json, json};

fn schema(json: Json) -> CelSchema {
    CelSchema::new(&serde_json::from_value(json).unwrap(), false)
}

#[test]
fn rules_on_typed_data_allocate_nothing() {
    let text = json!({"type": "string"});
    let set = json!({"type": "array", "items": text, "x-kubernetes-list-type": "set"});
    let port = json!({"type": "object", "properties": {"name": text, "port": {"type": "integer"}}});
    let schema = schema(json!({"type": "object", "properties": {
        "a-b": text,
        "start": {"type": "string", "format": "date-time"},
        "end": {"type": "string", "format": "date-time"},
        "tags": set,
        "others": set,
        "labels": {"type": "object", "additionalProperties": text},
        "ports": {"type": "array", "items": port, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]},
    }}));
    let object = json!({
        "a-b": "x",
        "start": "2026-01-31T12:00:00Z",
        "end": "2026-01-31T13:00:00+01:00",
        "tags": ["a", "b"],
        "others": ["b", "a"],
        "labels": {"app": "web"},
        "ports": [{"name": "http", "port": 80}, {"name": "https", "port": 443}],
    });
    let mut builder = Env::builder()
        .macros(Macros::new(&[STANDARD]))
        .provider(schema.provider(true))
        .variable("self", schema.declared_type().unwrap());
    for table in gavel_engine::stdlib::TABLES {
        builder = builder.overloads(table);
    }
    let env = builder.build().unwrap();
    for rule in [
        "self.a__dash__b == 'x' && has(self.labels.app) && self.labels['app'] != 'x'",
        "self.start <= self.end",
        "self.tags == self.others && 'b' in self.tags",
        "self.ports.all(p, p.port > 0 && p.name.startsWith('http')) && self.ports == self.ports",
        "self.labels.all(key, key != '' && self.labels[key] == 'web')",
    ] {
        let program = env.plan(&env.compile(rule).unwrap()).unwrap();
        let arena = Arena::new();
        let run = || {
            let mut activation = Activation::new();
            activation.bind("self", schema.view(&object));
            program
                .eval(&activation, &arena, &EvalOptions::default())
                .result
        };
        assert_eq!(run().unwrap().as_bool(), Some(true), "{rule}");
        let allocations = allocation_counter::measure(|| drop(run()));
        assert_eq!(allocations.count_total, 0, "{rule}");
    }
}

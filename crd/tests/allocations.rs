//! Counts the allocations of validating an object.

use gavel_crd::CompiledCrd;
use gavel_crd::definition::Definition;
use gavel_crd::resource::COST_BUDGET;
use serde_json::json;

#[test]
fn an_object_in_which_nothing_is_wrong_allocates_nothing() {
    let text = json!({"type": "string", "maxLength": 63});
    let port = json!({
        "type": "object",
        "required": ["name", "port"],
        "properties": {"name": text, "port": {"type": "integer", "minimum": 1}},
        "x-kubernetes-validations": [{"rule": "self.name != 'admin' || self.port > 1023"}],
    });
    let definition = Definition::read(&json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "things.example.com"},
        "spec": {
            "group": "example.com",
            "names": {"plural": "things", "kind": "Thing"},
            "scope": "Namespaced",
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
                "type": "object",
                "properties": {"spec": {
                    "type": "object",
                    "properties": {
                        "ports": {"type": "array", "items": port},
                        "labels": {"type": "object", "additionalProperties": text},
                    },
                    "x-kubernetes-validations": [
                        {"rule": "self.ports.all(p, p.port < 65536) && self.ports.exists(p, p.name == 'http')"},
                        {"rule": "self.labels.all(k, k.startsWith('app-') && self.labels[k] != '')"},
                    ],
                }},
            }}}],
        },
    }));
    let crd = CompiledCrd::compile(&definition.unwrap()).unwrap();
    let object = json!({
        "apiVersion": "example.com/v1",
        "kind": "Thing",
        "metadata": {"name": "a", "namespace": "default", "labels": {"app": "web"}},
        "spec": {"ports": [{"name": "http", "port": 80}, {"name": "admin", "port": 8080}], "labels": {"app-name": "a"}},
    });
    let is_valid = || {
        crd.validate("v1", &object, None, COST_BUDGET)
            .unwrap()
            .is_valid()
    };
    assert!(is_valid());
    let allocations = allocation_counter::measure(|| {
        is_valid();
    });
    assert_eq!(allocations.count_total, 0);
}

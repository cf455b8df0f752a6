//! Compiles a CustomResourceDefinition once, then validates a new object and an update of it.

use std::error::Error;

use gavel::CompiledCrd;
use gavel::crd::definition::Definition;
use serde_json::json;

fn main() -> Result<(), Box<dyn Error>> {
    let definition = Definition::read(&json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "shops.example.com"},
        "spec": {
            "group": "example.com",
            "names": {"kind": "Shop", "listKind": "ShopList", "plural": "shops", "singular": "shop"},
            "scope": "Namespaced",
            "versions": [{
                "name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {
                    "type": "object",
                    "properties": {"spec": {
                        "type": "object",
                        "properties": {"replicas": {"type": "integer"}, "max": {"type": "integer"}},
                        "x-kubernetes-validations": [
                            {"rule": "self.replicas <= self.max", "message": "replicas must not exceed max"},
                            {"rule": "self.max >= oldSelf.max", "message": "max must not shrink"},
                        ],
                    }},
                }},
            }],
        },
    }))?;
    let compiled = CompiledCrd::compile(&definition)?;
    let shop = |replicas: u32, max: u32| {
        json!({
            "apiVersion": "example.com/v1", "kind": "Shop", "metadata": {"name": "main", "namespace": "default"},
            "spec": {"replicas": replicas, "max": max},
        })
    };

    let budget = gavel::crd::resource::COST_BUDGET;
    let created = compiled.validate("v1", &shop(7, 5), None, budget)?;
    let updated = compiled.validate("v1", &shop(2, 4), Some(&shop(2, 5)), budget)?;
    for (what, outcome) in [("create", &created), ("update", &updated)] {
        for error in outcome.errors() {
            println!("{what}: {error}");
        }
    }
    assert!(!created.is_valid() && !updated.is_valid());
    Ok(())
}

#[cfg(test)]
#[test]
fn it_runs() {
    main().unwrap();
}

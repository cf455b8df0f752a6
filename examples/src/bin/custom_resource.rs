//! Compiles a CustomResourceDefinition once, then validates a new object and an update of it.

use std::error::Error;

use gavel::crd::definition::Definition;
use gavel::crd::rule::RuleEnvs;
use gavel::{CompiledCrd, Server};
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
    let server = Server::default();
    assert_eq!(
        definition.validate(&RuleEnvs::new(server.compatible())?),
        []
    );
    let compiled = CompiledCrd::compile(&definition)?;
    let shop = |replicas: u32, max: u32| {
        json!({
            "apiVersion": "example.com/v1", "kind": "Shop", "metadata": {"name": "main", "namespace": "default"},
            "spec": {"replicas": replicas, "max": max},
        })
    };

    // On an update, both objects have the version of the stored object.
    let stored = |replicas: u32, max: u32| {
        let mut shop = shop(replicas, max);
        shop["metadata"]["resourceVersion"] = json!("1");
        shop
    };

    let budget = gavel::crd::resource::COST_BUDGET;
    let created = compiled.validate("v1", &shop(7, 5), None, budget)?;
    let updated = compiled.validate("v1", &stored(2, 4), Some(&stored(2, 5)), budget)?;
    for (outcome, expected) in [
        (
            &created,
            "spec: Invalid value: replicas must not exceed max",
        ),
        (&updated, "spec: Invalid value: max must not shrink"),
    ] {
        let errors: Vec<String> = outcome.errors().map(ToString::to_string).collect();
        println!("{}", errors.join("\n"));
        assert_eq!(errors, [expected]);
    }
    Ok(())
}

#[cfg(test)]
#[test]
fn it_runs() {
    main().unwrap();
}

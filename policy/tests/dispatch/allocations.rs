//! Tests how many heap allocations a decision makes. Everything that does not depend on the request must be computed beforehand.

use super::*;

/// The number of allocations of a decision about a pod. Each of the `resources` has one policy with params, and each policy has `bindings`
/// bindings.
fn allocations(resources: &[&str], bindings: usize) -> u64 {
    let selection = json!({"paramRef": {"name": "five", "parameterNotFoundAction": "Deny"}});
    let mut objects = vec![config_map("five", 5)];
    for (n, resource) in resources.iter().enumerate() {
        let mut spec = validations(&["object.replicas <= params.most", "request.name == 'web'"]);
        spec["paramKind"] = json!({"apiVersion": "v1", "kind": "ConfigMap"});
        spec["matchConstraints"] = json!({"resourceRules": [
            {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": [resource]}
        ]});
        let name = format!("p{n}");
        objects.push(policy(&name, "Fail", spec));
        let names = (0..bindings).map(|binding| format!("{name}-{binding}"));
        objects.extend(names.map(|each| binding(&each, &name, &["Deny"], selection.clone())));
    }
    let snapshot = filled(&objects).snapshot();
    let arena = Arena::new();
    let request = request(&arena);
    let decide = || {
        let decision = dispatch(&snapshot, &request, &Options::default());
        assert!(decision.allowed());
    };
    // A thread keeps memory from one decision to the next. It is enough after a few decisions.
    (0..3).for_each(|_| decide());
    allocation_counter::measure(decide).count_total
}

#[test]
fn one_more_binding_or_policy_takes_none() {
    let one = allocations(&["pods"], 1);
    assert!(one <= 2, "{one}");
    assert_eq!(allocations(&["pods"], 101), one);
    assert_eq!(allocations(&["pods"; 101], 1), one);
}

#[test]
fn policies_about_other_resources_take_none() {
    let mut resources = vec!["services"; 100];
    resources.push("pods");
    assert_eq!(allocations(&resources, 1), allocations(&["pods"], 1));
}

//! Events of files and of a cluster, through one store.
#![cfg(test)]

use gavel_libraries::Server;
use gavel_state::{Event, Object, ObjectKey, Origin, Store};
use serde_json::{Value as Json, json};

fn policy(name: &str, expression: &str) -> Json {
    json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": name},
        "spec": {
            "matchConstraints": {"resourceRules": [
                {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["pods"]},
            ]},
            "validations": [{"expression": expression}],
        },
    })
}

fn binding(name: &str) -> Json {
    json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": name},
        "spec": {"policyName": name, "validationActions": ["Deny"]},
    })
}

fn cluster() -> Origin {
    Origin::new("cluster")
}

fn applied(object: Json) -> Event {
    Event::Applied(Object::sent(cluster(), object))
}

fn expression(store: &mut Store, name: &str) -> Option<String> {
    let state = store.publish();
    let policies: Vec<(String, String)> = state
        .policies()
        .map(|policy| {
            let validation = &policy.policy().spec.validations[0];
            (policy.name().to_owned(), validation.expression.clone())
        })
        .collect();
    let mut found = policies.into_iter().filter(|(known, _)| known == name);
    found.next().map(|(_, expression)| expression)
}

#[test]
fn the_last_good_version_stays_until_a_better_one_or_a_deletion() {
    let mut store = Store::new(Server::default()).unwrap();
    store.handle(applied(policy("a", "true")));
    store.handle(applied(binding("a")));
    assert!(store.publish().problems().is_empty());

    store.handle(applied(policy("a", "<=>")));
    assert_eq!(expression(&mut store, "a").as_deref(), Some("true"));
    let state = store.publish();
    let problem = &state.problems()[0];
    assert!(
        problem.starts_with("cluster: ValidatingAdmissionPolicy \"a\": spec."),
        "{problem}"
    );
    assert_eq!(state.compile_errors()["a"], 1);

    store.handle(applied(policy("a", "1 > 0")));
    assert_eq!(expression(&mut store, "a").as_deref(), Some("1 > 0"));
    assert!(store.publish().problems().is_empty());

    let key = ObjectKey {
        group: "admissionregistration.k8s.io".to_owned(),
        kind: "ValidatingAdmissionPolicy".to_owned(),
        namespace: String::new(),
        name: "a".to_owned(),
    };
    store.handle(Event::Deleted(cluster(), key));
    assert_eq!(expression(&mut store, "a"), None);
    assert_eq!(store.publish().unseen(), ["binding a names no policy"]);
}

#[test]
fn a_new_policy_that_is_broken_is_not_served() {
    let mut store = Store::new(Server::default()).unwrap();
    store.handle(applied(policy("a", "<=>")));
    assert_eq!(expression(&mut store, "a"), None);
    assert_eq!(store.publish().problems().len(), 1);
}

#[test]
fn origins_replace_only_their_own_objects() {
    let mut store = Store::new(Server::default()).unwrap();
    let file = Origin::new("a.yaml");
    let of_file = |object| Object::sent(file.clone(), object);
    store.handle(applied(policy("cluster", "true")));
    let objects = vec![of_file(policy("a", "true")), of_file(policy("b", "true"))];
    store.handle(Event::ReplacedAll(file.clone(), objects));
    let objects = vec![
        of_file(policy("b", "<=>")),
        of_file(policy("cluster", "false")),
    ];
    store.handle(Event::ReplacedAll(file.clone(), objects));
    assert_eq!(expression(&mut store, "a"), None);
    assert_eq!(expression(&mut store, "b").as_deref(), Some("true"));
    // The name is taken: by the origin that comes first.
    let problems = store.publish().problems().to_vec();
    assert!(
        problems
            .iter()
            .any(|each| each.contains("is defined at a.yaml")),
        "{problems:?}"
    );
    store.handle(Event::ReplacedAll(file.clone(), Vec::new()));
    assert_eq!(expression(&mut store, "cluster").as_deref(), Some("true"));
    assert_eq!(store.origins().collect::<Vec<_>>(), [&cluster()]);
}

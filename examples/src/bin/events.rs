//! Updates the state of policies from events, as a server does. An invalid version of a policy does not replace a valid version.

use std::error::Error;

use gavel::{AdmissionRequest, Arena, Options, Server, Value, dispatch};
use gavel_state::{Event, Object, Origin, State, Store};
use serde_json::{Value as Json, json};

fn policy(expression: &str) -> Json {
    json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": "owner"},
        "spec": {
            "matchConstraints": {"resourceRules": [
                {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]},
            ]},
            "validations": [{"expression": expression}],
        },
    })
}

fn binding() -> Json {
    json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": "owner"},
        "spec": {"policyName": "owner", "validationActions": ["Deny"]},
    })
}

/// Whether a ConfigMap without labels is admitted.
fn admitted(state: &State) -> Result<bool, Box<dyn Error>> {
    let request = json!({
        "uid": "1",
        "operation": "CREATE",
        "kind": {"group": "", "version": "v1", "kind": "ConfigMap"},
        "resource": {"group": "", "version": "v1", "resource": "configmaps"},
        "name": "settings",
        "namespace": "default",
        "userInfo": {"username": "alice"},
        "object": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}},
    });
    let arena = Arena::new();
    let request = AdmissionRequest::read(Value::from(&request), &arena)?;
    Ok(dispatch(&state.snapshot(&request), &request, &Options::default()).allowed())
}

fn main() -> Result<(), Box<dyn Error>> {
    let cluster = Origin::new("cluster");
    let applied = |object| Event::Applied(Object::sent(cluster.clone(), &object));
    let mut store = Store::new(Server::default())?;
    store.handle(applied(policy(
        "has(object.metadata.labels) && 'owner' in object.metadata.labels",
    )));
    store.handle(applied(binding()));
    let state = store.publish();
    assert!(!admitted(&state)?);

    // The new version does not compile. The store reports it, and the last valid version of the policy decides.
    store.handle(applied(policy("object.metadata.labels.owner <=> ''")));
    let state = store.publish();
    assert!(!admitted(&state)?);
    for problem in state.problems() {
        println!("{problem}");
    }
    assert_eq!(state.problems().count(), 1);

    // Requests in flight keep the state with which they began. New requests use the new state.
    store.handle(applied(policy("true")));
    assert!(admitted(&store.publish())?);
    Ok(())
}

#[cfg(test)]
#[test]
fn it_runs() {
    main().unwrap();
}

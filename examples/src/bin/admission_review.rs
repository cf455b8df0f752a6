//! Decides an AdmissionReview with policies, in process.

use std::error::Error;

use gavel::{
    AdmissionRequest, AdmissionResponse, Arena, EnvSet, Options, PolicyIndex, Value, dispatch,
};
use serde_json::json;

fn main() -> Result<(), Box<dyn Error>> {
    let kubernetes = EnvSet::new("1.36".parse()?)?;
    let mut index = PolicyIndex::new(&kubernetes);
    index.apply(json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": "replicas"},
        "spec": {
            "matchConstraints": {"resourceRules": [
                {"apiGroups": ["apps"], "apiVersions": ["v1"], "operations": ["CREATE", "UPDATE"], "resources": ["deployments"]},
            ]},
            "validations": [{"expression": "object.spec.replicas <= 5", "message": "at most 5 replicas"}],
        },
    }))?;
    index.apply(json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": "replicas"},
        "spec": {"policyName": "replicas", "validationActions": ["Deny"]},
    }))?;
    index.apply(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}))?;
    let snapshot = index.snapshot();

    let request = json!({
        "uid": "705ab4f5",
        "operation": "CREATE",
        "kind": {"group": "apps", "version": "v1", "kind": "Deployment"},
        "resource": {"group": "apps", "version": "v1", "resource": "deployments"},
        "name": "web",
        "namespace": "shop",
        "userInfo": {"username": "alice"},
        "object": {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": {"replicas": 7}},
    });
    let arena = Arena::new();
    let request = AdmissionRequest::read(Value::from(&request), &arena)?;
    let decision = dispatch(&snapshot, &request, &Options::default());
    assert!(!decision.allowed());

    let response = AdmissionResponse::from(decision);
    let review =
        serde_json::to_string_pretty(&response.review("admission.k8s.io/v1", request.uid))?;
    println!("{review}");
    Ok(())
}

#[cfg(test)]
#[test]
fn it_runs() {
    main().unwrap();
}

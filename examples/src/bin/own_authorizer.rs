//! Evaluates a policy that uses `authorizer`, with the host's own authorizer.

use std::error::Error;
use std::sync::Arc;

use gavel::authorizer::{Authorizer, AuthorizerAttributes, AuthorizerRequest, Decision, Verdict};
use gavel::{AdmissionRequest, Arena, EnvSet, Options, PolicyIndex, Value, dispatch};
use serde_json::json;

/// Allows only members of the group `breakglass` to `bypass` policies, and allows nothing else.
#[derive(Debug)]
struct BreakGlass;

impl Authorizer for BreakGlass {
    fn authorize(&self, attributes: &AuthorizerAttributes) -> Decision {
        let AuthorizerRequest::Resource(resource) = &attributes.request else {
            return Decision::default();
        };
        let member = attributes
            .user
            .groups
            .iter()
            .any(|group| group == "breakglass");
        if member && attributes.verb == "bypass" && resource.resource == "policies" {
            return Decision {
                verdict: Verdict::Allow,
                reason: "member of breakglass".to_owned(),
                error: None,
            };
        }
        Decision::default()
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let kubernetes = EnvSet::new("1.36".parse()?)?;
    let mut index = PolicyIndex::new(&kubernetes);
    index.apply(json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": "no-latest"},
        "spec": {
            "matchConstraints": {"resourceRules": [
                {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]},
            ]},
            "validations": [{
                "expression": "authorizer.group('').resource('policies').check('bypass').allowed() ||
                    object.spec.containers.all(c, !c.image.endsWith(':latest'))",
                "message": "images must have a fixed version",
            }],
        },
    }))?;
    index.apply(json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": "no-latest"},
        "spec": {"policyName": "no-latest", "validationActions": ["Deny"]},
    }))?;
    index.apply(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}))?;
    let snapshot = index.snapshot();

    let authorizer: Arc<dyn Authorizer> = Arc::new(BreakGlass);
    for (groups, allowed) in [
        (json!(["developers"]), false),
        (json!(["breakglass"]), true),
    ] {
        let request = json!({
            "uid": "1",
            "operation": "CREATE",
            "kind": {"group": "", "version": "v1", "kind": "Pod"},
            "resource": {"group": "", "version": "v1", "resource": "pods"},
            "name": "web",
            "namespace": "shop",
            "userInfo": {"username": "alice", "groups": groups},
            "object": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"},
                       "spec": {"containers": [{"name": "web", "image": "web:latest"}]}},
        });
        let arena = Arena::new();
        let request = AdmissionRequest::read(Value::from(&request), &arena)?;
        let options = Options {
            authorizer: Some(&authorizer),
            ..Options::default()
        };
        let decision = dispatch(&snapshot, &request, &options);
        println!(
            "{groups}: {}",
            if decision.allowed() {
                "allowed"
            } else {
                "denied"
            }
        );
        assert_eq!(decision.allowed(), allowed);
    }
    Ok(())
}

#[cfg(test)]
#[test]
fn it_runs() {
    main().unwrap();
}

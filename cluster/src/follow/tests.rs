use std::convert::Infallible;
use std::sync::atomic::{AtomicU16, Ordering};

use gavel_state::{Object, Origin};
use http::{Request, Response};
use kube::Client;
use kube::client::Body;
use serde_json::json;

use super::*;

/// A client of an API server that serves Secrets, and answers with a status code.
fn client(code: &Arc<AtomicU16>) -> Client {
    let code = Arc::clone(code);
    let service = tower::service_fn(move |_: Request<Body>| {
        let secrets = json!({"name": "secrets", "singularName": "", "namespaced": true, "kind": "Secret", "verbs": []});
        let body = json!({"kind": "APIResourceList", "groupVersion": "v1", "resources": [secrets]});
        let answer = Response::builder().status(code.load(Ordering::Relaxed));
        let answer = answer.body(Body::from(body.to_string().into_bytes()));
        async move { Ok::<_, Infallible>(answer.unwrap()) }
    });
    Client::new(service, "default")
}

/// The events of a policy with params of a kind, and of its binding.
fn policy(kind: &str) -> Vec<KindEvent> {
    let rules = json!([{"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*"]}]);
    let policy = json!({
        "paramKind": {"apiVersion": "v1", "kind": kind},
        "matchConstraints": {"resourceRules": rules},
        "validations": [{"expression": "true"}],
    });
    let binding = json!({"policyName": "p", "validationActions": ["Deny"]});
    let kinds = [
        ("ValidatingAdmissionPolicy", policy),
        ("ValidatingAdmissionPolicyBinding", binding),
    ];
    let event = |(kind, spec)| {
        let object = json!({
            "apiVersion": "admissionregistration.k8s.io/v1", "kind": kind, "metadata": {"name": "p"}, "spec": spec,
        });
        KindEvent {
            kind: "policies".to_owned(),
            event: Event::Applied(Object::sent(Origin::new("policies"), &object)),
        }
    };
    kinds.map(event).into()
}

/// A follower that watches policies.
fn follower(code: &Arc<AtomicU16>, published: watch::Sender<Option<Published>>) -> Follower {
    let api_server = ApiServer {
        client: client(code),
        access: None,
        contact: Arc::default(),
        awaited: Mutex::default(),
    };
    let stores = Stores::new(Server::default(), false).unwrap();
    let (sender, _) = mpsc::channel(MOST);
    let mut follower = Follower::new(Arc::new(api_server), stores, published, sender);
    let policies = resource("", "v1", "Policy", "policies");
    let fixed = (policies, Destination::Both);
    follower.fixed.insert("policies".to_owned(), fixed);
    follower
}

#[tokio::test]
async fn a_failed_look_up_is_repeated_even_if_events_arrive() {
    let code = Arc::new(AtomicU16::new(503));
    let (published, state) = watch::channel(None);
    let mut follower = follower(&code, published);
    follower.take(policy("Secret")).await;
    assert!(state.borrow().is_none());
    let ended = follower.lookups.join_next().await.unwrap();
    follower.found(ended).await;
    assert!(state.borrow().is_some());
    let failing = notes(&follower);
    assert!(
        failing.starts_with("paramKind v1 Secret: failing for "),
        "{failing}"
    );
    code.store(200, Ordering::Relaxed);
    follower.take(policy("Secret")).await;
    assert!(follower.lookups.is_empty());

    follower.looked = Instant::now().checked_sub(LOOK_AGAIN).unwrap();
    follower.take(policy("Secret")).await;
    let ended = follower.lookups.join_next().await.unwrap();
    follower.found(ended).await;
    assert!(follower.watches("secrets"));
    assert!(!notes(&follower).contains("paramKind"));
}

fn notes(follower: &Follower) -> String {
    follower
        .api_server
        .contact
        .notes(&BTreeSet::new())
        .join("\n")
}

#[tokio::test]
async fn a_kind_of_params_may_be_in_lower_case() {
    let code = Arc::new(AtomicU16::new(200));
    let mut follower = follower(&code, watch::channel(None).0);
    for (kind, name) in [("Secret", "secrets"), ("secret", "secrets (secret)")] {
        follower.take(policy(kind)).await;
        let ended = follower.lookups.join_next().await.unwrap();
        follower.found(ended).await;
        assert!(follower.watches(name), "{kind}");
    }
}

#[tokio::test]
async fn a_kind_of_params_that_is_not_served_is_noted_while_a_policy_names_it() {
    let code = Arc::new(AtomicU16::new(200));
    let mut follower = follower(&code, watch::channel(None).0);
    follower.take(policy("Limit")).await;
    let ended = follower.lookups.join_next().await.unwrap();
    follower.found(ended).await;
    let expected = "paramKind v1 Limit: the cluster does not serve this kind";
    assert_eq!(notes(&follower), expected);
    let event = Event::ReplacedAll(Origin::new("policies"), Vec::new());
    let kind = "policies".to_owned();
    follower.take(vec![KindEvent { kind, event }]).await;
    assert_eq!(notes(&follower), "");
}

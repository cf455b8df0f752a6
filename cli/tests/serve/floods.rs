//! Floods of requests, each with new names and texts. The server must not store these texts, and must serve other clients meanwhile.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::bounds::post;
use crate::mutations::LABEL;
use crate::program::{Folder, mutating_policy};
use crate::server::{Server, client, policy, post_review, review};

/// The number of hostile requests: the value of the environment variable `GAVEL_FLOOD`, by default 1,500.
fn flood() -> usize {
    let value = std::env::var("GAVEL_FLOOD").ok();
    value.and_then(|value| value.parse().ok()).unwrap_or(1_500)
}

/// The number of clients that send the hostile requests.
const SENDERS: usize = 4;

/// The parts of a request that can be new in each request: names and texts that a server might keep, log, count or compile.
const KINDS: [&str; 14] = [
    "namespace",
    "name",
    "uid",
    "user",
    "groups",
    "extra",
    "annotations",
    "resource",
    "path",
    "denial",
    "pattern",
    "mutation",
    "custom resource",
    "expression",
];

fn hostile(kind: &str, n: usize) -> (String, String) {
    let mut review = review("x");
    let text = format!("flood-{n}-{}", "x".repeat(32));
    let request = &mut review["request"];
    let mut path = "/validate?timeout=10s".to_owned();
    match kind {
        "namespace" => request["namespace"] = text.as_str().into(),
        "name" => request["name"] = text.as_str().into(),
        "uid" => request["uid"] = text.as_str().into(),
        "user" => request["userInfo"]["username"] = text.as_str().into(),
        "groups" => request["userInfo"]["groups"] = json!([text]),
        "extra" => request["userInfo"]["extra"] = json!({text.as_str(): [text]}),
        "annotations" => {
            request["object"]["metadata"]["annotations"] = json!({text.as_str(): text})
        }
        "resource" => {
            for field in ["resource", "requestResource"] {
                request[field] = json!({"group": text, "version": text, "resource": text});
            }
        }
        "path" => path = format!("/{text}?{text}={text}"),
        "denial" => {
            request["object"]["metadata"]["name"] = "no".into();
            request["object"]["data"] = json!({"message": text});
        }
        "pattern" => {
            request["object"]["data"] = json!({"text": text, "pattern": format!("({text}|a*)*c")})
        }
        "mutation" => {
            path = "/mutate?timeout=10s".to_owned();
            request["object"]["metadata"]["labels"] = json!({text.as_str(): "x"});
        }
        "custom resource" => {
            path = "/validate/crd?timeout=10s".to_owned();
            for field in ["resource", "requestResource"] {
                request[field] =
                    json!({"group": "example.com", "version": "v1", "resource": "things"});
            }
            request["object"] = json!({"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "x"}, "spec": {text.as_str(): 1}});
        }
        _ => {
            path = "/validate/policies?timeout=10s".to_owned();
            request["object"] = json!({
                "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy", "metadata": {"name": "x"},
                "spec": {
                    "matchConstraints": {"resourceRules": [
                        {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]},
                    ]},
                    "validations": [{"expression": format!("object.metadata.name != '{text}'")}],
                },
            });
        }
    }
    (path, review.to_string())
}

const DEFINITION: &str = "apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.com}
spec:
  group: example.com
  scope: Cluster
  names: {plural: things, kind: Thing}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, additionalProperties: {type: integer}}}}}
";

fn manifests() -> Folder {
    let read = "namespaceObject != null && (!has(object.data) || !has(object.data.pattern) || !object.data.text.matches(object.data.pattern))";
    let named = policy(
        "denied",
        "object.metadata.name != 'no'",
        "no x",
        "Deny, Audit",
    );
    let with_expression = named.replace(
        "    message: \"no x\"",
        "    messageExpression: string(object.data.message)",
    );
    Folder::new()
        .with("read.yaml", &policy("read", read, "not so", "Deny"))
        .with("denied.yaml", &with_expression)
        .with(
            "user.yaml",
            &policy("user", "request.userInfo.username != ''", "no user", "Deny"),
        )
        .with("label.yaml", &mutating_policy("label", "configmaps", LABEL))
        .with("things.yaml", DEFINITION)
}

/// Sends `count` requests of a kind from several concurrent clients. The number of the first request is `from`.
async fn send(server: &Arc<Server>, kind: &'static str, from: usize, count: usize) {
    let mut senders = Vec::new();
    for sender in 0..SENDERS {
        let (server, client) = (Arc::clone(server), server.client());
        senders.push(tokio::spawn(async move {
            for n in (from..).take(count).skip(sender).step_by(SENDERS) {
                let (path, body) = hostile(kind, n);
                let (code, answer) = post(&client, &server, &path, body).await;
                let expected = if kind == "path" { 404 } else { 200 };
                assert_eq!(code, expected, "{kind}: {answer}");
            }
        }));
    }
    for sender in senders {
        sender.await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn floods_leave_nothing_behind() {
    const BOUND: usize = 10 << 20;
    let folder = manifests();
    let server = Arc::new(Server::start(&[
        "--policies",
        folder.text(),
        "--self-signed",
    ]));
    // Warms up the allocator and the threads before memory is measured.
    for kind in KINDS {
        send(&server, kind, 0, 100).await;
    }
    let ended = Arc::new(AtomicBool::new(false));
    let (good, over) = (Arc::clone(&server), Arc::clone(&ended));
    let others = tokio::spawn(async move {
        let elsewhere = IpAddr::from([127, 0, 0, 2]);
        let client = client(good.authority.as_deref().unwrap()).local_address(elsewhere);
        let client = client.build().unwrap();
        let mut took = Vec::new();
        while !over.load(Ordering::Relaxed) {
            let began = Instant::now();
            assert_eq!(
                post_review(&client, &good, &review("x")).await["allowed"],
                true
            );
            took.push(began.elapsed());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        took
    });
    let first = server.memory();
    for kind in KINDS {
        let (began, before) = (Instant::now(), server.memory());
        let count = flood() / KINDS.len();
        send(&server, kind, 100, count).await;
        let after = server.memory();
        println!(
            "{kind}: {count} requests in {:?}, {} KiB before, {} KiB after",
            began.elapsed(),
            before >> 10,
            after >> 10
        );
        assert!(
            after < before + BOUND,
            "{kind}: {before} bytes before, {after} after"
        );
    }
    let last = server.memory();
    assert!(last < first + BOUND, "{first} bytes before, {last} after");
    ended.store(true, Ordering::Relaxed);
    let mut took = others.await.unwrap();
    took.sort();
    let p99 = took.get(took.len() * 99 / 100);
    println!(
        "{} others served meanwhile, half in {:?}, p99 {p99:?}",
        took.len(),
        took.get(took.len() / 2)
    );
}

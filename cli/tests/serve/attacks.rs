//! Many attacks at the same time. Meanwhile, an honest client must still be served.

use std::io::{Read, Write};
use std::net::{IpAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

use crate::mutations::LABEL;
use crate::program::{Folder, mutating_policy};
use crate::server::{Server, client, policy, review};

/// The memory limit of the pods in `deploy/`, in bytes.
const POD: usize = 512 << 20;

/// The duration of the attack: a few seconds, or `GAVEL_ATTACK_SECONDS`.
fn seconds() -> u64 {
    let value = std::env::var("GAVEL_ATTACK_SECONDS").ok();
    value.and_then(|value| value.parse().ok()).unwrap_or(8)
}

/// A policy that is evaluated only for objects with the same name as the policy.
fn victim(name: &str, expression: &str) -> String {
    let condition = format!(
        "  matchConditions:\n  - name: named\n    expression: object.metadata.name == '{name}'\n  validations:"
    );
    policy(name, expression, "", "Deny").replacen("  validations:", &condition, 1)
}

fn policies() -> Folder {
    let replaced: String = (0..100).map(|n| format!(".replace('a', 'a{n}')")).collect();
    let all = [
        policy("all", "object.metadata.name != 'denied'", "denied", "Deny"),
        victim("regex", r"!object.data.x.matches('[ab]*a\\pL{900}c')"),
        victim("find", "object.data.x.findAll('a.*b|a').size() > 0"),
        victim("replace", &format!("size(object.data.x{replaced}) > 0")),
        victim("format", "size('item %s'.format([object.data.list])) > 0"),
    ];
    // Namespaces that the server knows. The requests are in other namespaces.
    let namespaces = (0..5_000).map(|n| {
        let labels = "labels: {tier: gold, team: payments}";
        format!("apiVersion: v1\nkind: Namespace\nmetadata: {{name: known-{n}, {labels}}}\n")
    });
    Folder::new()
        .with("all.yaml", &all.join("---\n"))
        .with(
            "namespaces.yaml",
            &namespaces.collect::<Vec<_>>().join("---\n"),
        )
        .with(
            "mutating.yaml",
            &mutating_policy("label", "configmaps", LABEL),
        )
        .with("things.yaml", DEFINITION)
}

/// A definition with a pattern that takes long to match against a long text.
const DEFINITION: &str = r"apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: things, kind: Thing}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {x: {type: string, pattern: '[\p{L}\p{N}]{1,253}$'}}}}
";

/// A review of a config map with this name and data.
fn named(name: &str, data: Json) -> Json {
    let mut review = review(name);
    review["request"]["object"]["data"] = data;
    review
}

/// A review of a custom resource with a long text.
fn thing() -> Json {
    let mut review = review("x");
    let request = &mut review["request"];
    for (kind, resource) in [("kind", "resource"), ("requestKind", "requestResource")] {
        request[kind] = json!({"group": "example.com", "version": "v1", "kind": "Thing"});
        request[resource] = json!({"group": "example.com", "version": "v1", "resource": "things"});
    }
    let text = "ab".repeat(1_450_000) + "-";
    request["object"] = json!({"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "x", "namespace": "default"}, "x": text});
    review
}

/// A review of a policy whose expressions take long to compile.
fn registration() -> Json {
    let expression = format!("optional.of(1){}.hasValue()", ".optMap(a, a)".repeat(8));
    let validations = vec![json!({"expression": expression}); 400];
    let constraints = json!({"resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["pods"]}]});
    let mut review = review("p");
    review["request"]["object"] = json!({
        "apiVersion": "policies.gavel.example.com/v1", "kind": "ValidatingAdmissionPolicy", "metadata": {"name": "p"},
        "spec": {"matchConstraints": constraints, "validations": validations},
    });
    review
}

/// The requests that the attackers repeat, as paths and bodies. In each request, `NAMESPACE` is replaced by a new name.
fn bodies() -> Vec<(&'static str, String)> {
    let text = |bytes: usize| json!({"x": "ab".repeat(bytes / 2)});
    let numbers: Vec<u8> = vec![1; 1_000_000];
    let twice = |body: String| body.replacen("\"uid\"", "\"uid\":\"first\",\"uid\"", 1);
    let mut far = review("x");
    far["request"]["namespace"] = "x".repeat(2_900_000).into();
    let mut user = review("x");
    user["request"]["userInfo"]["groups"] = json!(vec!["g".repeat(100); 20_000]);
    let mut unknown = review("x");
    unknown["request"]["namespace"] = "NAMESPACE".into();
    let validated = [
        named("regex", text(1_500_000)).to_string(),
        named("find", text(300_000)).to_string(),
        named("replace", text(60_000)).to_string(),
        named("format", json!({"list": vec![json!({"a": "b"}); 50_000]})).to_string(),
        twice(named("x", json!({"list": numbers})).to_string()),
        named("x", json!({"list": numbers})).to_string(),
        far.to_string(),
        user.to_string(),
        "[".repeat(1_000_000),
        review("x").to_string().replace("\"CREATE\"", "null"),
        unknown.to_string(),
    ];
    let others = [
        ("/validate/policies", registration().to_string()),
        ("/validate/crd", thing().to_string()),
        ("/mutate", named("x", json!({"list": numbers})).to_string()),
        (
            "/mutate",
            named("x", json!({"list": vec![json!({"a": "b"}); 50_000]})).to_string(),
        ),
    ];
    let validated = validated.into_iter().map(|body| ("/validate", body));
    validated.chain(others).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn under_all_attacks_together_memory_is_bounded_and_others_are_served() {
    let folder = policies();
    let arguments = [
        "--policies",
        folder.text(),
        "--self-signed",
        // As in `deploy/`.
        "--max-evaluations",
        "2",
        "--max-connections",
        "256",
    ];
    let server = Server::start(&arguments);
    let ended = Arc::new(AtomicBool::new(false));
    let sent = Arc::new(AtomicUsize::new(0));
    let mut attackers = Vec::new();
    for (n, (path, body)) in bodies().into_iter().enumerate() {
        let (client, url) = (server.client(), server.url(&format!("{path}?timeout=2s")));
        let (ended, sent) = (Arc::clone(&ended), Arc::clone(&sent));
        attackers.push(tokio::spawn(async move {
            while !ended.load(Ordering::Relaxed) {
                let request = client.post(&url).header("content-type", "application/json");
                let namespace = format!("unknown-{}", sent.load(Ordering::Relaxed));
                let request = request.body(body.replace("NAMESPACE", &namespace)).send();
                // Every second client disconnects before the answer.
                let patience = Duration::from_millis(if n % 2 == 0 { 20_000 } else { 300 });
                let _ = tokio::time::timeout(patience, request).await;
                sent.fetch_add(1, Ordering::Relaxed);
            }
        }));
    }
    let (address, over) = (server.address, Arc::clone(&ended));
    let idle = std::thread::spawn(move || {
        let mut open = Vec::new();
        while !over.load(Ordering::Relaxed) {
            if let Ok(mut stream) = TcpStream::connect(address) {
                let _ = stream.write_all(b"\x16\x03\x01\x02\x00");
                open.push(stream);
            }
            if open.len() > 600 {
                open.drain(..300);
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    });

    let until = Instant::now() + Duration::from_secs(seconds());
    let mut took = Vec::new();
    while Instant::now() < until {
        let began = Instant::now();
        // The honest client opens a new connection for each request, and has another address than the attackers.
        let authority = server.authority.as_deref().unwrap();
        let elsewhere = IpAddr::from([127, 0, 0, 2]);
        let client = client(authority).local_address(elsewhere).build().unwrap();
        let request = client.post(server.url("/validate?timeout=10s"));
        let request = request.header("content-type", "application/json");
        let answer = request
            .body(review("denied").to_string())
            .send()
            .await
            .unwrap();
        assert_eq!(answer.status(), 200);
        let answer: Json = serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap();
        assert_eq!(answer["response"]["allowed"], false, "{answer}");
        let message = answer["response"]["status"]["message"].as_str().unwrap();
        assert!(message.ends_with("denied request: denied"), "{message}");
        took.push(began.elapsed());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    ended.store(true, Ordering::Relaxed);
    for attacker in attackers {
        attacker.abort();
    }
    idle.join().unwrap();
    took.sort();
    let p99 = took[(took.len() * 99 / 100).min(took.len() - 1)];
    let peak = server.peak_memory();
    println!(
        "{} hostile requests; {} others served, half in {:?}, p99 {p99:?}; at most {} MiB",
        sent.load(Ordering::Relaxed),
        took.len(),
        took[took.len() / 2],
        peak >> 20
    );
    assert!(peak < POD, "{peak} bytes");
    assert!(took.len() > 3, "{took:?}");
}

/// Log lines are short, whatever a request contains.
#[test]
fn log_lines_are_bounded() {
    let server = Server::start(&["--demo", "--plain-http"]);
    let long = "x".repeat(2_000_000);
    for field in ["uid", "name"] {
        let mut review = review("x");
        review["request"][field] = long.as_str().into();
        review["request"]["userInfo"]["username"] = long.as_str().into();
        review["request"]["operation"] = "DELETE".into();
        post(&server, &review.to_string());
        review["apiVersion"] = long.as_str().into();
        post(&server, &review.to_string());
    }
    server.wait_for_log("request refused");
    for log in server.logs() {
        assert!(
            log.to_string().len() < 8_000,
            "{} bytes",
            log.to_string().len()
        );
    }
}

/// The servers of the tests log at level `debug`. Even then, no log line contains the content of objects.
#[test]
fn logs_hold_no_objects() {
    let server = Server::start(&["--demo", "--plain-http"]);
    let secret = "c2VjcmV0LXRva2Vu";
    let mut review = named("x", json!({"token": secret}));
    review["request"]["oldObject"] = json!({"data": secret});
    review["request"]["options"]["token"] = secret.into();
    post(&server, &review.to_string());
    server.wait_for_log("allowed");
    post(&server, &review.to_string().replace("\"kind\"", "\"kind"));
    server.wait_for_log("request refused");
    for log in server.logs() {
        assert!(!log.to_string().contains(secret), "{log}");
    }
}

fn post(server: &Server, body: &str) {
    let mut stream = TcpStream::connect(server.address).unwrap();
    let head = format!(
        "POST /validate HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(body.as_bytes()).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    assert!(answer.starts_with(b"HTTP/1.1 "));
}

//! The limits of the memory and time that requests can take.

use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

use crate::program::{Folder, mutating_policy};
use crate::server::{Server, policy, post_review, review};

/// An expression that takes tens of milliseconds in a release build, and more in a debug build.
pub(crate) const SLOW: &str = "[1,2,3,4,5,6,7,8,9].all(a, [1,2,3,4,5,6,7,8,9].all(b, [1,2,3,4,5,6,7,8,9].all(c, [1,2,3,4,5,6,7,8,9].all(d, !'x'.matches('^(x|y)*' + string(d) + '+[a-z]*')))))";

pub(crate) async fn post(
    client: &reqwest::Client,
    server: &Server,
    path: &str,
    body: String,
) -> (u16, Json) {
    let request = client.post(server.url(path));
    let request = request
        .header("content-type", "application/json")
        .body(body);
    let answer = request.send().await.unwrap();
    let code = answer.status().as_u16();
    let body = answer.bytes().await.unwrap();
    (code, serde_json::from_slice(&body).unwrap_or(Json::Null))
}

#[tokio::test(flavor = "multi_thread")]
async fn reviews_that_no_api_server_sends_are_400() {
    let server = Server::start(&["--demo", "--self-signed"]);
    let client = server.client();
    for (path, value, message) in [
        ("resource", Json::Null, "request.resource: must be set"),
        (
            "resource",
            json!("pods"),
            "request.resource: must be an object",
        ),
        (
            "resource",
            json!({}),
            "request.resource.version: must be set",
        ),
        (
            "requestResource",
            json!({}),
            "request.requestResource.version: must be set",
        ),
        (
            "requestKind",
            json!([]),
            "request.requestKind: must be an object",
        ),
        ("kind", Json::Null, "request.kind: must be set"),
        (
            "resource/group",
            json!(1),
            "request.resource.group: must be a string",
        ),
        (
            "requestKind/kind",
            json!(true),
            "request.requestKind.kind: must be a string",
        ),
        ("operation", Json::Null, "request.operation: must be set"),
        (
            "operation",
            json!("PATCH"),
            "request.operation: must be CREATE, UPDATE, DELETE or CONNECT",
        ),
        ("operation", json!(1), "request.operation: must be a string"),
        ("object", Json::Null, "request.object: must be set"),
    ] {
        let mut review = review("x");
        *review.pointer_mut(&format!("/request/{path}")).unwrap() = value.clone();
        let (code, answer) = post(&client, &server, "/validate", review.to_string()).await;
        let context = format!("{path} {value}: {answer}");
        assert_eq!(code, 400, "{context}");
        assert_eq!(answer["message"], message, "{context}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn names_that_api_servers_validate_after_admission_are_decided() {
    let server = Server::start(&["--demo", "--self-signed"]);
    let client = server.client();
    for (field, name) in [
        ("name", "a/b"),
        ("name", ".."),
        ("name", "a%b"),
        ("namespace", "a.b"),
        ("namespace", &*"a".repeat(64)),
    ] {
        let mut review = review("x");
        review["request"][field] = name.into();
        for path in ["/validate", "/mutate"] {
            let (code, answer) = post(&client, &server, path, review.to_string()).await;
            assert_eq!(code, 200, "{path} {field} {name}: {answer}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_largest_review_of_an_api_server_is_decided() {
    let server = Server::start(&["--demo", "--self-signed"]);
    let mut review = review("x");
    let object = json!({"kind": "ConfigMap", "apiVersion": "v1", "data": {"a": "x".repeat((3 << 20) - 100)}});
    review["request"]["operation"] = "UPDATE".into();
    review["request"]["object"] = object.clone();
    review["request"]["oldObject"] = object;
    post_review(&server.client(), &server, &review).await;

    let numbers = vec![1; ((3 << 20) - 200) / 2];
    let object = json!({"kind": "ConfigMap", "apiVersion": "v1", "list": numbers});
    review["request"]["object"] = object.clone();
    review["request"]["oldObject"] = object;
    let body = review.to_string();
    let path = "/validate?timeout=30s";
    let (code, answer) = post(&server.client(), &server, path, body.clone()).await;
    assert_eq!(code, 200, "{answer}");

    let server = Server::start(&["--demo", "--self-signed", "--max-memory", "16Mi"]);
    let (code, answer) = post(&server.client(), &server, path, body).await;
    assert_eq!(code, 413, "{answer}");
    let message = answer["message"].as_str().unwrap();
    let limit = (16 << 20) / 4 * 3;
    assert!(
        message.ends_with(&format!("three quarters of --max-memory, {limit} bytes")),
        "{message}"
    );

    let server = Server::start(&["--demo", "--self-signed", "--max-body", "7Mi"]);
    let (code, answer) = post(
        &server.client(),
        &server,
        "/validate",
        " ".repeat((7 << 20) + 1),
    )
    .await;
    assert_eq!(code, 413, "{answer}");
}

/// Large bodies whose values take much memory, finished or not, on all paths, with the arguments of `deploy/`.
#[tokio::test(flavor = "multi_thread")]
async fn the_memory_of_large_reviews_is_bounded() {
    let server = Server::start(&["--demo", "--self-signed", "--max-evaluations", "2"]);
    let client = server.client();
    let mut review = review("x");
    review["request"]["object"]["data"] = "DATA".into();
    let review = review.to_string();
    let size = (7 << 20) - review.len();
    let list = |value: &str, size: usize| {
        let list = format!("{value},").repeat(size / (value.len() + 1));
        format!("[{list}1]")
    };
    let names: String = (0..size / 11).map(|n| format!(r#""{n:06}":1,"#)).collect();
    let mut served = 0;
    for data in [
        list("{}", size),
        list("{}", size / 2),
        list("1", size),
        list(r#"{"":1}"#, size),
        format!(r#"{{{names}"":1}}"#),
        format!(r#""{}""#, "\\t".repeat(size / 2 - 9)),
    ] {
        let finished = review.replace("\"DATA\"", &data);
        let mut unfinished = finished.clone();
        unfinished.pop();
        for (path, body) in [
            ("/validate", unfinished),
            ("/mutate", finished.clone()),
            ("/validate/crd", finished.clone()),
            ("/validate", finished),
        ] {
            let path = format!("{path}?timeout=30s");
            let (code, answer) = post(&client, &server, &path, body).await;
            assert!([200, 400, 413].contains(&code), "{answer}");
            served += usize::from(code == 200);
        }
    }
    assert!(served > 5, "{served}");
    let peak = server.peak_memory();
    println!("{served} reviews served; at most {} MiB", peak >> 20);
    assert!(peak < (256 + 64) << 20, "{peak} bytes");
}

#[tokio::test(flavor = "multi_thread")]
async fn large_names_are_not_kept() {
    let server = Server::start(&["--demo", "--self-signed"]);
    let client = server.client();
    let send = async |n: usize| {
        let mut review = review("x");
        review["request"]["namespace"] = format!("{n}{}", "x".repeat(2_900_000)).into();
        post(&client, &server, "/validate", review.to_string())
            .await
            .0
    };
    // A thread's memory grows with its first requests. Names that are kept would add 46 MB in each round.
    let mut growth = Vec::new();
    for round in 0..4 {
        let before = server.memory();
        for n in 0..16 {
            assert_eq!(send(round * 16 + n).await, 200);
        }
        let after = server.memory();
        if after < before + (10 << 20) {
            return;
        }
        growth.push((before, after));
    }
    panic!("the memory before and after each round, in bytes: {growth:?}");
}

/// A hundred slow policies for ConfigMaps, and one for Secrets. `policy` writes the policy with a name for a resource.
fn slow_policies(policy: impl Fn(&str, &str) -> String) -> Folder {
    let many = (0..100).map(|n| policy(&format!("p{n}"), "configmaps"));
    let many: Vec<String> = many.collect();
    Folder::new()
        .with("many.yaml", &many.join("---\n"))
        .with("other.yaml", &policy("other", "secrets"))
}

fn validating(name: &str, resource: &str) -> String {
    policy(name, SLOW, "", "Deny").replace("configmaps", resource)
}

fn mutating(name: &str, resource: &str) -> String {
    let conditions = format!("  matchConditions: [{{name: slow, expression: {SLOW:?}}}]\n");
    let policy = mutating_policy(
        name,
        resource,
        "Object{metadata: Object.metadata{labels: {'a': 'b'}}}",
    );
    policy.replace("  mutations:\n", &(conditions + "  mutations:\n"))
}

/// A review in which a user creates an object.
fn by(user: &str, resource: &str) -> Json {
    let mut review = review("x");
    let request = &mut review["request"];
    request["userInfo"]["username"] = user.into();
    for field in ["resource", "requestResource"] {
        request[field]["resource"] = resource.into();
    }
    review
}

#[tokio::test(flavor = "multi_thread")]
async fn waiting_ends_at_the_deadline_and_others_are_decided() {
    check_others_are_decided(&slow_policies(validating), "/validate").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn slow_mutations_leave_slots_to_other_policies() {
    check_others_are_decided(&slow_policies(mutating), "/mutate").await;
}

async fn check_others_are_decided(folder: &Folder, path: &str) {
    let arguments = [
        "--policies",
        folder.text(),
        "--self-signed",
        "--max-evaluations",
        "1",
    ];
    let server = Server::start(&arguments);
    let client = server.client();
    let url = server.url(&format!("{path}?timeout=25s"));
    let alice: Vec<_> = (0..6)
        .map(|_| {
            let request = client.post(&url).header("content-type", "application/json");
            tokio::spawn(request.body(by("alice", "configmaps").to_string()).send())
        })
        .collect();
    tokio::time::sleep(Duration::from_millis(500)).await;

    // Another user with the same policies gets no slot before the timeout.
    let began = Instant::now();
    let body = by("bob", "configmaps").to_string();
    let (code, answer) = post(&client, &server, &format!("{path}?timeout=2s"), body).await;
    assert_eq!(code, 429, "{answer}");
    assert!(
        began.elapsed() < Duration::from_secs(15),
        "{:?}",
        began.elapsed()
    );

    // Another user with another policy gets a slot.
    let (code, answer) = post(
        &client,
        &server,
        &format!("{path}?timeout=25s"),
        by("carol", "secrets").to_string(),
    )
    .await;
    assert_eq!(
        (code, &answer["response"]["allowed"]),
        (200, &json!(true)),
        "{answer}"
    );
    assert!(alice.iter().any(|task| !task.is_finished()));
    for task in alice {
        task.abort();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn work_ends_when_its_client_is_gone() {
    let folder = slow_policies(validating);
    let server = Server::start(&["--policies", folder.text(), "--self-signed"]);
    let client = server.client();
    let url = server.url("/validate?timeout=30s");
    let tasks: Vec<_> = (0..4)
        .map(|n| {
            let request = client.post(&url).header("content-type", "application/json");
            tokio::spawn(
                request
                    .body(by(&format!("u{n}"), "configmaps").to_string())
                    .send(),
            )
        })
        .collect();
    tokio::time::sleep(Duration::from_secs(1)).await;
    for task in tasks {
        task.abort();
    }
    drop(client);
    let until = Instant::now() + Duration::from_secs(12);
    loop {
        let before = server.cpu_time();
        tokio::time::sleep(Duration::from_millis(300)).await;
        if server.cpu_time() - before <= Duration::from_millis(30) {
            return;
        }
        assert!(Instant::now() < until, "still at work");
    }
}

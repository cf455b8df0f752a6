//! Requests in flight while manifests change, and while the server shuts down.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::program::Folder;
use crate::server::{Server, policy, review};

/// The duration of the load: a few seconds, or `GAVEL_LOAD_SECONDS`.
fn seconds() -> u64 {
    let value = std::env::var("GAVEL_LOAD_SECONDS").ok();
    value.and_then(|value| value.parse().ok()).unwrap_or(3)
}

#[tokio::test(flavor = "multi_thread")]
async fn reloads_and_sigterm_lose_no_request() {
    let folder = Folder::new().with(
        "a.yaml",
        &policy("a", "object.metadata.name != 'x'", "no x", "Deny"),
    );
    let mut server = Server::start(&[
        "--policies",
        folder.text(),
        "--self-signed",
        "--shutdown-delay",
        "1s",
    ]);
    let ended = Arc::new(AtomicBool::new(false));
    let answered = Arc::new(AtomicU64::new(0));
    let mut clients = Vec::new();
    for _ in 0..4 {
        let (client, url) = (server.client(), server.url("/validate?timeout=10s"));
        let (ended, answered) = (Arc::clone(&ended), Arc::clone(&answered));
        clients.push(tokio::spawn(async move {
            let body = review("x").to_string();
            loop {
                let request = client.post(&url).header("content-type", "application/json");
                let answer = match request.body(body.clone()).send().await {
                    Ok(answer) => answer.bytes().await,
                    Err(error) => Err(error),
                };
                match answer {
                    Ok(answer) => {
                        assert!(
                            String::from_utf8_lossy(&answer).contains("no x"),
                            "{answer:?}"
                        );
                        answered.fetch_add(1, Ordering::Relaxed);
                    }
                    // The server no longer accepts connections.
                    Err(error) if error.is_connect() && ended.load(Ordering::Relaxed) => return,
                    Err(error) => panic!("a request was lost: {error:?}"),
                }
            }
        }));
    }
    let until = Instant::now() + Duration::from_secs(seconds());
    let mut n = 0;
    while Instant::now() < until {
        n += 1;
        folder.write("b.yaml", &policy("b", &format!("{n} > 0"), "", "Deny"));
        tokio::time::sleep(Duration::from_millis(300)).await;
    }
    server.wait_for_log("manifests reloaded");
    ended.store(true, Ordering::Relaxed);
    server.terminate();
    for client in clients {
        client.await.unwrap();
    }
    assert!(answered.load(Ordering::Relaxed) > 10);
    assert!(server.wait().success());
    server.wait_for_log("ended");
}

#[tokio::test(flavor = "multi_thread")]
async fn sigterm_turns_readyz_and_ends_within_the_grace_period() {
    let mut server = Server::start(&[
        "--demo",
        "--self-signed",
        "--shutdown-delay",
        "2s",
        "--grace-period",
        "4s",
    ]);
    let client = server.client();
    // A handshake that never ends.
    let mut hanging = TcpStream::connect(server.address).unwrap();
    hanging.write_all(b"\x16\x03\x01").unwrap();
    server.terminate();
    server.wait_for_log("shutting down");
    let signalled = Instant::now();
    let ready = client.get(server.url("/readyz")).send().await.unwrap();
    assert_eq!(ready.status(), 500);
    assert!(
        ready
            .text()
            .await
            .unwrap()
            .contains("[-]shutdown failed: reason withheld\n")
    );
    assert_eq!(
        client
            .get(server.url("/livez"))
            .send()
            .await
            .unwrap()
            .status(),
        200
    );
    let one = client
        .get(server.url("/readyz/shutdown"))
        .send()
        .await
        .unwrap();
    assert_eq!(
        one.text().await.unwrap(),
        "internal server error: process is shutting down\n"
    );
    assert!(server.wait().success());
    assert!(signalled.elapsed() < Duration::from_secs(10));
}

#[test]
fn the_demo_ends_at_once() {
    let mut server = Server::start(&["--demo"]);
    let signalled = Instant::now();
    server.terminate();
    assert!(server.wait().success());
    // With the delay of other sources, the server would serve for 5 seconds.
    assert!(signalled.elapsed() < Duration::from_secs(4));
}

#[test]
fn a_connection_that_is_made_as_the_server_ends_sends_its_first_request() {
    let mut server = Server::start(&["--demo", "--plain-http", "--shutdown-delay", "1s"]);
    let mut connection = TcpStream::connect(server.address).unwrap();
    server.terminate();
    // The server closes open connections once it accepts no new ones.
    let began = Instant::now();
    while TcpStream::connect(server.address).is_ok() {
        assert!(began.elapsed() < Duration::from_secs(20));
        std::thread::sleep(Duration::from_millis(5));
    }
    // The server waits up to a second for the first request of a connection. Without that wait, it would have closed this one by now.
    std::thread::sleep(Duration::from_millis(100));
    let request = b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n";
    connection.write_all(request).unwrap();
    let mut answer = String::new();
    connection.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer:?}");
    assert!(answer.contains("\r\nconnection: close\r\n"), "{answer:?}");
    assert!(server.wait().success());
}

/// A process that awaits a signal does not ignore it, even with the id 1.
#[test]
fn sigterm_ends_the_start() {
    // An API server that never answers.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let cluster = format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: a\nclusters: [{{name: a, cluster: {{server: 'http://{}'}}}}]\ncontexts: [{{name: a, context: {{cluster: a, user: a}}}}]\nusers: [{{name: a, user: {{}}}}]\n",
        silent.local_addr().unwrap()
    );
    // Policies that take long to compile.
    let call = format!("optional.of(1){}.hasValue()", ".optMap(a, a)".repeat(8));
    let policies: Vec<String> = (0..2_000)
        .map(|n| policy(&format!("p{n}"), &format!("{call} || {n} > 0"), "", "Deny"))
        .collect();
    let folder = Folder::new()
        .with("kubeconfig", &cluster)
        .with("policies.yaml", &policies.join("---\n"));
    let (kubeconfig, policies) = (folder.file("kubeconfig"), folder.file("policies.yaml"));
    for arguments in [
        format!("--demo --self-signed --tls-secret gavel-tls --kubeconfig {kubeconfig}"),
        format!("--plain-http --policies {policies}"),
    ] {
        let mut starting = Command::new(env!("CARGO_BIN_EXE_gavel"))
            .args(["serve", "--listen", "127.0.0.1:0"])
            .args(arguments.split(' '))
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let began = Instant::now();
        while !awaits_sigterm(starting.id()) {
            assert!(starting.try_wait().unwrap().is_none(), "{arguments:?}");
            assert!(began.elapsed() < Duration::from_secs(30), "{arguments:?}");
            std::thread::sleep(Duration::from_millis(1));
        }
        let pid = starting.id().to_string();
        let killed = Command::new("kill").args(["-TERM", &pid]).status();
        assert!(killed.unwrap().success());
        let ended = starting.wait_with_output().unwrap();
        assert!(ended.status.success(), "{:?}", ended.status);
        let logs = String::from_utf8(ended.stderr).unwrap();
        assert!(!logs.contains(" serving "), "{logs}");
    }
}

/// Whether the process handles SIGTERM, whose number is 15.
fn awaits_sigterm(pid: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    let caught = u64::from_str_radix(caught.unwrap().trim(), 16).unwrap();
    caught & (1 << 14) != 0
}

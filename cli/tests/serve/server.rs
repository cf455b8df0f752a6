//! A running `gavel serve`, with its logs and its use of memory and processor time.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

/// The maximum number of stored log lines. If there are more, those about requests in the oldest half are dropped.
const MOST_LOGS: usize = 20_000;

/// A server that is stopped at the end of the test.
pub(crate) struct Server {
    child: Child,
    pub(crate) address: SocketAddr,
    /// The certificate authority of `--self-signed`, as PEM.
    pub(crate) authority: Option<String>,
    logs: Arc<Mutex<Vec<Json>>>,
}

impl Server {
    /// Starts a server with these arguments, on a free port.
    pub(crate) fn start(arguments: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_gavel"))
            .args(["serve", "--listen", "127.0.0.1:0", "--log-format", "json"])
            .args(["--log-level", "debug"])
            .args(arguments)
            // As in the container image.
            .env("MIMALLOC_PURGE_DELAY", "0")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        let logs = Arc::new(Mutex::new(Vec::new()));
        let written = Arc::clone(&logs);
        let (sender, receiver) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            for line in stderr.lines().map_while(Result::ok) {
                let log: Json =
                    serde_json::from_str(&line).unwrap_or_else(|_| json!({"message": line}));
                if log["message"] == "serving" {
                    let address = log["address"].as_str().unwrap().parse().unwrap();
                    let _ = sender.send(address);
                }
                let mut written = written.lock().unwrap();
                if written.len() > MOST_LOGS {
                    let mut lines = 0..;
                    let mut is_old = || lines.next().is_some_and(|n| n < MOST_LOGS / 2);
                    written.retain(|log: &Json| !is_old() || log["uid"].is_null());
                }
                written.push(log);
            }
        });
        let address = receiver.recv_timeout(Duration::from_secs(60));
        let address = address.unwrap_or_else(|_| panic!("not serving: {:?}", logs.lock().unwrap()));
        let self_signed = arguments.contains(&"--self-signed");
        let authority = self_signed.then(|| {
            let mut line = String::new();
            let mut stdout = BufReader::new(child.stdout.take().unwrap());
            stdout.read_line(&mut line).unwrap();
            let bundle = line.trim().strip_prefix("caBundle: ").unwrap();
            use base64::Engine;
            let pem = base64::engine::general_purpose::STANDARD
                .decode(bundle)
                .unwrap();
            String::from_utf8(pem).unwrap()
        });
        Server {
            child,
            address,
            authority,
            logs,
        }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("https://localhost:{}{path}", self.address.port())
    }

    /// A client that trusts the certificate authority of the server.
    pub(crate) fn client(&self) -> reqwest::Client {
        client(self.authority.as_deref().unwrap()).build().unwrap()
    }

    /// Waits for a log line with this message, and returns the line.
    pub(crate) fn wait_for_log(&self, message: &str) -> Json {
        self.wait_for_log_with(message, |_| true)
    }

    /// Waits for a log line with this message that `is` accepts, and returns the last one.
    pub(crate) fn wait_for_log_with(&self, message: &str, is: impl Fn(&Json) -> bool) -> Json {
        let began = Instant::now();
        let is = |log: &&Json| log["message"] == message && is(log);
        loop {
            let logs = self.logs.lock().unwrap();
            if let Some(log) = logs.iter().rev().find(is) {
                return log.clone();
            }
            assert!(
                began.elapsed() < Duration::from_secs(30),
                "no {message:?} in {} lines, of which the last are {:?}",
                logs.len(),
                logs.last_chunk::<9>()
            );
            drop(logs);
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// The stored log lines.
    pub(crate) fn logs(&self) -> Vec<Json> {
        self.logs.lock().unwrap().clone()
    }

    pub(crate) fn terminate(&self) {
        let pid = self.child.id().to_string();
        assert!(
            Command::new("kill")
                .args(["-TERM", &pid])
                .status()
                .unwrap()
                .success()
        );
    }

    pub(crate) fn wait(&mut self) -> ExitStatus {
        self.child.wait().unwrap()
    }

    /// The peak of the resident memory, in bytes.
    pub(crate) fn peak_memory(&self) -> usize {
        self.status("VmHWM:")
    }

    /// The resident memory, in bytes.
    pub(crate) fn memory(&self) -> usize {
        self.status("VmRSS:")
    }

    fn status(&self, field: &str) -> usize {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let mut lines = status.lines();
        let value = lines.find_map(|line| line.strip_prefix(field)).unwrap();
        let kilobytes = value.trim().strip_suffix(" kB").unwrap();
        kilobytes.parse::<usize>().unwrap() << 10
    }

    /// The processor time that the server has used.
    pub(crate) fn cpu_time(&self) -> Duration {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap();
        let (_, fields) = stat.rsplit_once(") ").unwrap();
        let ticks = fields.split(' ').skip(11).take(2);
        let ticks: u64 = ticks.map(|ticks| ticks.parse::<u64>().unwrap()).sum();
        Duration::from_millis(ticks.saturating_mul(10))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A builder of clients that trust only this certificate authority.
pub(crate) fn client(authority: &str) -> reqwest::ClientBuilder {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let authority = reqwest::Certificate::from_pem(authority.as_bytes()).unwrap();
    reqwest::Client::builder()
        .add_root_certificate(authority)
        .timeout(Duration::from_secs(60))
}

/// A policy for ConfigMaps with one validation, and the policy's binding.
pub(crate) fn policy(name: &str, expression: &str, message: &str, actions: &str) -> String {
    format!(
        r#"apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata:
  name: {name}
spec:
  matchConstraints:
    resourceRules:
    - apiGroups: [""]
      apiVersions: [v1]
      operations: ["*"]
      resources: [configmaps, configmaps/*]
  validations:
  - expression: {expression:?}
    message: {message:?}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata:
  name: {name}
spec:
  policyName: {name}
  validationActions: [{actions}]
"#
    )
}

/// A review in which a ConfigMap is created.
pub(crate) fn review(name: &str) -> Json {
    let names = json!({"group": "", "version": "v1", "resource": "configmaps"});
    let kind = json!({"group": "", "version": "v1", "kind": "ConfigMap"});
    json!({
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": {
            "uid": format!("uid-{name}"),
            "kind": kind,
            "resource": names,
            "requestKind": kind,
            "requestResource": names,
            "name": name,
            "namespace": "default",
            "operation": "CREATE",
            "userInfo": {"username": "alice", "groups": ["system:authenticated"]},
            "object": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "default"}},
            "oldObject": null,
            "dryRun": false,
            "options": {"apiVersion": "meta.k8s.io/v1", "kind": "CreateOptions"},
        },
    })
}

/// Sends a review to `/validate`, and returns the field `response` of the answer.
pub(crate) async fn post_review(client: &reqwest::Client, server: &Server, review: &Json) -> Json {
    post_review_at(client, server, "/validate?timeout=10s", review).await
}

/// Sends a review to `path`, and returns the field `response` of the answer.
pub(crate) async fn post_review_at(
    client: &reqwest::Client,
    server: &Server,
    path: &str,
    review: &Json,
) -> Json {
    let answer = client
        .post(server.url(path))
        .header("content-type", "application/json")
        .body(review.to_string())
        .send()
        .await
        .unwrap();
    assert_eq!(answer.status(), 200);
    let answer: Json = serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap();
    assert_eq!(answer["kind"], "AdmissionReview");
    assert_eq!(answer["apiVersion"], review["apiVersion"]);
    assert_eq!(answer["response"]["uid"], review["request"]["uid"]);
    answer["response"].clone()
}

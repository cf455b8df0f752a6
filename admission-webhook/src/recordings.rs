//! Tests that Gavel answers as an API server did: the recorded decisions in `../shared/golden/policies.ndjson.gz`, requested over HTTP.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use flate2::read::GzDecoder;
use gavel_libraries::{EnvSet, KubeVersion};
use gavel_policy::api::ParamKind;
use gavel_policy::{EquivalentResources, GroupVersionKind, GroupVersionResource, PolicyIndex};
use gavel_state::State;
use serde_json::{Value as Json, json};

use crate::config::{Limits, PolicySource, Shutdown};
use crate::http::App;
use crate::http::routes::Paths;
use crate::policies::Policies;
use crate::server::Server;
use crate::telemetry::Metrics;

#[test]
fn recorded_requests_are_decided_as_an_api_server_has_decided_them() {
    let expected = std::env::var_os("GAVEL_SHARED").map(PathBuf::from);
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared");
    let shared = expected.clone().unwrap_or_else(beside);
    let Ok(file) = std::fs::File::open(shared.join("golden/policies.ndjson.gz")) else {
        assert_eq!(expected, None, "GAVEL_SHARED must hold the recordings");
        eprintln!("skipped: there is no ../shared");
        return;
    };
    let served = Served::start();
    let mut client = Client::connect(served.address);
    let (mut decided, mut skipped, mut failures) = (0, 0, Vec::new());
    for line in BufReader::new(GzDecoder::new(file)).lines() {
        let case: Json = serde_json::from_str(&line.unwrap()).unwrap();
        let (request, expected) = (&case["request"], &case["response"]);
        let Some(index) = index(request) else {
            skipped += 1;
            continue;
        };
        served.serve(index);
        let mut sent = request["request"].clone();
        sent["uid"] = "recorded".into();
        let review = json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": sent});
        let found = client.post("/validate", &review);
        let expected = response(expected);
        if found["response"] != expected {
            failures.push(format!(
                "{}:\n  found    {}\n  expected {expected}",
                request["id"], found["response"]
            ));
        }
        decided += 1;
    }
    assert!(
        failures.is_empty(),
        "{} of {decided}:\n{}",
        failures.len(),
        failures[..failures.len().min(5)].join("\n")
    );
    assert!(decided >= 1_000, "{decided} decided, {skipped} skipped");
}

/// A server whose state the test sets.
struct Served {
    address: SocketAddr,
    app: Arc<App>,
    _runtime: tokio::runtime::Runtime,
}

impl Served {
    fn start() -> Self {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let metrics = Arc::new(Metrics::new());
        let policies = Policies::load(PolicySource::Demo, recorded(), &metrics).unwrap();
        let app = Arc::new(App::new(policies, metrics, &Limits::default()));
        let entered = runtime.enter();
        let server = Server::bind(
            SocketAddr::from(([127, 0, 0, 1], 0)),
            Paths::All,
            Arc::clone(&app),
            None,
            Limits::default(),
            Shutdown::default(),
        )
        .unwrap();
        drop(entered);
        let address = server.address().unwrap();
        runtime.spawn(server.run(std::future::pending()));
        Served {
            address,
            app,
            _runtime: runtime,
        }
    }

    fn serve(&self, index: PolicyIndex) {
        self.app.policies.serve(State::of_index(index, recorded()));
    }
}

/// The API server whose answers are recorded.
fn recorded() -> gavel_libraries::Server {
    KubeVersion::v1(36).into()
}

/// The policies of a recording; `None` for recordings that a webhook cannot reproduce, such as recordings with a cost budget of their own,
/// an authorizer given as a table, a namespace that does not exist, or a binding of another policy.
fn index(request: &Json) -> Option<PolicyIndex> {
    let object = request.as_object().unwrap();
    let has = |key: &str| object.get(key).is_some_and(|value| !value.is_null());
    let policy = &request["policy"];
    let bindings = request["bindings"].as_array()?;
    let is_its = |binding: &Json| binding["spec"]["policyName"] == policy["metadata"]["name"];
    if has("costBudget") || has("authorizer") || has("noDefaults") || !has("request") {
        return None;
    }
    if object.get("namespace") == Some(&Json::Null) || !bindings.iter().all(is_its) {
        return None;
    }
    let mut index = PolicyIndex::new(&EnvSet::new(recorded()).unwrap());
    index.apply(policy.clone()).ok()?;
    for binding in bindings {
        index.apply(binding.clone()).ok()?;
    }
    for param in request["params"].as_array().into_iter().flatten() {
        index.apply_param(param.clone());
    }
    let text = |json: &Json| json.as_str().unwrap_or_default().to_owned();
    if let Some(scope) = request["paramScope"].as_str() {
        let kind = &policy["spec"]["paramKind"];
        let kind = ParamKind {
            api_version: text(&kind["apiVersion"]),
            kind: text(&kind["kind"]),
        };
        index.set_namespaced(&kind, scope == "Namespaced");
    }
    let name = &request["request"]["namespace"];
    let namespace = match object.get("namespace") {
        Some(namespace) => {
            let mut namespace = namespace.clone();
            namespace["apiVersion"] = "v1".into();
            namespace["kind"] = "Namespace".into();
            Some(namespace)
        }
        None if text(name).is_empty() => None,
        None => Some(json!({
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": name, "labels": {"kubernetes.io/metadata.name": name}},
            "spec": {"finalizers": ["kubernetes"]},
            "status": {"phase": "Active"},
        })),
    };
    if let Some(namespace) = namespace {
        index.apply(namespace).ok()?;
    }
    let equivalents = request["equivalents"].as_array().into_iter().flatten();
    let mut known = EquivalentResources::default();
    let attributes = &request["request"];
    let own = [
        json!({"resource": attributes["resource"], "kind": attributes["kind"], "subResource": attributes["subResource"]}),
    ];
    for equivalent in own.iter().chain(equivalents) {
        known.register(
            "same",
            GroupVersionResource::read((&equivalent["resource"]).into()),
            equivalent["subResource"].as_str().unwrap_or_default(),
            GroupVersionKind::read((&equivalent["kind"]).into()),
        );
    }
    if has("equivalents") {
        index.set_equivalents(known);
    }
    Some(index)
}

/// The recorded decision as the response of a webhook.
fn response(recorded: &Json) -> Json {
    let mut response = json!({"uid": "recorded", "allowed": recorded["allowed"]});
    let status = &recorded["status"];
    if !status.is_null() {
        let mut status = status.clone();
        if status["details"]["causes"][0]["message"].is_string() {
            status["message"] = status["details"]["causes"][0]["message"].clone();
        }
        response["status"] = status;
    }
    if recorded["warnings"]
        .as_array()
        .is_some_and(|warnings| !warnings.is_empty())
    {
        response["warnings"] = recorded["warnings"].clone();
    }
    let annotations: BTreeMap<String, &Json> = recorded["annotations"]
        .as_object()
        .unwrap()
        .iter()
        .map(|(key, value)| {
            let failure = key == "validation.policy.admission.k8s.io/validation_failure";
            let key = if failure {
                "validation_failure".to_owned()
            } else {
                key.replace('/', ".")
            };
            (key, value)
        })
        .collect();
    if !annotations.is_empty() {
        response["auditAnnotations"] = json!(annotations);
    }
    response
}

/// A kept-alive connection.
struct Client(BufReader<TcpStream>);

impl Client {
    fn connect(address: SocketAddr) -> Self {
        Client(BufReader::new(TcpStream::connect(address).unwrap()))
    }

    fn post(&mut self, path: &str, body: &Json) -> Json {
        let body = body.to_string();
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: gavel\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        self.0
            .get_mut()
            .write_all(format!("{head}{body}").as_bytes())
            .unwrap();
        let mut length = 0;
        loop {
            let mut line = String::new();
            self.0.read_line(&mut line).unwrap();
            let line = line.trim().to_ascii_lowercase();
            if let Some(value) = line.strip_prefix("content-length: ") {
                length = value.parse().unwrap();
            }
            if line.is_empty() {
                break;
            }
        }
        let mut answer = vec![0; length];
        self.0.read_exact(&mut answer).unwrap();
        serde_json::from_slice(&answer).unwrap()
    }
}

//! A custom webhook, built with the crates: one route, and policies that the host has compiled.
//!
//! The program starts a server on loopback, sends one review to the server, prints the answer and exits. A real API server requires TLS in
//! front of the webhook. The alternative is `gavel serve`, which also bounds memory, time and connections.

use std::error::Error;
use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::post;
use axum::{Json, Router};
use gavel::{
    AdmissionRequest, AdmissionResponse, Arena, EnvSet, Options, PolicyIndex, Server, Snapshot,
    Value, dispatch,
};
use serde_json::{Value as JsonValue, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

fn policies() -> Result<Snapshot, Box<dyn Error>> {
    let kubernetes = EnvSet::new(Server::default())?;
    let mut index = PolicyIndex::new(&kubernetes);
    index.apply(json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": "short-names"},
        "spec": {
            "matchConstraints": {"resourceRules": [
                {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["namespaces"]},
            ]},
            "validations": [{"expression": "size(object.metadata.name) <= 20", "message": "names have at most 20 characters"}],
        },
    }))?;
    index.apply(json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": "short-names"},
        "spec": {"policyName": "short-names", "validationActions": ["Deny"]},
    }))?;
    Ok(index.snapshot())
}

/// Decides one review. The object is borrowed from the body.
async fn validate(
    State(policies): State<Arc<Snapshot>>,
    Json(review): Json<JsonValue>,
) -> Result<Json<JsonValue>, (StatusCode, String)> {
    let refused = |error: &dyn std::fmt::Display| (StatusCode::BAD_REQUEST, error.to_string());
    let arena = Arena::new();
    let request = review.get("request").unwrap_or(&JsonValue::Null);
    let request =
        AdmissionRequest::read(Value::from(request), &arena).map_err(|error| refused(&error))?;
    let response = AdmissionResponse::from(dispatch(&policies, &request, &Options::default()));
    let review = serde_json::to_value(response.review("admission.k8s.io/v1", request.uid));
    review.map(Json).map_err(|error| refused(&error))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let app = Router::new()
        .route("/validate", post(validate))
        .with_state(Arc::new(policies()?));
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    tokio::spawn(async move { axum::serve(listener, app).await });

    let review = json!({
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": {
            "uid": "1",
            "operation": "CREATE",
            "kind": {"group": "", "version": "v1", "kind": "Namespace"},
            "resource": {"group": "", "version": "v1", "resource": "namespaces"},
            "name": "a-very-long-name-of-a-namespace",
            "userInfo": {"username": "alice"},
            "object": {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a-very-long-name-of-a-namespace"}},
        },
    })
    .to_string();
    let length = review.len();
    let head = format!(
        "POST /validate HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    let mut connection = TcpStream::connect(address).await?;
    connection.write_all(head.as_bytes()).await?;
    connection.write_all(review.as_bytes()).await?;
    let mut answer = String::new();
    connection.read_to_string(&mut answer).await?;
    println!("{answer}");
    assert!(answer.contains("names have at most 20 characters"));
    Ok(())
}

#[cfg(test)]
#[test]
fn it_runs() {
    main().unwrap();
}

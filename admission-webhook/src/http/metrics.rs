//! `/metrics`.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};

use super::App;
use crate::status::ApiError;

const OPENMETRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

pub(super) async fn metrics(State(app): State<Arc<App>>) -> Response {
    if let Some(live) = app.policies.live() {
        app.metrics.source_age(live.age());
    }
    match app.metrics.encode() {
        Ok(text) => {
            let content_type = HeaderValue::from_static(OPENMETRICS);
            ([(header::CONTENT_TYPE, content_type)], text).into_response()
        }
        Err(error) => ApiError::internal(error).into_response(),
    }
}

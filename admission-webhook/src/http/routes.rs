//! Paths and their handlers.

use std::sync::Arc;

use axum::Router;
use axum::routing::{get, post};

use super::{App, health, metrics, mutate, validate};
use crate::status::ApiError;

/// The paths that are served at an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Paths {
    /// Reviews, health and metrics.
    All,
    /// Reviews only.
    Reviews,
    /// Health and metrics only.
    Health,
}

/// The routes of an address.
pub(crate) fn router(app: Arc<App>, paths: Paths) -> Router {
    let reviews = Router::new()
        .route("/validate", post(validate::policies))
        .route("/validate/crd", post(validate::definitions))
        .route("/validate/policies", post(validate::registrations))
        .route("/mutate", post(mutate::policies));
    let health = Router::new()
        .route("/livez", get(health::livez))
        .route("/livez/{check}", get(health::livez_check))
        .route("/readyz", get(health::readyz))
        .route("/readyz/{check}", get(health::readyz_check))
        .route("/metrics", get(metrics::metrics));
    let router = match paths {
        Paths::All => reviews.merge(health),
        Paths::Reviews => reviews,
        Paths::Health => health,
    };
    router
        .fallback(async || ApiError::not_found())
        .method_not_allowed_fallback(async || ApiError::method_not_allowed())
        .with_state(app)
}

/// The label of a path in the metrics. All unknown paths share the label `other`, because clients may request any path.
pub(crate) fn known(path: &str) -> &'static str {
    const KNOWN: &[&str] = &[
        "/validate",
        "/validate/crd",
        "/validate/policies",
        "/mutate",
        "/livez",
        "/readyz",
        "/metrics",
    ];
    let path = KNOWN.iter().find(|known| **known == path);
    path.copied().unwrap_or("other")
}

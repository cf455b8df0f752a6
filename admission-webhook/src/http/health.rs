//! `/livez` and `/readyz`, with response bodies as in kube-apiserver (apiserver `pkg/server/healthz`).

use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arc_swap::ArcSwap;
use axum::extract::State;
use axum::http::{HeaderName, HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use gavel_golang::quote::quote;

use super::App;
use crate::policies::Rejected;
use crate::status::ApiError;

/// The health of the server.
#[derive(Debug, Default)]
pub(crate) struct Health {
    shutting_down: AtomicBool,
    /// The problems of the newest versions of objects and files.
    problems: ArcSwap<Vec<Rejected>>,
    /// Whether the manifests are being read, and this takes unusually long.
    slow: AtomicBool,
}

impl Health {
    /// Makes the server report that it is not ready, from now on.
    pub(crate) fn shut_down(&self) {
        self.shutting_down.store(true, Ordering::Release);
    }

    pub(crate) fn is_shutting_down(&self) -> bool {
        self.shutting_down.load(Ordering::Acquire)
    }

    /// Records whether reading manifests takes long.
    pub(crate) fn set_slow(&self, slow: bool) {
        self.slow.store(slow, Ordering::Release);
    }

    /// Sets the problems of objects and files; empty if there are none.
    pub(crate) fn set_problems(&self, problems: Vec<Rejected>) {
        self.problems.store(Arc::new(problems));
    }
}

/// A health check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HealthCheck {
    Ping,
    /// A state is in force. With manifests, one is in force from the start; with a cluster, after the first sync. Problems in newer
    /// manifests do not make the server unready: every replica has the same problems, so no replica would be ready.
    Policies,
    Shutdown,
}

const LIVE: &[HealthCheck] = &[HealthCheck::Ping];
const READY: &[HealthCheck] = &[
    HealthCheck::Ping,
    HealthCheck::Policies,
    HealthCheck::Shutdown,
];

impl HealthCheck {
    const fn name(self) -> &'static str {
        match self {
            HealthCheck::Ping => "ping",
            HealthCheck::Policies => "policies",
            HealthCheck::Shutdown => "shutdown",
        }
    }

    fn run(self, app: &App) -> Result<(), &'static str> {
        match self {
            HealthCheck::Policies if !app.policies.is_synced() => {
                Err("the policies have not been read yet")
            }
            HealthCheck::Shutdown if app.health.is_shutting_down() => {
                Err("process is shutting down")
            }
            HealthCheck::Ping | HealthCheck::Policies | HealthCheck::Shutdown => Ok(()),
        }
    }
}

pub(super) async fn livez(State(app): State<Arc<App>>, uri: Uri) -> Response {
    all("livez", LIVE, &app, &uri)
}

pub(super) async fn readyz(State(app): State<Arc<App>>, uri: Uri) -> Response {
    all("readyz", READY, &app, &uri)
}

pub(super) async fn livez_check(State(app): State<Arc<App>>, path: Uri) -> Response {
    one(LIVE, &app, &path)
}

pub(super) async fn readyz_check(State(app): State<Arc<App>>, path: Uri) -> Response {
    one(READY, &app, &path)
}

fn all(path: &str, checks: &[HealthCheck], app: &App, uri: &Uri) -> Response {
    let health = &app.health;
    let query = form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes());
    let mut verbose = false;
    let mut excluded = Vec::new();
    for (key, value) in query {
        verbose |= key == "verbose";
        if key == "exclude" {
            excluded.push(value);
        }
    }
    let mut lines = String::new();
    let mut failed = false;
    // The results of `writeln!` are ignored: writing to a String does not fail.
    for check in checks {
        let name = check.name();
        let before = excluded.len();
        excluded.retain(|excluded| *excluded != name);
        if excluded.len() < before {
            let _ = writeln!(lines, "[+]{name} excluded: ok");
            continue;
        }
        match check.run(app) {
            Ok(()) => {
                let _ = writeln!(lines, "[+]{name} ok");
            }
            Err(_) => {
                failed = true;
                let _ = writeln!(lines, "[-]{name} failed: reason withheld");
            }
        }
        if *check == HealthCheck::Policies {
            if health.slow.load(Ordering::Acquire) {
                let _ = writeln!(
                    lines,
                    "warn: reading manifests takes long; the last good state is served"
                );
            }
            for rejected in health.problems.load().iter() {
                let standing = match rejected.in_force {
                    true => "the last good version is served",
                    false => "not in force",
                };
                let _ = writeln!(lines, "warn: {standing}: {}", rejected.first_line());
            }
            for note in app.policies.live().iter().flat_map(|live| live.notes()) {
                let _ = writeln!(lines, "warn: {note}");
            }
            for unseen in app.policies.current().unseen() {
                let _ = writeln!(lines, "warn: {unseen}");
            }
        }
    }
    if !excluded.is_empty() {
        excluded.sort_unstable();
        excluded.dedup();
        let names: Vec<String> = excluded.iter().map(|name| quote(name.as_bytes())).collect();
        let names = names.join(",");
        let _ = writeln!(
            lines,
            "warn: some health checks cannot be excluded: no matches for {names}"
        );
    }
    if failed {
        let _ = writeln!(lines, "{path} check failed");
        return text(StatusCode::INTERNAL_SERVER_ERROR, lines);
    }
    if !verbose {
        return text(StatusCode::OK, "ok".to_owned());
    }
    let _ = writeln!(lines, "{path} check passed");
    text(StatusCode::OK, lines)
}

fn one(checks: &[HealthCheck], app: &App, path: &Uri) -> Response {
    let (_, name) = path.path().rsplit_once('/').unwrap_or_default();
    let Some(check) = checks.iter().find(|check| check.name() == name) else {
        return ApiError::not_found().into_response();
    };
    match check.run(app) {
        Ok(()) => text(StatusCode::OK, "ok".to_owned()),
        Err(reason) => {
            let body = format!("internal server error: {reason}\n");
            text(StatusCode::INTERNAL_SERVER_ERROR, body)
        }
    }
}

fn text(code: StatusCode, body: String) -> Response {
    let headers: [(HeaderName, HeaderValue); 2] = [
        (
            header::CONTENT_TYPE,
            HeaderValue::from_static("text/plain; charset=utf-8"),
        ),
        (
            header::X_CONTENT_TYPE_OPTIONS,
            HeaderValue::from_static("nosniff"),
        ),
    ];
    (code, headers, body).into_response()
}

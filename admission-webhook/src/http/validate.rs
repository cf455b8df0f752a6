//! `POST /validate` and `POST /validate/crd`: reviews, decided by the policies or by the definitions of custom resources.

use std::cell::Cell;
use std::sync::Arc;
use std::time::Instant;

use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use gavel_engine::value::Arena;
use gavel_policy::{AdmissionRequest, AdmissionResponse, Denial, Options, dispatch};

use super::App;
use super::deadline::deadline;
use super::invalid::invalid;
use super::observe::Checks;
use super::review::Review;
use crate::evaluation::{Flow, Outcome, Turn};
use crate::status::{ApiError, json_body};
use crate::telemetry::bounded;

/// Answers a review with what the policies decide.
pub(super) async fn policies(State(app): State<Arc<App>>, request: Request) -> Response {
    answer(&app, request, by_policies).await
}

/// Answers a review with what the definitions of custom resources say.
pub(super) async fn definitions(State(app): State<Arc<App>>, request: Request) -> Response {
    answer(&app, request, by_definitions).await
}

/// Decides a request, or says on whose account the time went that was not enough.
pub(super) type Decide = fn(&App, &AdmissionRequest<'_>, &Turn) -> Outcome<AdmissionResponse>;

/// Answers a review with what `decide` says of its request.
pub(super) async fn answer(app: &Arc<App>, request: Request, decide: Decide) -> Response {
    let answered = try_answer(app, request, decide).await;
    answered.unwrap_or_else(|error| {
        tracing::warn!(error = bounded(&error.to_string()), "request refused");
        error.into_response()
    })
}

async fn try_answer(
    app: &Arc<App>,
    request: Request,
    decide: Decide,
) -> Result<Response, ApiError> {
    let (head, body) = request.into_parts();
    let deadline = deadline(Instant::now(), head.uri.query().unwrap_or_default())?;
    let body = app.bodies.read_json(&head.headers, body, deadline).await?;
    let size = body.bytes().len();
    let deciding = Arc::clone(app);
    let decide = move |turn: &Turn| {
        in_arena(|arena| {
            let review = Review::decode(body.bytes(), arena)?;
            Ok(match decide(&deciding, review.request(), turn) {
                Outcome::Decided(response) => Outcome::Decided(json_body(&review.answer(response))),
                Outcome::Unfinished(flow) => Outcome::Unfinished(flow),
            })
        })
    };
    app.evaluations.run(size, deadline, decide).await
}

/// Runs with the memory of the last review that this thread has read.
fn in_arena<T>(run: impl FnOnce(&Arena) -> T) -> T {
    thread_local! {
        static ARENA: Cell<Arena> = Cell::default();
    }
    let mut arena = ARENA.take();
    let done = run(&arena);
    arena.reset();
    ARENA.set(arena);
    done
}

fn by_policies(
    app: &App,
    request: &AdmissionRequest<'_>,
    turn: &Turn,
) -> Outcome<AdmissionResponse> {
    let state = app.policies.current();
    let interrupt = || turn.is_over();
    let checks = Checks::new(&state, turn);
    let options = Options {
        interrupt: Some(&interrupt),
        observer: &checks,
        authorizer: Some(state.authorizer()),
        ..Options::default()
    };
    let snapshot = state.snapshot(request);
    let decision = dispatch(&snapshot, request, &options);
    if !turn.counts() {
        return Outcome::Unfinished(Flow::new(&request.user.name, &checks.stopped()));
    }
    checks.count(request.uid, &app.metrics);
    for (key, error) in &decision.annotation_errors {
        let (uid, key, error) = (bounded(request.uid), bounded(key), bounded(error));
        tracing::warn!(uid, key, error, "audit annotation dropped");
    }
    let denial = decision.denials.first().cloned();
    let response = AdmissionResponse::from(decision);
    log(request, &response, denial.as_ref());
    Outcome::Decided(response)
}

fn by_definitions(
    app: &App,
    request: &AdmissionRequest<'_>,
    turn: &Turn,
) -> Outcome<AdmissionResponse> {
    let state = app.policies.current();
    let found = state.definitions().validate(request, &|| turn.is_over());
    if !turn.counts() {
        return Outcome::Unfinished(Flow::new(&request.user.name, &request.resource.qualified()));
    }
    let response = invalid(request, found);
    log(request, &response, None);
    Outcome::Decided(response)
}

/// Logs what a request came to, and which policy was the first that denied it. Texts of the request are cut, and nothing of
/// its objects is logged but what policies say about them.
pub(super) fn log(
    request: &AdmissionRequest<'_>,
    response: &AdmissionResponse,
    denial: Option<&Denial>,
) {
    let uid = bounded(request.uid);
    let resource = request.resource.qualified();
    let resource = bounded(&resource);
    let (namespace, name) = (bounded(request.namespace), bounded(request.name));
    let (operation, user) = (request.operation, bounded(&request.user.name));
    match &response.status {
        None => tracing::debug!(uid, operation, resource, namespace, name, user, "allowed"),
        Some(status) => tracing::info!(
            uid,
            operation,
            resource,
            namespace,
            name,
            user,
            policy = denial.map(|denial| denial.policy.as_str()),
            binding = denial.and_then(|denial| denial.binding.as_deref()),
            reason = status.reason,
            error = bounded(&status.message),
            "denied"
        ),
    }
    for warning in response.warnings.iter().take(MAX_WARNINGS) {
        let warning = bounded(warning);
        tracing::info!(
            uid, operation, resource, namespace, name, user, warning, "warned"
        );
    }
}

/// The most warnings of one request that are logged.
const MAX_WARNINGS: usize = 8;

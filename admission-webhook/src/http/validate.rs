//! `POST /validate`, `POST /validate/crd` and `POST /validate/policies`: answers reviews by the policies, by the definitions of custom
//! resources, or by the rules for policies and bindings themselves.

use std::cell::Cell;
use std::sync::Arc;
use std::time::Instant;

use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use gavel_engine::value::Arena;
use gavel_policy::{
    AdmissionRequest, AdmissionResponse, Decision, Denial, Options, Snapshot, dispatch,
};
use gavel_state::{Findings, Registrations};

use super::App;
use super::answers::{Answers, Attempt, NoAnswer};
use super::deadline::deadline;
use super::invalid::invalid;
use super::review::Review;
use super::writer::Writer;
use crate::evaluation::{Flow, INLINE_BODY, Outcome, Turn};
use crate::status::{ApiError, json, json_response};
use crate::telemetry::bounded;

/// Answers a review with the decision of the policies.
pub(super) async fn policies(State(app): State<Arc<App>>, request: Request) -> Response {
    answer(&app, request, Method::new(by_policies)).await
}

/// Answers a review of a custom resource by validating the resource against its definition.
pub(super) async fn definitions(State(app): State<Arc<App>>, request: Request) -> Response {
    let method = Method {
        documents: 1,
        ..Method::new(by_definitions)
    };
    answer(&app, request, method).await
}

/// Answers a review of a policy or binding as the API server answers a request for the built-in kind.
pub(super) async fn registrations(State(app): State<Arc<App>>, request: Request) -> Response {
    let method = Method {
        documents: 1,
        inline: false,
        ..Method::new(by_registrations)
    };
    answer(&app, request, method).await
}

/// A function that decides a request, or says why it cannot be decided yet.
pub(super) type Decide =
    fn(&App, &AdmissionRequest<'_>, &Turn, Option<&Arc<Answers>>) -> Outcome<AdmissionResponse>;

/// How a path decides requests.
pub(super) struct Method {
    pub(super) decide: Decide,
    /// The number of copies of the body, as documents, that are in memory at the same time.
    pub(super) documents: usize,
    /// Whether a request with a small body is first decided on the thread that read it. Compiling one expression can take a hundred times
    /// as long as that thread may be held.
    pub(super) inline: bool,
}

impl Method {
    pub(super) fn new(decide: Decide) -> Self {
        Method {
            decide,
            documents: 0,
            inline: true,
        }
    }
}

/// Answers a review by this method.
pub(super) async fn answer(app: &Arc<App>, request: Request, method: Method) -> Response {
    let answered = try_answer(app, request, method).await;
    answered.unwrap_or_else(|error| {
        tracing::warn!(error = bounded(&error.to_string()), "request refused");
        error.into_response()
    })
}

async fn try_answer(
    app: &Arc<App>,
    request: Request,
    Method {
        decide,
        documents,
        inline,
    }: Method,
) -> Result<Response, ApiError> {
    if !app.policies.is_synced() {
        return Err(ApiError::unavailable());
    }
    let (head, body) = request.into_parts();
    let deadline = deadline(Instant::now(), head.uri.query().unwrap_or_default())?;
    let bodies = &app.bodies;
    let body = bodies.read_json(&head.headers, body, deadline, documents);
    let body = body.await?;
    let inline = inline && body.bytes().len() <= INLINE_BODY;
    let answers = app.policies.live().map(Answers::new).map(Arc::new);
    let (deciding, answers_so_far) = (Arc::clone(app), answers.clone());
    let decide = Arc::new(move |turn: &Turn| {
        in_arena(|arena| {
            let review = Review::decode(body.bytes(), arena)?;
            let decided = decide(&deciding, review.request(), turn, answers_so_far.as_ref());
            Ok(match decided {
                Outcome::Decided(response) => Outcome::Decided(json(&review.answer(response))),
                Outcome::Lacking => Outcome::Lacking,
                Outcome::Unfinished(flow) => Outcome::Unfinished(flow),
            })
        })
    });
    loop {
        let attempt = Arc::clone(&decide);
        let evaluations = &app.evaluations;
        let response = evaluations
            .run(inline, deadline, move |turn: &Turn| attempt(turn))
            .await?;
        match (response, &answers) {
            (Some(response), _) => {
                // Releases the memory of the body, so that the answer can take it.
                drop(decide);
                return app.bodies.hold_answer(response).map(json_response);
            }
            (None, Some(answers)) => answers.fetch(deadline).await?,
            (None, None) => return Err(ApiError::internal("no decision was reached")),
        }
    }
}

/// Runs a function with the arena of the last review that this thread has read, so that the arena's memory is reused.
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
    answers: Option<&Arc<Answers>>,
) -> Outcome<AdmissionResponse> {
    if request.is_of_own_kind() {
        return Outcome::Decided(AdmissionResponse::of(None));
    }
    let state = app.policies.current();
    let attempt = Attempt::new(&state, turn, answers);
    let decide = |snapshot: &Snapshot, options: &Options<'_>| dispatch(snapshot, request, options);
    let (decision, checks) = match attempt.decide(&state, request, decide) {
        Ok(decided) => decided,
        Err(none) => return none.into(),
    };
    for (key, error) in &decision.annotation_errors {
        let (uid, key, error) = (bounded(request.uid), bounded(key), bounded(error));
        tracing::warn!(uid, key, error, "audit annotation dropped");
    }
    if let Some(shadow) = app.policies.shadow() {
        match attempt.decide(&shadow, request, decide) {
            Ok((decision, _)) => compare(app, request, decision),
            Err(none) => return none.into(),
        }
    }
    checks.count(&app.metrics);
    let denial = decision.denials.first().cloned();
    let response = AdmissionResponse::from(decision);
    log(request, &response, denial.as_ref());
    Outcome::Decided(response)
}

/// Logs and counts a request that the API server admitted, if `decision` denies it. `decision` is Gavel's own evaluation of the API
/// server's built-in policies.
fn compare(app: &App, request: &AdmissionRequest<'_>, decision: Decision) {
    let denial = decision.denials.first().cloned();
    let Some(status) = AdmissionResponse::from(decision).status else {
        return;
    };
    let policy = denial.as_ref().map_or("", |denial| denial.policy.as_str());
    app.metrics.differs(policy);
    let resource = request.resource.qualified();
    tracing::error!(
        uid = bounded(request.uid),
        operation = request.operation,
        resource = bounded(&resource),
        namespace = bounded(request.namespace),
        name = bounded(request.name),
        policy,
        error = bounded(&status.message),
        "the server admits what the built-in policy denies here"
    );
}

fn by_definitions(
    app: &App,
    request: &AdmissionRequest<'_>,
    turn: &Turn,
    _: Option<&Arc<Answers>>,
) -> Outcome<AdmissionResponse> {
    let state = app.policies.current();
    let found = state.definitions().validate(request, &|| turn.is_over());
    validated(request, turn, found)
}

fn by_registrations(
    app: &App,
    request: &AdmissionRequest<'_>,
    turn: &Turn,
    answers: Option<&Arc<Answers>>,
) -> Outcome<AdmissionResponse> {
    let state = app.policies.current();
    let registrations = state.registrations();
    let refusal = answers
        .zip(registrations)
        .and_then(|(answers, registrations)| {
            let params = registrations.named_params(request)?;
            let attempt = Attempt::new(&state, turn, Some(answers));
            Writer::new(request, answers, attempt.authorizer()).refusal(&params)
        });
    // Validation compiles expressions, which takes long, so it begins only when all answers have been fetched.
    if answers.is_some_and(|answers| answers.is_lacking()) {
        return NoAnswer::Lacking.into();
    }
    let interrupt = || turn.is_over();
    let validate =
        |registrations: &Registrations| registrations.validate(request, Some(&interrupt));
    let mut found = registrations.map(validate).unwrap_or_default();
    if found.unreadable.is_none() && found.errors.is_empty() {
        found.errors.extend(refusal);
    }
    validated(request, turn, found)
}

/// The outcome of a validation, which counts only if the time limit has not passed.
fn validated(
    request: &AdmissionRequest<'_>,
    turn: &Turn,
    found: Findings,
) -> Outcome<AdmissionResponse> {
    if !turn.counts() {
        return Outcome::Unfinished(Flow::new(&request.user.name, &request.resource.qualified()));
    }
    let response = invalid(request, found);
    log(request, &response, None);
    Outcome::Decided(response)
}

/// Logs the outcome of a request, and the first policy that denied it. Texts from the request are truncated. The log contains nothing of
/// the objects, except their names and namespaces, and the messages of policies about them.
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

/// The maximum number of warnings of one request that are logged.
const MAX_WARNINGS: usize = 8;

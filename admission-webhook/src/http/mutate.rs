//! `POST /mutate`: answers reviews with the changes of mutating policies.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::response::Response;
use gavel_policy::mutating::mutate;
use gavel_policy::{AdmissionRequest, AdmissionResponse, Options, Snapshot};

use super::App;
use super::answers::{Answers, Attempt};
use super::validate::{Method, answer, log};
use crate::evaluation::{Outcome, Turn};

/// A mutation may have three copies of the object in memory. The memory that is reserved for one document suffices for one and a half.
const DOCUMENTS: usize = 2;

/// Answers a review with a patch of the object.
pub(super) async fn policies(State(app): State<Arc<App>>, request: Request) -> Response {
    let method = Method {
        documents: DOCUMENTS,
        ..Method::new(by_policies)
    };
    answer(&app, request, method).await
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
    let decide = |snapshot: &Snapshot, options: &Options<'_>| {
        mutate(snapshot, request, state.schemas(), options)
    };
    let (mutated, checks) = match attempt.decide(&state, request, decide) {
        Ok(decided) => decided,
        Err(none) => return none.into(),
    };
    checks.count(&app.metrics);
    let response = AdmissionResponse::of_mutation(request, mutated);
    log(request, &response, None);
    Outcome::Decided(response)
}

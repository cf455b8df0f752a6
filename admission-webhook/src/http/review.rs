//! AdmissionReviews (admission.k8s.io/v1 and v1beta1): the requests of API servers, answered in the same version.

use gavel_apimachinery::{json, names};
use gavel_engine::value::{Arena, Value};
use gavel_policy::{AdmissionRequest, AdmissionResponse, AnsweredReview};
use gavel_schema::read_value;

use crate::status::ApiError;
use crate::telemetry::bounded;

/// A review that an API server has sent.
#[derive(Debug)]
pub(crate) struct Review<'b> {
    version: ReviewVersion,
    request: AdmissionRequest<'b>,
}

/// The version of a review. Reviews of both versions have the same fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReviewVersion {
    V1,
    V1beta1,
}

impl ReviewVersion {
    const fn api_version(self) -> &'static str {
        match self {
            ReviewVersion::V1 => "admission.k8s.io/v1",
            ReviewVersion::V1beta1 => "admission.k8s.io/v1beta1",
        }
    }
}

impl<'b> Review<'b> {
    /// Reads a review. It borrows from the body and from the arena.
    ///
    /// # Errors
    ///
    /// 400 if the body is not JSON, not an AdmissionReview of a known version, or has no request with a uid.
    pub(crate) fn decode(body: &'b [u8], arena: &'b Arena) -> Result<Self, ApiError> {
        if body.is_empty() {
            return Err(ApiError::bad_request("the body of the request is empty"));
        }
        let review = read_value(body, arena).map_err(|error| {
            ApiError::bad_request(format!("the body of the request is not JSON: {error}"))
        })?;
        let field = |name| review.as_map()?.get_str(name).ok()?;
        let version = version(field("apiVersion"), field("kind"))?;
        let request = match field("request").filter(|request| !request.is_null()) {
            None => Err(ApiError::bad_request("the review has no request")),
            Some(request) => {
                let read = AdmissionRequest::read(request, arena);
                let read = read.map_err(|error| ApiError::bad_request(error.to_string()))?;
                check_names(&read).map(|()| read)
            }
        }?;
        Ok(Review { version, request })
    }

    /// The request.
    pub(crate) fn request(&self) -> &AdmissionRequest<'b> {
        &self.request
    }

    /// The review that carries the response.
    pub(crate) fn answer(&self, response: AdmissionResponse) -> AnsweredReview<'_> {
        response.review(self.version.api_version(), self.request.uid)
    }
}

/// Checks the `uid`, and the names, which API servers validate before admission.
fn check_names(request: &AdmissionRequest<'_>) -> Result<(), ApiError> {
    let wrong = |message: String| Err(ApiError::bad_request(message));
    if request.uid.is_empty() {
        return wrong("request.uid: must be set".to_owned());
    }
    // In a request about a namespace, API servers validate the name of the namespace only after admission, so it may be invalid here.
    let is_namespace =
        request.resource.group.is_empty() && request.resource.resource == "namespaces";
    let namespace = match request.namespace {
        "" => Vec::new(),
        name if is_namespace && name == request.name => Vec::new(),
        namespace => names::dns1123_label(namespace.as_bytes()),
    };
    let faults = namespace.into_iter().map(|fault| ("namespace", fault));
    let name = names::path_segment(request.name, false).into_iter();
    let mut faults = faults.chain(name.map(|fault| ("name", fault)));
    match faults.next() {
        None => Ok(()),
        Some((field, fault)) => wrong(format!("request.{field}: Invalid value: {fault}")),
    }
}

fn version(
    api_version: Option<Value<'_>>,
    kind: Option<Value<'_>>,
) -> Result<ReviewVersion, ApiError> {
    let [api_version, kind] = [api_version, kind].map(|value| {
        let text = value.and_then(|value| value.as_str());
        text.unwrap_or_default()
    });
    let known = [ReviewVersion::V1, ReviewVersion::V1beta1];
    let version = known
        .into_iter()
        .find(|version| version.api_version() == api_version);
    match version {
        Some(version) if kind == "AdmissionReview" => Ok(version),
        _ => Err(ApiError::bad_request(format!(
            "the body must be an AdmissionReview of admission.k8s.io/v1 or admission.k8s.io/v1beta1, not {} of {}",
            json::quoted(bounded(kind)),
            json::quoted(bounded(api_version))
        ))),
    }
}

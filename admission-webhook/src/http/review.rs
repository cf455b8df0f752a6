//! AdmissionReviews (admission.k8s.io/v1 and v1beta1): the requests of API servers, answered in the same version.

use gavel_apimachinery::json;
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
                match read.uid {
                    "" => Err(ApiError::bad_request("request.uid: must be set")),
                    _ => Ok(read),
                }
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

//! AdmissionReviews (admission.k8s.io/v1 and v1beta1): what the API server asks, and the answer in the same version.

use std::collections::BTreeMap;

use gavel_apimachinery::json;
use gavel_engine::value::{Arena, Value};
use gavel_policy::AdmissionRequest;
use serde::Serialize;
use serde_json::Value as Json;

use super::status::ApiError;

/// A question of the API server.
#[derive(Debug)]
pub(crate) struct Review<'b> {
    version: ReviewVersion,
    request: AdmissionRequest<'b>,
}

/// The version of a review. Both have the same fields.
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
    /// Reads a review; what it holds lives in the body and in the arena.
    ///
    /// # Errors
    ///
    /// 400 for what is no JSON, no AdmissionReview of a known version, or has no request with a uid.
    pub(crate) fn decode(body: &'b [u8], arena: &'b Arena) -> Result<Self, ApiError> {
        if body.is_empty() {
            return Err(ApiError::bad_request("the body of the request is empty"));
        }
        let review = json::read_value(body, arena).map_err(|error| {
            ApiError::bad_request(format!("the body of the request is not JSON: {error}"))
        })?;
        let field = |name| review.as_map()?.get_str(name).ok()?;
        let version = version(field("apiVersion"), field("kind"))?;
        let request = match field("request") {
            None | Some(Value::Null) => Err(ApiError::bad_request("the review has no request")),
            Some(request) => AdmissionRequest::read(request, arena)
                .map_err(|error| ApiError::bad_request(error.to_string())),
        }?;
        if request.uid.is_empty() {
            return Err(ApiError::bad_request("request.uid must be set"));
        }
        Ok(Review { version, request })
    }

    /// The request.
    pub(crate) fn request(&self) -> &AdmissionRequest<'b> {
        &self.request
    }

    /// The review that answers this one.
    pub(crate) fn answer(&self, verdict: Verdict) -> Answer<'_> {
        Answer {
            kind: "AdmissionReview",
            api_version: self.version.api_version(),
            response: Response {
                uid: self.request.uid,
                verdict,
            },
        }
    }
}

fn version(
    api_version: Option<Value<'_>>,
    kind: Option<Value<'_>>,
) -> Result<ReviewVersion, ApiError> {
    let [api_version, kind] = [api_version, kind].map(|value| match value {
        Some(Value::String(text)) => text,
        _ => "",
    });
    let known = [ReviewVersion::V1, ReviewVersion::V1beta1];
    let version = known
        .into_iter()
        .find(|version| version.api_version() == api_version);
    match version {
        Some(version) if kind == "AdmissionReview" => Ok(version),
        _ => Err(ApiError::bad_request(format!(
            "the body must be an AdmissionReview of admission.k8s.io/v1 or admission.k8s.io/v1beta1, not {} of {}",
            json::quoted(kind),
            json::quoted(api_version)
        ))),
    }
}

/// What is decided.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Verdict {
    pub(crate) allowed: bool,
    /// Why not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) status: Option<Denial>,
    /// What the user is told beside.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) warnings: Vec<String>,
    /// What the audit log keeps. The API server writes the webhook's name and a slash before each key.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) audit_annotations: BTreeMap<String, String>,
}

/// The status of a refused request.
#[derive(Debug, Serialize)]
pub(crate) struct Denial {
    pub(crate) status: &'static str,
    pub(crate) message: String,
    pub(crate) reason: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) details: Option<Json>,
    pub(crate) code: u16,
}

/// The review that is sent back.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Answer<'r> {
    kind: &'static str,
    api_version: &'static str,
    response: Response<'r>,
}

#[derive(Debug, Serialize)]
struct Response<'r> {
    uid: &'r str,
    #[serde(flatten)]
    verdict: Verdict,
}

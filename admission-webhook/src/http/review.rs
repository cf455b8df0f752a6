//! AdmissionReviews (admission.k8s.io/v1 and v1beta1): what the API server asks, and the answer in the same version.

use std::collections::BTreeMap;
use std::fmt;

use gavel_apimachinery::json;
use gavel_policy::{AdmissionRequest, RequestFields};
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::status::ApiError;

/// A question of the API server.
#[derive(Debug)]
pub(crate) struct Review {
    version: ReviewVersion,
    request: AdmissionRequest,
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

impl Review {
    /// Reads a review.
    ///
    /// # Errors
    ///
    /// 400 for what is no JSON, no AdmissionReview of a known version, or has no request with a uid.
    pub(crate) fn decode(body: &[u8]) -> Result<Self, ApiError> {
        if body.is_empty() {
            return Err(ApiError::bad_request("the body of the request is empty"));
        }
        let envelope: Envelope = json::read(body).map_err(|error| {
            ApiError::bad_request(match error.is_data() {
                true => format!("the review cannot be read: {error}"),
                false => format!("the body of the request is not JSON: {error}"),
            })
        })?;
        let version = envelope.version()?;
        let fields = envelope.request;
        let fields = fields.ok_or_else(|| ApiError::bad_request("the review has no request"))?;
        let request = AdmissionRequest::new(fields)
            .map_err(|error| ApiError::bad_request(error.to_string()))?;
        if request.uid.is_empty() {
            return Err(ApiError::bad_request("request.uid must be set"));
        }
        Ok(Review { version, request })
    }

    /// The request.
    pub(crate) fn request(&self) -> &AdmissionRequest {
        &self.request
    }

    /// The review that answers this one.
    pub(crate) fn answer(&self, verdict: Verdict) -> Answer<'_> {
        Answer {
            kind: "AdmissionReview",
            api_version: self.version.api_version(),
            response: Response {
                uid: &self.request.uid,
                verdict,
            },
        }
    }
}

/// A review as it comes. Its fields are read into their places: most reviews are small, and a map for each level of them
/// would take longer than the decision.
#[derive(Default)]
struct Envelope {
    api_version: Json,
    kind: Json,
    request: Option<RequestFields>,
}

impl Envelope {
    fn version(&self) -> Result<ReviewVersion, ApiError> {
        let [api_version, kind] =
            [&self.api_version, &self.kind].map(|text| text.as_str().unwrap_or_default());
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
}

impl<'de> Deserialize<'de> for Envelope {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(EnvelopeVisitor)
    }
}

struct EnvelopeVisitor;

impl<'de> Visitor<'de> for EnvelopeVisitor {
    type Value = Envelope;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an AdmissionReview")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Envelope, A::Error> {
        let mut envelope = Envelope::default();
        while let Some(name) = map.next_key::<String>()? {
            match name.as_str() {
                "apiVersion" => envelope.api_version = map.next_value()?,
                "kind" => envelope.kind = map.next_value()?,
                "request" => envelope.request = map.next_value()?,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(envelope)
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

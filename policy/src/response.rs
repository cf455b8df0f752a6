//! The response to an AdmissionReview (`admission.k8s.io/v1` and `v1beta1`). Its messages and annotations are as close as possible to those
//! of the API server's own policies.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use gavel_apimachinery::json::with_whole_numbers;
use gavel_apimachinery::status::Status;
use serde::Serialize;
use serde_json::Value as Json;

use crate::decision::Decision;
use crate::mutating::{Mutated, difference};
use crate::request::AdmissionRequest;

/// The maximum length of an annotation key, in bytes, without the webhook's name.
const MAX_KEY: usize = 63;

/// The `response` of an AdmissionReview. Use [`review`](Self::review) to get the complete AdmissionReview.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AdmissionResponse {
    /// Whether the request is allowed.
    pub allowed: bool,
    /// The status of a denial; `None` if the request is allowed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
    /// The warnings for the client.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// The annotations of the audit event. The API server prefixes each key with the webhook's name and a slash.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub audit_annotations: BTreeMap<String, String>,
    /// `JSONPatch`; `None` without a patch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patch_type: Option<&'static str>,
    /// The operations of a JSON patch (RFC 6902) that changes the object, as JSON in base64. `None` if nothing changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patch: Option<String>,
}

/// An AdmissionReview that contains a response.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AnsweredReview<'r> {
    kind: &'static str,
    api_version: &'r str,
    response: IdentifiedResponse<'r>,
}

#[derive(Debug, Serialize)]
struct IdentifiedResponse<'r> {
    uid: &'r str,
    #[serde(flatten)]
    response: AdmissionResponse,
}

impl AdmissionResponse {
    /// The response that denies the request with a status or, without a status, allows it.
    pub fn of(status: Option<Status>) -> Self {
        AdmissionResponse {
            allowed: status.is_none(),
            status,
            ..AdmissionResponse::default()
        }
    }

    /// The response after mutating policies. If they changed the object, the changes become a JSON patch. Whole doubles such as 1.0 are not
    /// changed: an API server writes them as integers before it applies the patch.
    pub fn of_mutation(request: &AdmissionRequest<'_>, mutated: Mutated) -> Self {
        let sent = || with_whole_numbers(request.object.to_json().unwrap_or_default());
        let operations = mutated.object.map(|after| difference(&sent(), &after));
        let operations = operations.filter(|operations| !operations.is_empty());
        AdmissionResponse {
            patch_type: operations.is_some().then_some("JSONPatch"),
            patch: operations.map(|operations| STANDARD.encode(Json::from(operations).to_string())),
            ..AdmissionResponse::of(mutated.status)
        }
    }

    /// The AdmissionReview with this response. `api_version` (such as `admission.k8s.io/v1`) and `uid` are those of the received
    /// AdmissionReview.
    pub fn review<'r>(self, api_version: &'r str, uid: &'r str) -> AnsweredReview<'r> {
        AnsweredReview {
            kind: "AdmissionReview",
            api_version,
            response: IdentifiedResponse {
                uid,
                response: self,
            },
        }
    }
}

impl From<Decision> for AdmissionResponse {
    fn from(decision: Decision) -> Self {
        let annotations = decision.audit_annotations.into_iter();
        AdmissionResponse {
            warnings: decision.warnings,
            audit_annotations: annotations
                .map(|(key, value)| (annotation_key(&key), value))
                .collect(),
            ..AdmissionResponse::of(decision.status.map(of_webhook))
        }
    }
}

/// Replaces the message of a status by the message of the status's first cause. The API server prefixes messages of webhooks with
/// `admission webhook "…" denied the request: `. Messages of its own policies start with the resource and the name instead.
fn of_webhook(status: Status) -> Status {
    let cause = status.details.causes.first();
    Status {
        message: cause.map_or(status.message, |cause| cause.message.clone()),
        ..status
    }
}

/// The annotation key after `WEBHOOK/`, which cannot contain another slash: `validation_failure` for audited failures, `POLICY.KEY` for a
/// policy's own annotations.
///
/// If the key is too long, the policy's name is truncated and followed by a hash of the whole key. Keys are ASCII.
fn annotation_key(key: &str) -> String {
    if let Some(name) = key.strip_prefix("validation.policy.admission.k8s.io/") {
        return name.to_owned();
    }
    if key.len() <= MAX_KEY {
        return key.replace('/', ".");
    }
    let hash = fnv1a(key);
    let (policy, name) = key.split_once('/').unwrap_or(("", key));
    let end = format!(".{hash:08x}.{name}");
    let kept = MAX_KEY.saturating_sub(end.len());
    let start: String = policy.chars().take(kept).collect();
    match kept {
        // The annotation's own name leaves no room for the policy's name.
        0 => {
            let start: String = name.chars().take(MAX_KEY.saturating_sub(9)).collect();
            format!("{start}.{hash:08x}")
        }
        _ => format!("{start}{end}"),
    }
}

/// The FNV-1a hash, which is the same in all versions of Gavel.
fn fnv1a(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_no_slash_and_are_short_enough() {
        let check = |key: &str, expected: &str| assert_eq!(annotation_key(key), expected);
        check(
            "validation.policy.admission.k8s.io/validation_failure",
            "validation_failure",
        );
        check("images.example.com/tags", "images.example.com.tags");
        let (policy, name) = ("p".repeat(80), "n".repeat(63));
        check(
            &format!("{policy}/tags"),
            &format!("{}.494f30f7.tags", "p".repeat(49)),
        );
        for key in [format!("{policy}/{name}"), format!("p/{name}")] {
            assert_eq!(annotation_key(&key).len(), MAX_KEY);
        }
    }
}

//! A decision as the answer to a review says it, so that what a user of `kubectl` reads and what an audit log keeps is the
//! nearest to what the API server's own policies would have left there.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use gavel_apimachinery::{field, json as text};
use gavel_policy::mutating::{Mutated, difference};
use gavel_policy::{AdmissionRequest, Decision, Status};
use serde_json::{Value as Json, json};

use super::review::{Denial, Verdict};
use gavel_state::Findings;

/// The most characters of an annotation's key behind the webhook's name.
const MAX_KEY: usize = 63;

/// What is answered.
pub(super) fn verdict(decision: Decision) -> Verdict {
    let annotations = decision.audit_annotations.into_iter();
    Verdict {
        allowed: decision.status.is_none(),
        status: decision.status.map(denial),
        warnings: decision.warnings,
        audit_annotations: annotations
            .map(|(key, value)| (annotation_key(&key), value))
            .collect::<BTreeMap<String, String>>(),
        ..Verdict::default()
    }
}

/// What is answered about a custom resource: what the API server itself says of one that its definition does not allow.
pub(super) fn invalid(request: &AdmissionRequest<'_>, found: Findings) -> Verdict {
    let details = |causes: Vec<Json>| {
        let group = request.resource.group.as_str();
        let kind = found.kind.strip_suffix(group).unwrap_or_default();
        let kind = kind.trim_end_matches('.');
        json!({"name": request.name, "group": group, "kind": kind, "causes": causes})
    };
    let status = match (&found.unreadable, field::aggregate(&found.errors)) {
        (Some(error), _) => Some(Denial {
            status: "Failure",
            message: error.clone(),
            reason: "BadRequest".to_owned(),
            details: None,
            code: 400,
        }),
        (None, Some(errors)) => {
            let causes = found.errors.iter().map(|error| {
                json!({
                    "reason": error.kind.reason(),
                    "message": error.body(),
                    "field": error.field,
                })
            });
            let name = text::quoted(request.name);
            Some(Denial {
                status: "Failure",
                message: format!("{} {name} is invalid: {errors}", found.kind),
                reason: "Invalid".to_owned(),
                details: Some(details(causes.collect())),
                code: 422,
            })
        }
        (None, None) => None,
    };
    Verdict {
        allowed: status.is_none(),
        status,
        warnings: found.warnings,
        ..Verdict::default()
    }
}

/// What is answered about an object that policies mutate: the difference as a patch, where there is one.
pub(super) fn mutation(request: &AdmissionRequest<'_>, mutated: Mutated) -> Verdict {
    let sent = || request.object.to_json().unwrap_or_default();
    let operations = mutated.object.map(|after| difference(&sent(), &after));
    let operations = operations.filter(|operations| !operations.is_empty());
    Verdict {
        allowed: mutated.status.is_none(),
        status: mutated.status.map(|status| Denial {
            status: "Failure",
            details: Some(details(&status)),
            message: status.message,
            reason: status.reason,
            code: status.code,
        }),
        patch_type: operations.is_some().then_some("JSONPatch"),
        patch: operations.map(|operations| STANDARD.encode(Json::from(operations).to_string())),
        ..Verdict::default()
    }
}

/// The status. The API server writes `admission webhook "…" denied the request: ` before the message, in place of the
/// resource and name that it writes before its own policies' messages.
fn denial(status: Status) -> Denial {
    let details = details(&status);
    let mut causes = status.causes.into_iter();
    Denial {
        status: "Failure",
        message: causes.next().unwrap_or(status.message),
        reason: status.reason,
        details: Some(details),
        code: status.code,
    }
}

fn details(status: &Status) -> Json {
    let mut details = serde_json::Map::new();
    for (key, value) in [
        ("name", &status.name),
        ("group", &status.group),
        ("kind", &status.resource),
    ] {
        if !value.is_empty() {
            details.insert(key.to_owned(), Json::from(value.as_str()));
        }
    }
    let causes = status.causes.iter().map(|cause| json!({"message": cause}));
    let causes: Vec<Json> = causes.collect();
    if !causes.is_empty() {
        details.insert("causes".to_owned(), Json::from(causes));
    }
    Json::Object(details)
}

/// The key of an annotation behind `WEBHOOK/`, where no second slash may stand: `validation_failure` for the failures
/// that are audited, `POLICY.KEY` for a policy's own. Where that is too long, the policy's name is cut and a hash of all
/// of it put after it; keys are one byte a character, which is checked before.
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
        // The name alone fills the key.
        0 => {
            let start: String = name.chars().take(MAX_KEY.saturating_sub(9)).collect();
            format!("{start}.{hash:08x}")
        }
        _ => format!("{start}{end}"),
    }
}

/// A hash that stays what it is: FNV-1a.
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

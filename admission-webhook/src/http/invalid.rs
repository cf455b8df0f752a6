//! What is answered about a custom resource that its definition does not allow.

use gavel_apimachinery::{field, json};
use gavel_policy::{AdmissionRequest, AdmissionResponse, ResponseStatus};
use gavel_state::Findings;
use serde_json::{Value as Json, json};

/// What is answered about a custom resource: what the API server itself says of one that its definition does not allow.
pub(super) fn invalid(request: &AdmissionRequest<'_>, found: Findings) -> AdmissionResponse {
    let details = |causes: Vec<Json>| {
        let group = request.resource.group.as_str();
        let kind = found.kind.strip_suffix(group).unwrap_or_default();
        let kind = kind.trim_end_matches('.');
        json!({"name": request.name, "group": group, "kind": kind, "causes": causes})
    };
    let status = match (&found.unreadable, field::aggregate(&found.errors)) {
        (Some(error), _) => Some(ResponseStatus::failure(
            error.clone(),
            "BadRequest".to_owned(),
            400,
        )),
        (None, Some(errors)) => {
            let causes = found.errors.iter().map(|error| {
                json!({
                    "reason": error.kind.reason(),
                    "message": error.body(),
                    "field": error.field,
                })
            });
            let name = json::quoted(request.name);
            let message = format!("{} {name} is invalid: {errors}", found.kind);
            Some(ResponseStatus {
                details: Some(details(causes.collect())),
                ..ResponseStatus::failure(message, "Invalid".to_owned(), 422)
            })
        }
        (None, None) => None,
    };
    AdmissionResponse {
        warnings: found.warnings,
        ..AdmissionResponse::of(status)
    }
}

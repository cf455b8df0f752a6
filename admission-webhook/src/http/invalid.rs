//! The answer about an invalid custom resource.

use gavel_apimachinery::status::{Status, StatusCause, StatusDetails};
use gavel_apimachinery::{field, json};
use gavel_policy::{AdmissionRequest, AdmissionResponse};
use gavel_state::Findings;

/// The response that rejects an invalid custom resource, in the words of the API server itself.
pub(super) fn invalid(request: &AdmissionRequest<'_>, found: Findings) -> AdmissionResponse {
    let details = |causes: Vec<StatusCause>| {
        let group = request.resource.group.as_str();
        let kind = found.kind.strip_suffix(group).unwrap_or_default();
        StatusDetails {
            name: request.name.to_owned(),
            group: group.to_owned(),
            kind: kind.trim_end_matches('.').to_owned(),
            causes,
            ..StatusDetails::default()
        }
    };
    let status = match (&found.unreadable, field::aggregate(&found.errors)) {
        (Some(error), _) => Some(Status::failure(400, "BadRequest", error)),
        (None, Some(errors)) => {
            let causes = found.errors.iter().map(|error| StatusCause {
                reason: error.kind.reason(),
                message: error.body(),
                field: error.field.clone(),
            });
            let name = json::quoted(request.name);
            let message = format!("{} {name} is invalid: {errors}", found.kind);
            Some(Status {
                details: details(causes.collect()),
                ..Status::failure(422, "Invalid", message)
            })
        }
        (None, None) => None,
    };
    AdmissionResponse {
        warnings: found.warnings,
        ..AdmissionResponse::of(status)
    }
}

//! The decision about a request and the status that it returns (apiserver `pkg/admission/plugin/policy/validating/dispatcher.go`,
//! `pkg/admission/attributes.go`, `pkg/admission/errors.go`).

use std::collections::BTreeMap;

use gavel_apimachinery::names;
use gavel_apimachinery::status::{Status, StatusCause, StatusDetails};
use gavel_golang::quote::quote;

use crate::request::{AdmissionRequest, object_name};

/// The decision about a request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[must_use = "the request may be denied"]
pub struct Decision {
    /// Why the request is denied; `None` if it is allowed.
    pub status: Option<Status>,
    /// All denials of the request by policies, in order. The first one determines the status. Empty if the request is denied because its
    /// namespace does not exist.
    pub denials: Vec<Denial>,
    /// The warnings for the client, in order. Repeated warnings are not removed.
    pub warnings: Vec<String>,
    /// The annotations of the audit event.
    pub audit_annotations: BTreeMap<String, String>,
    /// The annotations that could not be added, each as its key and an error message.
    pub annotation_errors: Vec<(String, String)>,
    /// The failed validations to audit, each as JSON text.
    pub(crate) failures: Vec<String>,
}

/// The denial of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Denial {
    /// The name of the policy.
    pub policy: String,
    /// The name of the binding; `None` if the policy failed before its bindings were matched.
    pub binding: Option<String>,
    /// The message of the denial.
    pub message: String,
    /// The `reason` of the status; empty means `Invalid`.
    pub reason: String,
}

impl Decision {
    /// Whether the request is allowed.
    pub fn allowed(&self) -> bool {
        self.status.is_none()
    }

    /// Adds an annotation to the audit event. An existing annotation keeps its value. A different value for an existing key, or a key
    /// without the form `prefix/name`, is recorded as an error.
    pub(crate) fn annotate(&mut self, key: String, value: String) {
        if let Err(error) = check_key(&key) {
            self.annotation_errors.push((key, error));
            return;
        }
        match self.audit_annotations.get(&key) {
            Some(old) if *old != value => {
                let name = quote(&key);
                let error = format!(
                    "admission annotations are not allowd to be overwritten, key:{name}, old value: {{Metadata {old}}}, new value: {{Metadata {value}}}"
                );
                self.annotation_errors.push((key, error));
            }
            _ => {
                self.audit_annotations.insert(key, value);
            }
        }
    }

    /// Sets the status from the first denial; the request is allowed if there is none.
    pub(crate) fn close(&mut self, request: &AdmissionRequest<'_>) {
        if let Some(first) = self.denials.first() {
            self.status = Some(first.status(request));
        }
    }
}

impl Denial {
    /// The status that the client receives.
    fn status(&self, request: &AdmissionRequest<'_>) -> Status {
        let policy = &self.policy;
        let binding = match &self.binding {
            Some(binding) => format!(" with binding '{binding}'"),
            None => String::new(),
        };
        let cause = format!(
            "ValidatingAdmissionPolicy '{policy}'{binding} denied request: {}",
            self.message
        );
        let resource = &request.resource;
        let message = match (resource.resource.as_str(), resource.group.as_str()) {
            ("", "") => format!("forbidden: {cause}"),
            _ => {
                let resource = resource.qualified();
                let name = quote(name_of(request));
                format!("{resource} {name} is forbidden: {cause}")
            }
        };
        let reason = match self.reason.as_str() {
            "" => "Invalid",
            reason => reason,
        };
        Status {
            details: details(request, vec![cause]),
            ..Status::failure(code(reason), reason, message)
        }
    }
}

/// The status of a request that mutating policies deny. The first cause becomes the message.
pub(crate) fn denied_mutation(
    request: &AdmissionRequest<'_>,
    reason: &str,
    causes: Vec<String>,
) -> Status {
    let reason = if reason.is_empty() {
        "Forbidden"
    } else {
        reason
    };
    let message = causes.first().cloned().unwrap_or_default();
    Status {
        details: details(request, causes),
        ..Status::failure(403, reason, message)
    }
}

/// The status of a request in a namespace that does not exist.
pub(crate) fn namespace_not_found(name: &str, message: String) -> Status {
    Status {
        details: StatusDetails {
            name: name.to_owned(),
            kind: "namespaces".to_owned(),
            ..StatusDetails::default()
        },
        ..Status::failure(404, "NotFound", message)
    }
}

fn details(request: &AdmissionRequest<'_>, causes: Vec<String>) -> StatusDetails {
    StatusDetails {
        name: name_of(request).to_owned(),
        group: request.resource.group.to_string(),
        kind: request.resource.resource.to_string(),
        causes: causes.into_iter().map(StatusCause::new).collect(),
        ..StatusDetails::default()
    }
}

/// The name of the object in messages: the request's name, or the name in the object itself if the request has none.
fn name_of<'a>(request: &AdmissionRequest<'a>) -> &'a str {
    match request.name {
        "" => object_name(request.object),
        name => name,
    }
}

/// The HTTP status code for a status reason.
fn code(reason: &str) -> u16 {
    match reason {
        "Unauthorized" => 401,
        "Forbidden" => 403,
        "RequestEntityTooLarge" => 413,
        _ => 422,
    }
}

fn check_key(key: &str) -> Result<(), String> {
    if key.split('/').count() != 2 {
        return Err("annotation key has invalid format, the right format is a DNS subdomain prefix and '/' and key name. (e.g. 'podsecuritypolicy.admission.k8s.io/admit-policy')".to_owned());
    }
    let faults = names::qualified_name(key);
    match faults.is_empty() {
        true => Ok(()),
        false => Err(format!(
            "annotation key has invalid format {}. A qualified name like 'podsecuritypolicy.admission.k8s.io/admit-policy' is required.",
            faults.join(",")
        )),
    }
}

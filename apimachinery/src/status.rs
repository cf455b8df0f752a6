//! The `Status` that an API server returns when it returns no object (`metav1.Status`, apimachinery `pkg/api/errors`).

use serde::Serialize;

/// The outcome of a request.
///
/// ```
/// use gavel_apimachinery::status::Status;
///
/// let status = Status::failure(404, "NotFound", "namespaces \"a\" not found");
/// let text = r#"{"status":"Failure","message":"namespaces \"a\" not found","reason":"NotFound","code":404}"#;
/// assert_eq!(serde_json::to_string(&status)?, text);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    /// `Success` or `Failure`.
    pub status: &'static str,
    /// The message for people.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// The machine-readable reason, such as `Invalid`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// The object that the status is about, and the causes.
    #[serde(skip_serializing_if = "StatusDetails::is_empty")]
    pub details: StatusDetails,
    /// The HTTP status code.
    pub code: u16,
}

/// The object that a status is about, and the causes of a failure.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StatusDetails {
    /// The object's name.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The group of the resource.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub group: String,
    /// The kind, or the plural name of the resource.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub kind: String,
    /// The causes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<StatusCause>,
    /// The number of seconds after which the client may retry. 0 means unspecified.
    #[serde(skip_serializing_if = "is_zero")]
    pub retry_after_seconds: u32,
}

/// A cause of a failure.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct StatusCause {
    /// The machine-readable reason, such as `FieldValueInvalid`.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub reason: &'static str,
    /// The message for people.
    pub message: String,
    /// The path of the invalid field.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub field: String,
}

/// A status as a Kubernetes object, with `apiVersion`, `kind` and `metadata`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StatusObject {
    kind: &'static str,
    api_version: &'static str,
    metadata: NoMetadata,
    #[serde(flatten)]
    status: Status,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct NoMetadata {}

impl Status {
    /// A success without details.
    pub fn success() -> Self {
        Status {
            status: "Success",
            code: 200,
            ..Status::default()
        }
    }

    /// A failure without details.
    pub fn failure(code: u16, reason: impl Into<String>, message: impl Into<String>) -> Self {
        Status {
            status: "Failure",
            message: message.into(),
            reason: reason.into(),
            details: StatusDetails::default(),
            code,
        }
    }

    /// The status for an error within the server: code 500, reason `InternalError`.
    pub fn internal(error: &str) -> Self {
        let message = format!("Internal error occurred: {error}");
        Status {
            details: StatusDetails {
                causes: vec![StatusCause::new(error)],
                ..StatusDetails::default()
            },
            ..Status::failure(500, "InternalError", message)
        }
    }

    /// The status for an operation that could not be finished in time: code 504, reason `Timeout`.
    pub fn timeout(error: &str) -> Self {
        Status::failure(504, "Timeout", format!("Timeout: {error}"))
    }

    /// The status for a service that is temporarily unavailable: code 503, reason `ServiceUnavailable`.
    pub fn unavailable(message: impl Into<String>) -> Self {
        Status::failure(503, "ServiceUnavailable", message)
    }

    /// The status as a Kubernetes object, with `apiVersion`, `kind` and `metadata`.
    pub fn into_object(self) -> StatusObject {
        StatusObject {
            kind: "Status",
            api_version: "v1",
            metadata: NoMetadata {},
            status: self,
        }
    }
}

impl StatusDetails {
    fn is_empty(&self) -> bool {
        *self == StatusDetails::default()
    }
}

impl StatusCause {
    /// A cause that names no field.
    pub fn new(message: impl Into<String>) -> Self {
        StatusCause {
            message: message.into(),
            ..StatusCause::default()
        }
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde requires a reference"
)]
fn is_zero(seconds: &u32) -> bool {
    *seconds == 0
}

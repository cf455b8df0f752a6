//! Errors as Kubernetes answers them: a `Status` object (apimachinery `pkg/api/errors`).

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use gavel_apimachinery::status::Status;
use serde::Serialize;

/// The error response to a request that is not decided.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ApiError {
    code: StatusCode,
    reason: &'static str,
    message: String,
    retry_after_seconds: Option<u32>,
}

impl ApiError {
    fn new(code: StatusCode, reason: &'static str, message: impl Into<String>) -> Self {
        ApiError {
            code,
            reason,
            message: message.into(),
            retry_after_seconds: None,
        }
    }

    /// 400: the request is malformed.
    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        ApiError::new(StatusCode::BAD_REQUEST, "BadRequest", message)
    }

    /// 404: the path does not exist.
    pub(crate) fn not_found() -> Self {
        let message = "the server could not find the requested resource";
        ApiError::new(StatusCode::NOT_FOUND, "NotFound", message)
    }

    /// 405: the path does not support the method.
    pub(crate) fn method_not_allowed() -> Self {
        let message = "the server does not allow this method on the requested resource";
        ApiError::new(StatusCode::METHOD_NOT_ALLOWED, "MethodNotAllowed", message)
    }

    /// 408: the body did not arrive in time.
    pub(crate) fn request_timeout() -> Self {
        let message = "the body of the request did not arrive in time";
        ApiError::new(StatusCode::REQUEST_TIMEOUT, "Timeout", message)
    }

    /// 413: the body is larger than `limit` bytes.
    pub(crate) fn too_large(limit: usize) -> Self {
        let message = format!("Request entity too large: limit is {limit}");
        ApiError::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            "RequestEntityTooLarge",
            message,
        )
    }

    /// 413: the body with its values, or the answer, may take `needed` bytes of memory, more than `limit`.
    pub(crate) fn too_much_memory(needed: usize, limit: usize) -> Self {
        let message = format!(
            "Request entity too large: it may take {needed} bytes of memory, but a request or an answer gets at most three quarters of --max-memory, {limit} bytes"
        );
        ApiError {
            message,
            ..ApiError::too_large(limit)
        }
    }

    /// 415: the content type is not JSON.
    pub(crate) fn unsupported_media_type() -> Self {
        let message = "the body of the request was in an unknown format - accepted media types include: application/json";
        ApiError::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "UnsupportedMediaType",
            message,
        )
    }

    /// 429: the server is overloaded; the API server tries again after a second.
    pub(crate) fn too_many_requests() -> Self {
        let message =
            "the server has received too many requests and has asked us to try again later";
        ApiError {
            retry_after_seconds: Some(1),
            ..ApiError::new(StatusCode::TOO_MANY_REQUESTS, "TooManyRequests", message)
        }
    }

    /// 503: the policies have not been read yet.
    pub(crate) fn unavailable() -> Self {
        let message = "the server is currently unable to handle the request";
        ApiError {
            retry_after_seconds: Some(1),
            ..ApiError::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "ServiceUnavailable",
                message,
            )
        }
    }

    /// 500: a bug in Gavel, or a look-up that failed.
    pub(crate) fn internal(message: impl std::fmt::Display) -> Self {
        let message = format!("Internal error occurred: {message}");
        ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "InternalError", message)
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut status = Status::failure(self.code.as_u16(), self.reason, self.message);
        status.details.retry_after_seconds = self.retry_after_seconds.unwrap_or_default();
        let mut response = (self.code, json_response(json(&status.into_object()))).into_response();
        if let Some(seconds) = self.retry_after_seconds {
            let headers = response.headers_mut();
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

/// A value as JSON.
pub(crate) fn json(value: &impl Serialize) -> Vec<u8> {
    // Serialization cannot fail here: all keys of maps are strings.
    serde_json::to_vec(value).unwrap_or_default()
}

/// A response with a JSON body and its content type.
pub(crate) fn json_response(body: impl IntoResponse) -> Response {
    let json = HeaderValue::from_static("application/json");
    ([(header::CONTENT_TYPE, json)], body).into_response()
}

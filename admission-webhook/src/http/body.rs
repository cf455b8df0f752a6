//! Bodies of requests, read with bounds: of one body, of all that are being read, and of time.

use std::sync::Arc;
use std::time::Instant;

use axum::body::Body;
use axum::http::{HeaderMap, header};
use http_body_util::BodyExt;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::status::ApiError;

/// What bodies may take of memory.
#[derive(Debug)]
pub(crate) struct BodyLimits {
    /// The most bytes of one body.
    one: usize,
    /// The bytes that all bodies in memory may still take.
    all: Arc<Semaphore>,
}

/// A body in memory. Its bytes count against the limit of all bodies until it is dropped.
#[derive(Debug)]
pub(crate) struct HeldBody {
    bytes: Vec<u8>,
    _held: Option<OwnedSemaphorePermit>,
}

impl HeldBody {
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

impl BodyLimits {
    /// Limits in bytes.
    pub(crate) fn new(one: usize, all: usize) -> Self {
        let all = Arc::new(Semaphore::new(all.min(Semaphore::MAX_PERMITS)));
        BodyLimits { one, all }
    }

    /// Reads a body of JSON.
    ///
    /// # Errors
    ///
    /// 415 where it is not said to be JSON, 413 where it is too large, 429 where all bodies together are, 408 where it
    /// has not arrived by the deadline, 400 where the connection broke.
    pub(crate) async fn read_json(
        &self,
        headers: &HeaderMap,
        body: Body,
        deadline: Instant,
    ) -> Result<HeldBody, ApiError> {
        if !is_json(headers) {
            return Err(ApiError::unsupported_media_type());
        }
        let announced = headers
            .get(header::CONTENT_LENGTH)
            .and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
        if announced.is_some_and(|length| length > self.one) {
            return Err(ApiError::too_large(self.one));
        }
        tokio::time::timeout_at(deadline.into(), self.read(body, announced))
            .await
            .unwrap_or_else(|_| Err(ApiError::request_timeout()))
    }

    async fn read(&self, mut body: Body, announced: Option<usize>) -> Result<HeldBody, ApiError> {
        let mut bytes = Vec::new();
        let mut held: Option<OwnedSemaphorePermit> = None;
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|error| {
                ApiError::bad_request(format!("the body of the request cannot be read: {error}"))
            })?;
            let Ok(chunk) = frame.into_data() else {
                continue;
            };
            let length = bytes.len().saturating_add(chunk.len());
            if length > self.one {
                return Err(ApiError::too_large(self.one));
            }
            let permits = u32::try_from(chunk.len()).unwrap_or(u32::MAX);
            let more = Arc::clone(&self.all).try_acquire_many_owned(permits);
            let more = more.map_err(|_| ApiError::too_many_requests())?;
            match &mut held {
                Some(held) => held.merge(more),
                None => {
                    // What arrives at once with the head is most often all.
                    bytes.reserve_exact(announced.unwrap_or(0).min(chunk.len()));
                    held = Some(more);
                }
            }
            bytes.extend_from_slice(&chunk);
        }
        Ok(HeldBody { bytes, _held: held })
    }
}

/// Whether the headers say that the body is JSON, with or without parameters such as a charset.
fn is_json(headers: &HeaderMap) -> bool {
    let Some(Ok(value)) = headers
        .get(header::CONTENT_TYPE)
        .map(|value| value.to_str())
    else {
        return false;
    };
    let media_type = value.split(';').next().unwrap_or_default().trim();
    media_type.eq_ignore_ascii_case("application/json")
}

//! Reads request bodies within limits on the size of one body, on the memory for all bodies and their values, and on time. Answers count
//! against the same limit of memory until their clients have taken them.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, header};
use http_body_util::BodyExt;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout_at;

use crate::status::ApiError;

/// The most memory that a JSON value, and the name of a field, each take while they are read, in bytes: they are in the list of pending
/// values and in the arena, and names are sorted.
const VALUE: usize = 52;

/// The most memory that each value, and each object, takes in a document.
const DOCUMENT_VALUE: usize = 48;
const DOCUMENT_OBJECT: usize = 1024;

/// When the first chunk arrives, memory for the announced size of the body is reserved, but at most this many times the chunk's size.
const AHEAD: usize = 16;

/// A body must arrive at 32 KiB a second: each piece of this many bytes, or the rest of the body, within [`PIECE_TIME`]. Otherwise clients
/// that never finish their bodies could occupy the memory until their deadlines.
const PIECE: usize = 160 << 10;
const PIECE_TIME: Duration = Duration::from_secs(5);

/// A quarter of the memory is reserved for bodies that take at most this many bytes together with their values, so that a few large bodies
/// do not shut out the small ones.
const SMALL: usize = 256 << 10;

/// The limits on the memory that request bodies and answers take.
#[derive(Debug)]
pub(crate) struct BodyLimits {
    /// The size limit of one body, in bytes.
    one: usize,
    /// The memory limit of all bodies, their values and all answers together, in bytes.
    total: usize,
    /// The bytes of `total` that are still free.
    all: Arc<Semaphore>,
}

/// The body of a request or of an answer in memory. Until it is dropped, its size and the size of its values count against the limit for all
/// bodies.
#[derive(Debug)]
pub(crate) struct HeldBody {
    bytes: Vec<u8>,
    held: Option<OwnedSemaphorePermit>,
}

impl AsRef<[u8]> for HeldBody {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl HeldBody {
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

impl BodyLimits {
    /// Limits the size of one body to `one` bytes, and the memory of all bodies together to `all` bytes.
    pub(crate) fn new(one: usize, all: usize) -> Self {
        let total = all.min(Semaphore::MAX_PERMITS);
        let all = Arc::new(Semaphore::new(total));
        BodyLimits { one, total, all }
    }

    /// Reads a JSON body and reserves memory for its values, and for `documents` copies of them as documents.
    ///
    /// # Errors
    ///
    /// 415 if the content type is not JSON, 413 if the body is too large or has too many values, 429 if all bodies together need too much
    /// memory, 408 if the body arrives too slowly or not before the deadline, 400 if the connection breaks.
    pub(crate) async fn read_json(
        &self,
        headers: &HeaderMap,
        body: Body,
        deadline: Instant,
        documents: usize,
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
        self.read(body, announced, deadline, documents).await
    }

    async fn read(
        &self,
        mut body: Body,
        announced: Option<usize>,
        deadline: Instant,
        documents: usize,
    ) -> Result<HeldBody, ApiError> {
        let mut read = HeldBody {
            bytes: Vec::new(),
            held: None,
        };
        let end_of_piece = || {
            let end = Instant::now().checked_add(PIECE_TIME);
            end.map_or(deadline, |end| end.min(deadline))
        };
        let (mut until, mut piece) = (end_of_piece(), PIECE);
        loop {
            let frame = timeout_at(until.into(), body.frame()).await;
            let Some(frame) = frame.map_err(|_| ApiError::request_timeout())? else {
                break;
            };
            let frame = frame.map_err(|error| {
                ApiError::bad_request(format!("the body of the request cannot be read: {error}"))
            })?;
            let Ok(chunk) = frame.into_data() else {
                continue;
            };
            let length = read.bytes.len().saturating_add(chunk.len());
            if length > self.one {
                return Err(ApiError::too_large(self.one));
            }
            if read.bytes.is_empty() {
                // A client that announces much and sends little takes little memory.
                let most = chunk.len().saturating_mul(AHEAD);
                read.bytes.reserve_exact(announced.unwrap_or(0).min(most));
            }
            read.bytes.extend_from_slice(&chunk);
            let held = read
                .held
                .as_ref()
                .map_or(0, OwnedSemaphorePermit::num_permits);
            let grown = read.bytes.capacity().saturating_sub(held);
            self.hold(&mut read, grown)?;
            if length >= piece {
                (until, piece) = (end_of_piece(), length.saturating_add(PIECE));
            }
        }
        let values = read.values(documents);
        self.hold(&mut read, values)?;
        Ok(read)
    }

    /// Reserves memory for an answer, until the answer has been sent or its connection has ended.
    ///
    /// # Errors
    ///
    /// 413 if the answer is too large, 429 if all bodies together need too much memory.
    pub(crate) fn hold_answer(&self, bytes: Vec<u8>) -> Result<Bytes, ApiError> {
        let size = bytes.capacity();
        let mut answer = HeldBody { bytes, held: None };
        self.hold(&mut answer, size)?;
        Ok(Bytes::from_owner(answer))
    }

    /// Reserves more bytes for a body. A single body can take all memory that is not reserved for small bodies.
    fn hold(&self, body: &mut HeldBody, bytes: usize) -> Result<(), ApiError> {
        let held = body
            .held
            .as_ref()
            .map_or(0, OwnedSemaphorePermit::num_permits);
        let needed = held.saturating_add(bytes);
        let reserved = match needed {
            ..=SMALL => 0,
            _ => self.total.div_ceil(4),
        };
        let most = self.total.saturating_sub(reserved);
        if needed > most {
            return Err(ApiError::too_much_memory(needed, most));
        }
        if bytes > self.all.available_permits().saturating_sub(reserved) {
            return Err(ApiError::too_many_requests());
        }
        let permits = u32::try_from(bytes).unwrap_or(u32::MAX);
        let more = Arc::clone(&self.all).try_acquire_many_owned(permits);
        let more = more.map_err(|_| ApiError::too_many_requests())?;
        match &mut body.held {
            Some(held) => held.merge(more),
            None => body.held = Some(more),
        }
        Ok(())
    }
}

impl HeldBody {
    /// An upper bound of the memory that the values of the body take, in bytes, with `documents` copies as documents. There is at most one
    /// value or name for each comma, colon and opening bracket, and one more. Texts with escapes are copied.
    fn values(&self, documents: usize) -> usize {
        let is_separator = |byte| matches!(byte, b',' | b':' | b'[' | b'{');
        let values = count(&self.bytes, is_separator).saturating_add(1);
        let value = DOCUMENT_VALUE
            .saturating_mul(documents)
            .saturating_add(VALUE);
        let objects = match documents {
            0 => 0,
            _ => count(&self.bytes, |byte| byte == b'{').saturating_mul(documents),
        };
        values
            .saturating_mul(value)
            .saturating_add(objects.saturating_mul(DOCUMENT_OBJECT))
            .saturating_add(self.bytes.len())
    }
}

/// The number of bytes that `is_counted` accepts. The counts of blocks fit in a byte, so that the compiler can count many bytes at once.
fn count(bytes: &[u8], is_counted: impl Fn(u8) -> bool) -> usize {
    const BLOCK: usize = 192;
    let of_block = |block: &[u8]| {
        let counted = block.iter().map(|byte| u8::from(is_counted(*byte)));
        usize::from(counted.fold(0, u8::wrapping_add))
    };
    bytes.chunks(BLOCK).map(of_block).sum()
}

/// Whether the content type is JSON, with or without parameters such as a charset.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_bodies_leave_memory_to_small_ones() {
        let limits = BodyLimits::new(1 << 20, 16 << 20);
        let hold = |bytes: usize| {
            let mut body = HeldBody {
                bytes: Vec::new(),
                held: None,
            };
            limits.hold(&mut body, bytes).ok().map(|()| body)
        };
        let mut large: Vec<HeldBody> = (0..).map_while(|_| hold(1 << 20)).collect();
        assert_eq!(large.len(), 12);
        let small: Vec<HeldBody> = (0..).map_while(|_| hold(SMALL)).collect();
        assert_eq!(small.len(), 16);
        large.pop();
        assert!(hold(SMALL).is_some());
        assert!(hold(1 << 20).is_none());
        drop((large, small));
        assert!(hold(12 << 20).is_some());
        assert!(hold((12 << 20) + 1).is_none());
    }

    #[test]
    fn values_and_objects_are_counted_in_bodies_of_all_lengths() {
        for elements in [0, 1, 254, 255, 256, 10_000] {
            let list = vec![r#"{"a": [1]}"#; elements].join(",");
            let bytes = format!("[{list}]").into_bytes();
            let length = bytes.len();
            let body = HeldBody { bytes, held: None };
            let values = 2 + 3 * elements + elements.saturating_sub(1);
            let read = values * VALUE + length;
            assert_eq!(body.values(0), read);
            let document = values * DOCUMENT_VALUE + elements * DOCUMENT_OBJECT;
            assert_eq!(body.values(2), read + 2 * document);
            let separators = vec![b','; elements];
            assert_eq!(count(&separators, |byte| byte == b','), elements);
        }
    }
}

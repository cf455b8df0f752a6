//! Bodies of answers. A request is in flight until the last byte of its answer has been sent, so that clients that do not take their answers
//! are noticed.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::Body;
use hyper::body::{Buf, Bytes, Frame, SizeHint};

use super::activity::Activity;

/// A request that is being decided or answered. Dropping this guard ends the request, so a request also ends when its client disconnects.
#[derive(Debug)]
pub(super) struct InFlight {
    activity: Arc<Activity>,
    number: u64,
}

impl InFlight {
    /// Records that the head of a request has arrived.
    pub(super) fn begin(activity: Arc<Activity>) -> Self {
        let number = activity.begin();
        InFlight { activity, number }
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.activity.end(self.number);
    }
}

/// The body of an answer.
#[derive(Debug)]
pub(super) struct AnswerBody {
    body: Body,
    /// The request that is answered, until the last chunk carries it.
    in_flight: Option<InFlight>,
}

impl AnswerBody {
    /// The body of the answer to a request that has been decided.
    pub(super) fn new(body: Body, in_flight: InFlight) -> Self {
        in_flight.activity.answer();
        AnswerBody {
            body,
            in_flight: Some(in_flight),
        }
    }
}

impl hyper::body::Body for AnswerBody {
    type Data = Chunk;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Chunk>, axum::Error>>> {
        let AnswerBody { body, in_flight } = &mut *self;
        let frame = Pin::new(&mut *body).poll_frame(context);
        frame.map_ok(|frame| {
            frame.map_data(|bytes| Chunk {
                bytes,
                _in_flight: in_flight.take_if(|_| body.is_end_stream()),
            })
        })
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A part of an answer. The server drops it when the operating system has taken all of its bytes.
#[derive(Debug)]
pub(super) struct Chunk {
    bytes: Bytes,
    _in_flight: Option<InFlight>,
}

impl Buf for Chunk {
    fn remaining(&self) -> usize {
        self.bytes.remaining()
    }

    fn chunk(&self) -> &[u8] {
        self.bytes.chunk()
    }

    fn advance(&mut self, count: usize) {
        self.bytes.advance(count);
    }
}

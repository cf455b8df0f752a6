//! Bodies of requests. If a request is answered before its whole body has arrived, for example because the body is too large or the path
//! does not exist, the rest of the body is read and discarded.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use http_body_util::BodyExt;
use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use tokio::runtime::Handle;

use super::activity::Activity;

/// The maximum number of bytes that are read and discarded of a body that its handler has dropped. API servers send reviews of at most two
/// objects of 3 MiB.
const MOST: usize = 16 << 20;

/// The longest time spent on reading bytes that are discarded.
const LONGEST: Duration = Duration::from_secs(5);

/// The body of a request. When it is dropped, the rest is read and discarded, because a client that is still sending when its connection
/// closes does not see the answer.
#[derive(Debug)]
pub(super) struct RequestBody {
    incoming: Option<Incoming>,
    activity: Arc<Activity>,
}

impl RequestBody {
    /// Notifies `activity` when the whole body has arrived.
    pub(super) fn new(incoming: Incoming, activity: Arc<Activity>) -> Self {
        RequestBody {
            incoming: Some(incoming),
            activity,
        }
    }
}

impl Body for RequestBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let Some(incoming) = &mut self.incoming else {
            return Poll::Ready(None);
        };
        let frame = ready!(Pin::new(&mut *incoming).poll_frame(context));
        let is_end = !matches!(frame, Some(Ok(_)));
        if is_end || incoming.is_end_stream() {
            self.activity.received();
        }
        if is_end {
            self.incoming = None;
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.incoming.as_ref().is_none_or(Incoming::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.incoming
            .as_ref()
            .map_or(SizeHint::with_exact(0), Incoming::size_hint)
    }
}

impl Drop for RequestBody {
    fn drop(&mut self) {
        self.activity.received();
        if let Some(incoming) = self.incoming.take()
            && !incoming.is_end_stream()
            && let Ok(runtime) = Handle::try_current()
        {
            runtime.spawn(tokio::time::timeout(LONGEST, discard(incoming)));
        }
    }
}

async fn discard(mut incoming: Incoming) {
    let mut left = MOST;
    while let Some(Ok(frame)) = incoming.frame().await {
        let length = frame.data_ref().map_or(0, Bytes::len);
        match left.checked_sub(length) {
            Some(rest) => left = rest,
            None => return,
        }
    }
}

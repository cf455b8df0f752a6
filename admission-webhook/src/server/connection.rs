//! One connection: its handshake, its requests, its end.

use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::http::{HeaderValue, Request, Response, Version, header};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tower::Service;

use super::Shared;
use super::activity::Activity;
use super::request_body::RequestBody;

/// How long a new connection may take to send its first request when the server is about to end: it was made because the
/// server took connections, and a request may be on its way.
const PATIENCE: Duration = Duration::from_secs(1);

/// Serves a connection until it ends, or until it does nothing for too long. When `closing` turns, the requests in
/// flight are answered and no more are taken, but for the first one of a new connection.
pub(super) async fn serve(stream: TcpStream, shared: Arc<Shared>, closing: watch::Receiver<bool>) {
    // Answers are one small write each; waiting for more to send only delays them.
    let _ = stream.set_nodelay(true);
    let Some(tls) = &shared.tls else {
        return requests(stream, shared, closing).await;
    };
    let handshake = TlsAcceptor::from(tls.current()).accept(stream);
    let limit = shared.limits.header_timeout;
    match timeout(limit, handshake).await {
        Ok(Ok(stream)) => requests(stream, shared, closing).await,
        Ok(Err(error)) => {
            shared.app.metrics.handshake_failed();
            tracing::debug!(%error, "TLS handshake failed");
        }
        Err(_) => {
            shared.app.metrics.handshake_failed();
            tracing::debug!("TLS handshake took too long");
        }
    }
}

async fn requests(
    stream: impl AsyncRead + AsyncWrite + Unpin + 'static,
    shared: Arc<Shared>,
    mut closing: watch::Receiver<bool>,
) {
    let activity = Arc::new(Activity::new());
    let service = {
        let (shared, activity) = (Arc::clone(&shared), Arc::clone(&activity));
        service_fn(move |request| respond(request, Arc::clone(&shared), Arc::clone(&activity)))
    };
    let builder = builder(&shared);
    let mut connection = pin!(builder.serve_connection(TokioIo::new(stream), service));
    let (first, idle) = (shared.limits.header_timeout, shared.limits.idle_timeout);
    let mut look = tokio::time::interval(first);
    look.tick().await;
    let mut told = pin!(async {
        let _ = closing.wait_for(|closing| *closing).await;
        let _ = timeout(PATIENCE, activity.first_request()).await;
    });
    let mut is_closing = false;
    loop {
        tokio::select! {
            ended = connection.as_mut() => {
                if let Err(error) = ended {
                    tracing::debug!(%error, "connection ended");
                }
                return;
            }
            () = told.as_mut(), if !is_closing => {
                is_closing = true;
                connection.as_mut().graceful_shutdown();
            }
            _ = look.tick() => match activity.is_over(first, idle) {
                false => {}
                // It has been told to close and has not.
                true if is_closing => return,
                true => {
                    is_closing = true;
                    connection.as_mut().graceful_shutdown();
                }
            },
        }
    }
}

fn builder(shared: &Shared) -> auto::Builder<TokioExecutor> {
    let limits = &shared.limits;
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.idle_timeout)
        .max_buf_size(64 << 10);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(128)
        .max_header_list_size(16 << 10)
        .keep_alive_interval(limits.header_timeout)
        .keep_alive_timeout(limits.header_timeout);
    builder
}

/// Answers one request, and counts it.
async fn respond(
    request: Request<Incoming>,
    shared: Arc<Shared>,
    activity: Arc<Activity>,
) -> Result<Response<Body>, Infallible> {
    let arrived = Instant::now();
    let _in_flight = InFlight::begin(&activity);
    let version = request.version();
    let (route, method) = (
        super::routes::known(request.uri().path()),
        request.method().clone(),
    );
    let mut router = shared.router.clone();
    let mut response = router
        .call(request.map(|incoming| Body::new(RequestBody::new(incoming))))
        .await?;
    if version < Version::HTTP_2 && shared.app.health.is_shutting_down() {
        // The client opens its next connection elsewhere; an idle one that is closed under a request loses it.
        let headers = response.headers_mut();
        headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    let code = response.status().as_u16();
    shared
        .app
        .metrics
        .http_request(route, &method, code, arrived.elapsed());
    Ok(response)
}

/// A request that is being answered; it also ends where its client goes away.
struct InFlight<'a>(&'a Activity);

impl<'a> InFlight<'a> {
    fn begin(activity: &'a Activity) -> Self {
        activity.begin();
        InFlight(activity)
    }
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}

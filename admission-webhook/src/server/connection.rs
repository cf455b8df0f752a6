//! One connection, from the handshake through its requests to the end.

use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;
use std::time::Instant;

use axum::body::Body;
use axum::http::{HeaderValue, Request, Response, header};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tower::Service;

use super::Shared;
use super::activity::{Activity, PATIENCE};
use super::answer_body::{AnswerBody, InFlight};
use super::request_body::RequestBody;
use crate::http::routes;
use crate::telemetry::bounded;

/// Serves a connection until it ends, is idle for too long, or must make room for another. When `closing` becomes true, requests
/// in flight are answered and no more are accepted, except the first one of a new connection.
pub(super) async fn serve(
    stream: TcpStream,
    activity: Arc<Activity>,
    shared: Arc<Shared>,
    closing: watch::Receiver<bool>,
) {
    // Each answer is one small write. To wait for more data would only delay it.
    let _ = stream.set_nodelay(true);
    let must_close = Arc::clone(&activity);
    tokio::select! {
        // A request that has arrived is read first. Then the connection is no longer idle, and stays open.
        biased;
        () = handshake(stream, activity, shared, closing) => {}
        () = must_close.must_close() => tracing::debug!("connection closed to make room for another"),
    }
}

async fn handshake(
    stream: TcpStream,
    activity: Arc<Activity>,
    shared: Arc<Shared>,
    closing: watch::Receiver<bool>,
) {
    let Some(tls) = &shared.tls else {
        return requests(stream, activity, shared, closing).await;
    };
    let handshake = TlsAcceptor::from(tls.current()).accept(stream);
    let limit = shared.limits.header_timeout;
    match timeout(limit, handshake).await {
        Ok(Ok(stream)) => requests(stream, activity, shared, closing).await,
        Ok(Err(error)) => {
            shared.app.metrics.handshake_failed();
            tracing::debug!(error = bounded(&error.to_string()), "TLS handshake failed");
        }
        Err(_) => {
            shared.app.metrics.handshake_failed();
            tracing::debug!("TLS handshake took too long");
        }
    }
}

async fn requests(
    stream: impl AsyncRead + AsyncWrite + Unpin + 'static,
    activity: Arc<Activity>,
    shared: Arc<Shared>,
    mut closing: watch::Receiver<bool>,
) {
    let service = {
        let (shared, activity) = (Arc::clone(&shared), Arc::clone(&activity));
        service_fn(move |request| respond(request, Arc::clone(&shared), Arc::clone(&activity)))
    };
    let (first, idle) = (shared.limits.header_timeout, shared.limits.idle_timeout);
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(idle)
        .max_buf_size(64 << 10);
    let mut connection = pin!(http.serve_connection(TokioIo::new(stream), service));
    let mut look = tokio::time::interval(first.min(idle));
    look.tick().await;
    let mut shutdown = pin!(async {
        let _ = closing.wait_for(|closing| *closing).await;
        // The connection was accepted, so a request may be on its way.
        let _ = timeout(PATIENCE, activity.first_request()).await;
    });
    let mut is_closing = false;
    loop {
        tokio::select! {
            ended = connection.as_mut() => {
                if let Err(error) = ended {
                    tracing::debug!(error = bounded(&error.to_string()), "connection ended");
                }
                return;
            }
            () = shutdown.as_mut(), if !is_closing => {
                is_closing = true;
                connection.as_mut().graceful_shutdown();
            }
            _ = look.tick() => match activity.is_over(first, idle) {
                false => {}
                true if activity.is_answering() => {
                    tracing::debug!("the client did not take its answer");
                    return;
                }
                // The connection was asked to close and did not.
                true if is_closing => return,
                true => {
                    is_closing = true;
                    connection.as_mut().graceful_shutdown();
                }
            },
        }
    }
}

/// Answers one request, and counts it.
async fn respond(
    request: Request<Incoming>,
    shared: Arc<Shared>,
    activity: Arc<Activity>,
) -> Result<Response<AnswerBody>, Infallible> {
    let arrived = Instant::now();
    let in_flight = InFlight::begin(Arc::clone(&activity));
    let (route, method) = (
        routes::known(request.uri().path()),
        request.method().clone(),
    );
    let mut router = shared.router.clone();
    let mut response = router
        .call(request.map(|incoming| Body::new(RequestBody::new(incoming, Arc::clone(&activity)))))
        .await?;
    if shared.app.health.is_shutting_down() {
        // This header makes the client connect to another replica for its next request. To close the connection without notice could lose a
        // request that is on its way.
        let headers = response.headers_mut();
        headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    let code = response.status().as_u16();
    shared
        .app
        .metrics
        .http_request(route, &method, code, arrived.elapsed());
    Ok(response.map(|body| AnswerBody::new(body, in_flight)))
}

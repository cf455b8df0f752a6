//! A listener and its connections, from the start to the shutdown.

use std::future::{Future, poll_fn};
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use axum::Router;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::watch;

use crate::config::{Limits, Shutdown};
use crate::http::App;
use crate::http::routes;
use crate::tls::Tls;

mod activity;
mod answer_body;
mod connection;
mod connections;
mod request_body;

use connections::{Connections, Open};

/// The limit of connections that wait to be accepted; it is also the default limit of Linux. Clients beyond it try again after a second.
const BACKLOG: u32 = 4096;

/// A listener with its routes.
pub(crate) struct Server {
    listener: TcpListener,
    shared: Arc<Shared>,
    connections: Arc<Connections>,
    shutdown: Shutdown,
}

/// The state that connections share.
struct Shared {
    router: Router,
    app: Arc<App>,
    tls: Option<Arc<Tls>>,
    limits: Limits,
}

impl Server {
    /// Listens on the address, within the current async runtime.
    pub(crate) fn bind(
        address: SocketAddr,
        paths: routes::Paths,
        app: Arc<App>,
        tls: Option<Arc<Tls>>,
        limits: Limits,
        shutdown: Shutdown,
    ) -> std::io::Result<Self> {
        let listener = listen(address)?;
        let router = routes::router(Arc::clone(&app), paths);
        let connections = Arc::new(Connections::new(limits.connections));
        Ok(Server {
            listener,
            shared: Arc::new(Shared {
                router,
                app,
                tls,
                limits,
            }),
            connections,
            shutdown,
        })
    }

    /// The address that the server listens on. If port 0 was requested, this is the port that the operating system chose.
    pub(crate) fn address(&self) -> std::io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until `stop` completes. Then the server reports that it is not ready, keeps serving for the delay, drains the requests in
    /// flight, and returns at the end of the grace period at the latest.
    pub(crate) async fn run(self, stop: impl Future<Output = ()>) {
        let (close, closing) = watch::channel(false);
        let over = async {
            stop.await;
            tracing::info!("shutting down");
            self.shared.app.health.shut_down();
            tokio::time::sleep(self.shutdown.delay).await;
        };
        let mut over = pin!(over);
        loop {
            tokio::select! {
                () = &mut over => break,
                (stream, open) = self.accept() => self.spawn(stream, open, &closing),
            }
        }
        // Connections that already wait to be accepted are served too.
        while let Some((stream, client)) = self.accept_waiting().await {
            let open = self.connections.admit(client.ip()).await;
            self.spawn(stream, open, &closing);
        }
        let Server { listener, .. } = self;
        drop((listener, closing));
        let _ = close.send(true);
        let rest = self.shutdown.grace.saturating_sub(self.shutdown.delay);
        if tokio::time::timeout(rest, close.closed()).await.is_err() {
            tracing::warn!("requests were still in flight at the end of the grace period");
        }
    }

    async fn accept(&self) -> (TcpStream, Open) {
        loop {
            match self.listener.accept().await {
                Ok((stream, client)) => {
                    return (stream, self.connections.admit(client.ip()).await);
                }
                Err(error) => {
                    // Usually the process has no file descriptors left until other connections end.
                    tracing::warn!(%error, "no connection could be accepted");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            }
        }
    }

    /// Accepts a connection that is already waiting; `None` if there is none.
    async fn accept_waiting(&self) -> Option<(TcpStream, SocketAddr)> {
        let accepted = poll_fn(|context| match self.listener.poll_accept(context) {
            Poll::Ready(Ok(accepted)) => Poll::Ready(Some(accepted)),
            Poll::Ready(Err(_)) | Poll::Pending => Poll::Ready(None),
        });
        accepted.await
    }

    fn spawn(&self, stream: TcpStream, open: Open, closing: &watch::Receiver<bool>) {
        let (shared, closing) = (Arc::clone(&self.shared), closing.clone());
        tokio::spawn(async move {
            let counted = shared.app.metrics.connection();
            let activity = Arc::clone(&open.activity);
            connection::serve(stream, activity, Arc::clone(&shared), closing).await;
            drop((counted, open));
        });
    }
}

fn listen(address: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4()?,
        SocketAddr::V6(_) => TcpSocket::new_v6()?,
    };
    // Lets a restarted server bind the address of its predecessor. On other systems the option has another meaning.
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

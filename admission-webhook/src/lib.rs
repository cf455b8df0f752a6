//! `gavel serve`: the admission webhook. An API server sends AdmissionReviews; Gavel answers them as the API server itself would decide
//! with the same policies.
//!
//! Layer 5: HTTP, TLS, files, time and threads. `gavel-policy` decides: it computes a decision from a snapshot and a request.
//!
//! Only the program `gavel` uses this crate: `gavel serve --demo` starts it with sample policies, `gavel serve --policies FOLDER` with
//! policies from files, and `gavel serve --cluster` with those of a cluster. `deploy/` installs it in a cluster. An API server or webhook
//! of your own, in Rust, embeds the crate `gavel` instead.
//!
//! ```no_run
//! use gavel_admission_webhook::{Config, Limits, PolicySource, Shutdown, StartError, run};
//!
//! # fn main() -> Result<(), StartError> {
//! // Serves sample policies over plain HTTP until the process receives SIGTERM.
//! run(async {
//!     Ok(Config {
//!         address: ([127, 0, 0, 1], 8080).into(),
//!         health_address: None,
//!         tls: None,
//!         policies: PolicySource::Demo,
//!         kubernetes: Default::default(),
//!         limits: Limits::default(),
//!         shutdown: Shutdown::default(),
//!     })
//! })
//! # }
//! ```
//!
//! `docs/serve.md` describes the endpoints, and `docs/security.md` describes the limits of time, size and memory.

use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;

mod config;
mod evaluation;
mod http;
mod policies;
#[cfg(test)]
mod recordings;
mod reload;
mod server;
mod status;
mod telemetry;
mod tls;
mod watch;

pub use config::{Config, Limits, LiveSource, PolicySource, Shutdown};
pub use status::ApiError;
pub use telemetry::{LogFormat, start_logs};
pub use tls::{AUTHORITIES, Certifier, Identity, Kept, SelfSigned, TlsError, TlsSettings};

use http::App;
use http::routes::Paths;
use policies::Policies;
use server::Server;
use telemetry::Metrics;
use tls::Tls;

/// Why the server cannot start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The configuration is invalid.
    #[error("{0}")]
    Config(String),
    /// The manifests are invalid. Each string describes a problem and names its file.
    #[error("{}", .0.join("\n"))]
    Policies(Vec<String>),
    /// TLS cannot be set up.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The server cannot listen on the address.
    #[error("{address}: {error}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The error of the operating system.
        error: std::io::Error,
    },
    /// The operating system provides no threads or signals.
    #[error(transparent)]
    System(#[from] std::io::Error),
}

/// Runs the server until SIGTERM or SIGINT, then drains the requests in flight and returns. A signal also ends the start.
///
/// # Errors
///
/// The server cannot start. A server that has started ends only on a signal.
pub fn run(config: impl Future<Output = Result<Config, String>>) -> Result<(), StartError> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .thread_name("gavel")
        .build()?;
    let served = runtime.block_on(async {
        // The signals are awaited from the beginning: a process with the id 1 ignores signals that it does not await.
        let mut stop = pin!(shutdown_signal()?);
        let started = tokio::select! {
            () = &mut stop => return Ok(()),
            started = start(config) => started?,
        };
        serve(started, stop).await
    });
    // Evaluations that are still running after the grace period are not awaited.
    runtime.shutdown_background();
    served
}

/// The limit of connections to the listener for health and metrics. Only probes and a few scrapers connect to it.
const HEALTH_CONNECTIONS: usize = 64;

/// A server that has read its files.
type Started = (Config, Arc<App>, Option<Arc<Tls>>);

/// Reads the manifests and the certificates, on another thread, so that the caller can stop waiting.
async fn start(
    config: impl Future<Output = Result<Config, String>>,
) -> Result<Started, StartError> {
    let mut config = config.await.map_err(StartError::Config)?;
    let read = move || {
        let metrics = Arc::new(Metrics::new());
        let policies = Policies::load(config.policies.clone(), config.kubernetes, &metrics);
        let policies = policies.map_err(StartError::Policies)?;
        if policies.is_synced() {
            metrics.reloaded(true);
            metrics.synced();
        }
        let tls = config.tls.take().map(Tls::new).transpose()?.map(Arc::new);
        if let Some(seconds) = tls.as_ref().and_then(|tls| tls.expires()) {
            metrics.certificate_expires(seconds);
        }
        let app = Arc::new(App::new(policies, metrics, &config.limits));
        Ok((config, app, tls))
    };
    let read = tokio::task::spawn_blocking(read).await;
    read.map_err(std::io::Error::from)?
}

async fn serve(
    (config, app, tls): Started,
    stop: impl Future<Output = ()>,
) -> Result<(), StartError> {
    let Config {
        address,
        health_address,
        policies: source,
        limits,
        shutdown,
        ..
    } = config;
    let bind = |address, paths, tls, limits| {
        Server::bind(
            address,
            paths,
            Arc::clone(&app),
            tls,
            limits,
            shutdown.clone(),
        )
        .map_err(|error| StartError::Listen { address, error })
    };
    let health_limits = Limits {
        connections: HEALTH_CONNECTIONS,
        ..limits.clone()
    };
    let health = health_address.map(|address| bind(address, Paths::Health, None, health_limits));
    let health = health.transpose()?;
    let paths = match health {
        None => Paths::All,
        Some(_) => Paths::Reviews,
    };
    let server = bind(address, paths, tls.clone(), limits)?;
    if let Some(health) = &health {
        tracing::info!(address = %health.address()?, "serving health and metrics");
    }
    let reloads = [
        tls.as_ref().map(|tls| {
            tokio::spawn(reload::certificates(
                Arc::clone(tls),
                Arc::clone(&app.metrics),
            ))
        }),
        tls.as_ref()
            .and_then(|tls| reload::kept(tls, &app.metrics))
            .map(tokio::spawn),
        reload::policies(&source, &app).await.map(tokio::spawn),
        reload::live(&source, &app).map(tokio::spawn),
    ];
    tracing::info!(address = %server.address()?, tls = tls.is_some(), "serving");
    // Health checks are answered until the last request is drained.
    let health = health.map(|health| tokio::spawn(health.run(std::future::pending())));
    server.run(stop).await;
    if let Some(health) = health {
        health.abort();
    }
    for reload in reloads.into_iter().flatten() {
        reload.abort();
    }
    tracing::info!("ended");
    Ok(())
}

/// Returns when the process receives a signal to stop.
#[cfg(unix)]
fn shutdown_signal() -> std::io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}

/// Returns when the process receives a signal to stop.
#[cfg(not(unix))]
fn shutdown_signal() -> std::io::Result<impl Future<Output = ()>> {
    Ok(async {
        let _ = tokio::signal::ctrl_c().await;
    })
}

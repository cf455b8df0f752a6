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

/// Runs the server until SIGTERM or SIGINT, then drains the requests in flight and returns.
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
        let config = config.await.map_err(StartError::Config)?;
        serve(config).await
    });
    // Evaluations that are still running after the grace period are not awaited.
    runtime.shutdown_background();
    served
}

/// The limit of connections to the listener for health and metrics. Only probes and a few scrapers connect to it.
const HEALTH_CONNECTIONS: usize = 64;

async fn serve(config: Config) -> Result<(), StartError> {
    let Config {
        address,
        health_address,
        tls,
        policies,
        kubernetes,
        limits,
        shutdown,
    } = config;
    let metrics = Arc::new(Metrics::new());
    let source = policies.clone();
    let policies = Policies::load(policies, kubernetes, &metrics);
    let policies = policies.map_err(StartError::Policies)?;
    if policies.is_synced() {
        metrics.reloaded(true);
        metrics.synced();
    }
    let tls = tls.map(Tls::new).transpose()?.map(Arc::new);
    if let Some(seconds) = tls.as_ref().and_then(|tls| tls.expires()) {
        metrics.certificate_expires(seconds);
    }
    let app = Arc::new(App::new(policies, metrics, &limits));
    let stop = shutdown_signal()?;
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
        reload::policies(&source, &app).map(tokio::spawn),
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

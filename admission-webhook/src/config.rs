//! The configuration of the server.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use gavel_libraries::Server;
use gavel_state::{Live, Published};
use tokio::sync::watch;

use crate::tls::TlsSettings;

/// All settings of the server.
#[derive(Debug)]
pub struct Config {
    /// The address to listen on.
    pub address: SocketAddr,
    /// The address for health checks and metrics, over plain HTTP; `None` serves them at the address for reviews.
    pub health_address: Option<SocketAddr>,
    /// TLS; `None` serves plain HTTP.
    pub tls: Option<TlsSettings>,
    /// The source of policies.
    pub policies: PolicySource,
    /// The API server whose decisions are reproduced. If the policies come from a live source, the source's own server applies instead.
    pub kubernetes: Server,
    /// The limits.
    pub limits: Limits,
    /// How the server shuts down.
    pub shutdown: Shutdown,
}

/// Where policies, bindings, params, namespaces, definitions and roles come from.
#[derive(Debug, Clone)]
pub enum PolicySource {
    /// Files and folders of manifests, as `kubectl apply -f` takes them.
    Manifests {
        /// The files and folders.
        paths: Vec<PathBuf>,
        /// Whether subfolders are read too.
        recursive: bool,
        /// Whether a file may lose all of its policies and bindings, or be truncated, while the server runs.
        allow_removal: bool,
    },
    /// A live source, such as a cluster.
    Live(LiveSource),
    /// The built-in samples.
    Demo,
}

/// A source, such as a cluster, that publishes new states while the server runs.
#[derive(Debug, Clone)]
pub struct LiveSource {
    /// The states that decide requests; the server is not ready before the first one.
    pub published: watch::Receiver<Option<Published>>,
    /// Answers questions about the cluster while a request waits.
    pub live: Arc<dyn Live>,
}

/// The limits of the server. A request that exceeds a limit is rejected, so that one request cannot take memory or time from others.
#[derive(Debug, Clone)]
pub struct Limits {
    /// The size limit of one body, in bytes.
    pub body: usize,
    /// The memory limit of all bodies, the values read from them, and the answers that have not been sent, in bytes.
    pub memory: usize,
    /// The time limit for the head of the first request, from when the connection is opened. It is also the time limit of a TLS
    /// handshake, and of sending an answer.
    pub header_timeout: Duration,
    /// How long a connection can be idle. The API server keeps its connections open for 90 seconds.
    pub idle_timeout: Duration,
    /// The limit of open connections. To accept one more, the server closes a connection on which no request arrives or is decided, or else
    /// the slowest.
    pub connections: usize,
    /// The number of threads for evaluations that take more than a millisecond. An evaluation that takes more than 20 ms on such a thread
    /// stops, and starts again on a second set of threads: the same number, but at least two.
    pub evaluations: usize,
    /// The limit of requests that wait for a thread, or that have a thread for at most 20 ms. Further requests that need a thread are
    /// answered with 429. As many can wait again for the second set of threads; one user or policy gets at most half of these places.
    pub waiting: usize,
}

impl Default for Limits {
    fn default() -> Self {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        Limits {
            // Two objects of 3 MiB, the size limit of API servers, and the envelope around them.
            body: 7 << 20,
            memory: 256 << 20,
            header_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_secs(120),
            connections: 1024,
            evaluations: threads,
            waiting: 256,
        }
    }
}

/// How the server shuts down.
#[derive(Debug, Clone)]
pub struct Shutdown {
    /// How long the server keeps serving after the signal, so that load balancers notice that it is not ready.
    pub delay: Duration,
    /// The time limit of the whole shutdown, including the delay.
    pub grace: Duration,
}

impl Default for Shutdown {
    fn default() -> Self {
        Shutdown {
            delay: Duration::from_secs(5),
            grace: Duration::from_secs(25),
        }
    }
}

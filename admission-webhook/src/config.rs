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
    /// The address for health checks and metrics, over plain HTTP; `None` is the address for reviews.
    pub health_address: Option<SocketAddr>,
    /// TLS; None is plain HTTP.
    pub tls: Option<TlsSettings>,
    /// The source of policies.
    pub policies: PolicySource,
    /// The API server whose decisions are reproduced; a live source has its own.
    pub kubernetes: Server,
    /// The limits.
    pub limits: Limits,
    /// How it ends.
    pub shutdown: Shutdown,
}

/// The source of policies, bindings, params, namespaces, definitions and roles.
#[derive(Debug, Clone)]
pub enum PolicySource {
    /// Files and folders of manifests, as `kubectl apply -f` takes them.
    Manifests {
        /// The files and folders.
        paths: Vec<PathBuf>,
        /// Whether folders in folders are read.
        recursive: bool,
        /// Whether a file may lose all of its policies and bindings while the server runs, or be cut short.
        allow_removal: bool,
    },
    /// A cluster, or something like it.
    Live(LiveSource),
    /// The samples that are built in.
    Demo,
}

/// A source that lives.
#[derive(Debug, Clone)]
pub struct LiveSource {
    /// The states that decide requests; the server is not ready before the first one.
    pub published: watch::Receiver<Option<Published>>,
    /// The source that is asked while a request waits.
    pub live: Arc<dyn Live>,
}

/// The limits of the server. Everything within them is memory or time that others do without.
#[derive(Debug, Clone)]
pub struct Limits {
    /// The bytes of one body.
    pub body: usize,
    /// The memory limit of all bodies and the values read from them, in bytes.
    pub memory: usize,
    /// The time from a connection's begin to the end of its first request's head, and the time of a TLS handshake.
    pub header_timeout: Duration,
    /// The time that a connection may do nothing. The API server keeps its connections 90 seconds.
    pub idle_timeout: Duration,
    /// The most open connections. For one more, the connection that has been idle longest is closed.
    pub connections: usize,
    /// The most concurrent evaluations of more than a millisecond, each on a thread. As many again, but at least two, may run
    /// until their deadlines.
    pub evaluations: usize,
    /// The most long evaluations that wait for such a thread. Requests beyond that are answered 429.
    pub waiting: usize,
}

impl Default for Limits {
    fn default() -> Self {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        Limits {
            // Two objects of 3 MiB, which is the most that an API server takes, and all that is said about them.
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

/// How the server ends.
#[derive(Debug, Clone)]
pub struct Shutdown {
    /// How long it keeps serving after the signal, so that load balancers notice that it is not ready.
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

//! What the server is told at its start.

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
    /// Where it listens.
    pub address: SocketAddr,
    /// Where it answers health checks and metrics, by plain HTTP; None is the same address as reviews.
    pub health_address: Option<SocketAddr>,
    /// TLS; None is plain HTTP.
    pub tls: Option<TlsSettings>,
    /// Where its policies come from.
    pub policies: PolicySource,
    /// The API server whose decisions it gives; those of a live source are of its own.
    pub kubernetes: Server,
    /// What it takes at most.
    pub limits: Limits,
    /// How it ends.
    pub shutdown: Shutdown,
}

/// Where policies, bindings, params, namespaces, definitions and roles come from.
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
    /// What requests are decided by; the server is not ready before there is something.
    pub published: watch::Receiver<Option<Published>>,
    /// Who is asked beside that.
    pub live: Arc<dyn Live>,
}

/// What the server takes at most. All of it is memory or time that others would go without.
#[derive(Debug, Clone)]
pub struct Limits {
    /// The bytes of one body.
    pub body: usize,
    /// The bytes that all bodies and the values read from them take at once.
    pub memory: usize,
    /// The time from a connection's begin to the end of its first request's head, and the time of a TLS handshake.
    pub header_timeout: Duration,
    /// The time that a connection may do nothing. The API server keeps its connections 90 seconds.
    pub idle_timeout: Duration,
    /// The connections that are open at once. For one more, the longest idle one is closed.
    pub connections: usize,
    /// The evaluations of more than a millisecond that run at once, each on a thread; and as many again that run until their
    /// deadlines, but at least two.
    pub evaluations: usize,
    /// The long evaluations that may wait for such a thread. What comes on top is answered 429.
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
    /// How long it goes on after the signal, so that those who route requests to it notice that it is not ready.
    pub delay: Duration,
    /// How long all of it may take, the delay included.
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

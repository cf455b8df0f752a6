//! A live cluster. Its objects arrive as watch events and are published as states. While a request waits, Gavel can ask the API server for
//! more: namespaces, params and the results of authorizer checks. Layer 5: this crate contains the client of the API server, and decides
//! nothing.
//!
//! Only the program `gavel` uses this crate. `gavel serve --cluster` follows a cluster with [`Cluster::follow`], and `gavel audit`
//! evaluates policies over its objects with [`audit`]:
//!
//! ```no_run
//! use gavel_cluster::{Authorizing, Cluster, Options, Target};
//!
//! # async fn follow() -> Result<(), Box<dyn std::error::Error>> {
//! let cluster = Cluster::follow(Options {
//!     target: Target::default(),
//!     native: false,
//!     authorizing: Authorizing::Rbac,
//!     leads: false,
//! })
//! .await?;
//! let mut published = cluster.published();
//! // All kinds have been listed once. From now on, each event publishes a new state.
//! published.wait_for(Option::is_some).await?;
//! # Ok(())
//! # }
//! ```
//!
//! Both commands find the cluster by the kubeconfig (`--kubeconfig`, `--context`) or by the
//! account of their pod. A Rust program that already watches objects gives its events to `gavel-state` instead. `docs/cluster.md` lists the
//! permissions that the account needs, and the limits of requests and memory.

mod access;
mod api_server;
pub mod audit;
mod certificates;
mod client;
mod cluster;
mod contact;
mod discovery;
mod election;
mod follow;
mod informer;
mod kinds;
mod options;
mod schemas;
mod status;
mod stores;

pub use access::AuthorizerCache;
pub use certificates::{Certificates, Certify, SecretData};
pub use client::{ConnectError, Target};
pub use cluster::Cluster;
pub use options::{Authorizing, Options};

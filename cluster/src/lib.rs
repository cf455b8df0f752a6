//! A live cluster: what it holds comes as events of a watch and is published as states, and it is asked what only it knows.
//! Layer 5: the client of the API server is here, and decisions are not.

mod access;
mod asked;
pub mod audit;
mod certificates;
mod client;
mod contact;
mod discovery;
mod election;
mod follow;
mod informer;
mod kinds;
mod status;

pub use access::AuthorizerCache;
pub use certificates::{Certificates, Certify, SecretData};
pub use client::{ConnectError, Target};
pub use follow::{Authorizing, Cluster, Options};
pub use kinds::GROUP;

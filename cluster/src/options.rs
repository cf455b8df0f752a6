//! The options for following a cluster.

use crate::access::AuthorizerCache;
use crate::client::Target;

/// The options for following a cluster.
#[derive(Debug, Clone)]
pub struct Options {
    /// The cluster.
    pub target: Target,
    /// Whether Kubernetes' built-in policies are watched too, so that Gavel's decisions by these policies can be compared with the API
    /// server's.
    pub native: bool,
    /// The source of the authorizer's decisions.
    pub authorizing: Authorizing,
    /// Whether this replica takes part in the leader election. The leader writes the status of policies.
    pub leads: bool,
}

/// Who decides the calls of `authorizer` in policies.
#[derive(Debug, Clone, Copy)]
pub enum Authorizing {
    /// The API server, by SubjectAccessReviews, with a cache.
    Review(AuthorizerCache),
    /// The roles and role bindings of the cluster, which are watched.
    Rbac,
}

//! Live sources, such as a cluster, which can be queried while a request waits.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use gavel_libraries::authorizer::{AuthorizerAttributes, Decision};
use gavel_policy::{GroupVersionKind, GroupVersionResource};
use serde_json::Value as Json;

use crate::state::State;

/// The asynchronous result of a query.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The result of looking up an object: `None` if it does not exist, an error if the source cannot answer.
pub type Found = Result<Option<Arc<Json>>, String>;

/// A source that publishes states and can be queried while a request waits.
pub trait Live: fmt::Debug + Send + Sync {
    /// Whether the source answers the permission checks of expressions. Otherwise the authorizer of the state answers them.
    fn decides_access(&self) -> bool;

    /// The cached answer to a permission check, if any.
    fn known(&self, question: &AuthorizerAttributes) -> Option<Decision>;

    /// Answers a permission check. Errors are part of the answer.
    fn authorize<'a>(&'a self, question: &'a AuthorizerAttributes) -> Answer<'a, Decision>;

    /// Looks up a cluster-scoped object.
    fn object<'a>(&'a self, resource: &'a GroupVersionResource, name: &'a str)
    -> Answer<'a, Found>;

    /// Looks up the plural name of the resource that serves a kind; `None` if no API serves it.
    fn resource<'a>(
        &'a self,
        kind: &'a GroupVersionKind,
    ) -> Answer<'a, Result<Option<String>, String>>;

    /// How long the source has been unreachable; `None` while it is reachable.
    fn age(&self) -> Option<Duration>;

    /// Notes about the source for operators, one per line.
    fn notes(&self) -> Vec<String>;
}

/// The current states of a live source.
#[derive(Debug, Clone)]
pub struct Published {
    /// The state that decides requests.
    pub state: Arc<State>,
    /// A state with the API server's own policies; `None` unless the source follows them too.
    pub shadow: Option<Arc<State>>,
}

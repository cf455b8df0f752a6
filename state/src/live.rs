//! What a source that lives, such as a cluster, is asked while a request waits.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use gavel_libraries::authorizer::{AuthorizerAttributes, Decision};
use gavel_policy::{GroupVersionKind, GroupVersionResource};
use serde_json::Value as Json;

use crate::state::State;

/// An answer that may take a while.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// An object that was looked up; none: there is none.
pub type Found = Result<Option<Arc<Json>>, String>;

/// A source that knows more than the states that it publishes.
pub trait Live: fmt::Debug + Send + Sync {
    /// Whether it answers `authorizer`. Otherwise the state's own authorizer does.
    fn decides_access(&self) -> bool;

    /// What is known of a question without asking anybody.
    fn known(&self, question: &AuthorizerAttributes) -> Option<Decision>;

    /// Decides about a question. What goes wrong is part of the decision.
    fn authorize<'a>(&'a self, question: &'a AuthorizerAttributes) -> Answer<'a, Decision>;

    /// Looks up an object that is in no namespace.
    fn object<'a>(&'a self, resource: &'a GroupVersionResource, name: &'a str)
    -> Answer<'a, Found>;

    /// Looks up the plural name of the resource that serves a kind; none: nothing does.
    fn resource<'a>(
        &'a self,
        kind: &'a GroupVersionKind,
    ) -> Answer<'a, Result<Option<String>, String>>;

    /// How long the source has not been heard of; none: it is.
    fn age(&self) -> Option<Duration>;

    /// What is to be said of the source to those who look after it, a line each.
    fn notes(&self) -> Vec<String>;
}

/// What a live source publishes.
#[derive(Debug, Clone)]
pub struct Published {
    /// What requests are decided by.
    pub state: Arc<State>,
    /// What the server itself decides by, where that is to be compared.
    pub shadow: Option<Arc<State>>,
}

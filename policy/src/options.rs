//! The options of decisions.

use std::sync::Arc;

use gavel_engine::value::{Json, Value};
use gavel_libraries::authorizer::Authorizer;

use crate::observer::Observer;
use crate::resource::GroupVersionKind;

/// Converts an object to another kind. `Ok(None)` means that the objects of the two kinds differ only in `apiVersion` and `kind`.
pub type Convert<'a> =
    dyn Fn(Value<'_>, &GroupVersionKind) -> Result<Option<Json>, String> + Sync + 'a;

/// The options of a decision.
///
/// ```
/// use std::time::{Duration, Instant};
///
/// use gavel_policy::Options;
///
/// let deadline = Instant::now() + Duration::from_secs(1);
/// let is_over = || Instant::now() >= deadline;
/// let options = Options { interrupt: Some(&is_over), ..Options::default() };
/// ```
#[derive(Clone, Copy)]
pub struct Options<'a> {
    /// When this function returns true, for example at a deadline, evaluations stop and fail. With `None`, evaluations are never
    /// interrupted.
    pub interrupt: Option<&'a (dyn Fn() -> bool + Sync)>,
    /// The cost budget in cost units. A policy's validations, its audit annotations and each mutation have separate budgets of this size.
    /// `None` means the budget of Kubernetes.
    pub cost_budget: Option<i64>,
    /// Whether validations and match conditions read objects of built-in kinds as Go types, as API servers do since 1.37, and compare them
    /// by these types. For mutations, [`ObjectSchemas::typed`](crate::mutating::ObjectSchemas::typed) decides.
    pub is_typed: bool,
    /// Answers the permission checks of expressions. Without an authorizer, `allowed()` is false for every check.
    pub authorizer: Option<&'a Arc<dyn Authorizer>>,
    /// Converts the objects of the request to the kind of an equivalent resource that a policy matches, and mutated objects back. With
    /// `None`, the objects of equivalent resources are assumed to differ only in `apiVersion` and `kind`.
    pub convert: Option<&'a Convert<'a>>,
    /// Receives the steps of the decision.
    pub observer: &'a dyn Observer,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Options {
            interrupt: None,
            cost_budget: None,
            is_typed: true,
            authorizer: None,
            convert: None,
            observer: &(),
        }
    }
}

impl std::fmt::Debug for Options<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Options")
            .field("cost_budget", &self.cost_budget)
            .finish_non_exhaustive()
    }
}

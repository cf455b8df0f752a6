//! The options of decisions.

use std::sync::Arc;

use gavel_libraries::authorizer::Authorizer;

use crate::observer::Observer;

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
    /// Whether validations and match conditions read objects of built-in kinds as Go types, as API servers do since 1.37, and compare them by
    /// these types. For mutations, [`ObjectSchemas::typed`](crate::mutating::ObjectSchemas::typed) decides.
    pub is_typed: bool,
    /// Answers the permission checks of expressions. Without an authorizer, `allowed()` is false for every check.
    pub authorizer: Option<&'a Arc<dyn Authorizer>>,
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

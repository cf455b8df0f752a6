//! The options of decisions.

use std::sync::Arc;

use gavel_apimachinery::server::Server;
use gavel_libraries::authorizer::Authorizer;

use crate::observer::Observer;

/// The options of a decision.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    /// A function that ends evaluations by returning true, for a deadline or cancellation. Evaluations that are ended in this way count as
    /// failed. `None` never ends an evaluation.
    pub interrupt: Option<&'a (dyn Fn() -> bool + Sync)>,
    /// The budget of the validations, and the equal but separate budget of the audit annotations, in cost units; `None` means Kubernetes'
    /// budget.
    pub cost_budget: Option<i64>,
    /// The API server whose decisions are reproduced.
    pub server: Server,
    /// The authorizer that expressions ask. Without one, `authorizer` has no opinion about any request.
    pub authorizer: Option<&'a Arc<dyn Authorizer>>,
    /// The observer of the steps.
    pub observer: &'a dyn Observer,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Options {
            interrupt: None,
            cost_budget: None,
            server: Server::default(),
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

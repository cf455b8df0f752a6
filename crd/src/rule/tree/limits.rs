//! The limits of the rules of an object.

use gavel_golang::work::Interrupt;

use super::evaluate::{COST_BUDGET, PER_CALL_LIMIT};

/// The limits of the rules of an object.
#[derive(Clone, Copy)]
pub struct RuleLimits<'i> {
    /// The cost budget of all rules together, in cost units.
    pub budget: i64,
    /// The cost limit of one evaluation, in cost units.
    pub per_call: u64,
    /// A callback for the host's deadline or cancellation flag. It is called from time to time; if it returns true, the validation ends
    /// with an error.
    pub interrupt: Interrupt<'i>,
}

impl Default for RuleLimits<'_> {
    /// The limits of an API server, without a deadline or cancellation flag.
    fn default() -> Self {
        RuleLimits {
            budget: COST_BUDGET,
            per_call: PER_CALL_LIMIT,
            interrupt: None,
        }
    }
}

impl std::fmt::Debug for RuleLimits<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RuleLimits")
            .field("budget", &self.budget)
            .field("per_call", &self.per_call)
            .finish_non_exhaustive()
    }
}

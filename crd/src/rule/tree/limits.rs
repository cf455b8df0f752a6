//! What bounds the rules of an object.

use gavel_golang::work::Interrupt;

use super::evaluate::{COST_BUDGET, PER_CALL_LIMIT};

/// What bounds the rules of an object.
#[derive(Clone, Copy)]
pub struct RuleLimits<'i> {
    /// What all rules may cost together, in cost units.
    pub budget: i64,
    /// What one evaluation may cost, in cost units.
    pub per_call: u64,
    /// Asked by the work that is done; true ends it, with an error that says so.
    pub interrupt: Interrupt<'i>,
}

impl Default for RuleLimits<'_> {
    /// The limits of an API server, and no interrupt.
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

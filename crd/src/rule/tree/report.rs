//! The results of rules, and their cost.

use std::ops::ControlFlow;

use gavel_apimachinery::field::{Error, ErrorSize};

/// The maximum number of notes.
const MOST_NOTES: usize = 100;

/// The results of an object's rules so far.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Report {
    /// The errors.
    pub(crate) errors: Vec<Error>,
    /// The errors about values that were invalid before the update too.
    pub(crate) warnings: Vec<String>,
    /// The errors of messageExpressions that could not be used.
    pub(crate) notes: Vec<String>,
    /// The remaining budget, in cost units; negative if the evaluation of the rules was stopped.
    remaining: i64,
    size: ErrorSize,
}

impl Report {
    /// An empty report with a budget in cost units.
    pub(crate) fn new(budget: i64) -> Self {
        Report {
            errors: Vec::new(),
            warnings: Vec::new(),
            notes: Vec::new(),
            remaining: budget,
            size: ErrorSize::default(),
        }
    }

    /// The remaining budget, in cost units; negative if the evaluation of the rules was stopped, for example because they exceeded the
    /// budget.
    pub(crate) fn remaining(&self) -> i64 {
        self.remaining
    }

    /// Adds an error, unless the size limit is reached.
    pub(super) fn add(&mut self, error: Error) {
        self.add_unless(false, error);
    }

    /// Adds an error or, if the same value was invalid before the update, a warning, unless the size limit is reached.
    pub(super) fn add_unless(&mut self, is_ratcheted: bool, error: Error) {
        if !self.size.admit(&error) {
            return;
        }
        match is_ratcheted {
            true => self.warnings.push(error.to_string()),
            false => self.errors.push(error),
        }
    }

    /// Adds the error of a messageExpression that could not be used, up to 100 times.
    pub(super) fn note(&mut self, why: String) {
        if self.notes.len() < MOST_NOTES {
            self.notes.push(why);
        }
    }

    /// Subtracts a cost from the budget. If the remaining budget is smaller than the cost, returns false instead.
    pub(super) fn charge(&mut self, cost: u64) -> bool {
        let rest = i64::try_from(cost)
            .ok()
            .and_then(|cost| self.remaining.checked_sub(cost));
        match rest.filter(|rest| *rest >= 0) {
            Some(rest) => {
                self.remaining = rest;
                true
            }
            None => false,
        }
    }

    /// Ends the validation with an error.
    pub(super) fn stop(&mut self, error: Error) -> ControlFlow<()> {
        self.add(error);
        self.exhaust()
    }

    /// Ends the validation and marks the budget as exceeded.
    pub(super) fn exhaust(&mut self) -> ControlFlow<()> {
        self.remaining = -1;
        ControlFlow::Break(())
    }
}

//! What the rules find, and what they have cost.

use std::ops::ControlFlow;

use gavel_apimachinery::field::Error;

use crate::told::Told;

/// How many notes are kept.
const MOST_NOTES: usize = 100;

/// What the rules of an object found so far.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Report {
    /// What is wrong.
    pub(crate) errors: Vec<Error>,
    /// What is wrong, but was before.
    pub(crate) warnings: Vec<String>,
    /// Why messageExpressions could not be used.
    pub(crate) notes: Vec<String>,
    /// Negative where the budget ran out.
    remaining: i64,
    told: Told,
}

impl Report {
    /// Nothing found yet, and a budget in cost units.
    pub(crate) fn new(budget: i64) -> Self {
        Report {
            errors: Vec::new(),
            warnings: Vec::new(),
            notes: Vec::new(),
            remaining: budget,
            told: Told::default(),
        }
    }

    /// What is left of the budget, in cost units; negative where a rule ended the validation.
    pub(crate) fn remaining(&self) -> i64 {
        self.remaining
    }

    /// Adds an error, unless too much has been told.
    pub(super) fn add(&mut self, error: Error) {
        self.add_unless(false, error);
    }

    /// Adds an error, or a warning where the value was as wrong before, unless too much has been told.
    pub(super) fn add_unless(&mut self, is_ratcheted: bool, error: Error) {
        if !self.told.admit(&error) {
            return;
        }
        match is_ratcheted {
            true => self.warnings.push(error.to_string()),
            false => self.errors.push(error),
        }
    }

    /// Adds why a messageExpression could not be used, unless enough is known of that.
    pub(super) fn note(&mut self, why: String) {
        if self.notes.len() < MOST_NOTES {
            self.notes.push(why);
        }
    }

    /// Takes a cost off the budget. False where it is more than is left.
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

    /// Ends the validation.
    pub(super) fn exhaust(&mut self) -> ControlFlow<()> {
        self.remaining = -1;
        ControlFlow::Break(())
    }
}

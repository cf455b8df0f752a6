//! Finds the steps whose results evaluations can share.

use smallvec::SmallVec;

use super::operators::PlannedArguments;
use super::{Planner, Step};
use crate::ast::Expr;
use crate::program::path::SlotId;
use crate::program::tree::{Base, Invariant};
use crate::types::Type;

/// What the value of an expression depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Reading {
    /// Whether the expression reads a varying variable.
    pub(super) varying: bool,
    /// The first slot that the expression reads; `None` if it reads no loop variables or accumulators other than its own.
    first_slot: Option<SlotId>,
}

/// What the operands of the enclosing calls read, as far as they are planned. Without varying variables, nothing is recorded.
#[derive(Debug, Default)]
pub(super) struct Readings {
    /// What the expression reads that is planned now.
    pub(super) current: Reading,
    operands: Vec<Reading>,
}

impl Reading {
    /// Adds a loop variable or accumulator.
    pub(super) fn add_slot(&mut self, slot: SlotId) {
        self.first_slot = Some(self.first_slot.map_or(slot, |first| first.min(slot)));
    }

    /// Leaves a loop whose first slot is `slot`. The loops around it have lower slots.
    pub(super) fn leave(&mut self, slot: SlotId) {
        self.first_slot = self.first_slot.filter(|first| *first < slot);
    }

    fn add(&mut self, other: Reading) {
        self.varying |= other.varying;
        if let Some(slot) = other.first_slot {
            self.add_slot(slot);
        }
    }
}

impl<'e> Planner<'e> {
    /// Records what the operand reads that was just planned.
    pub(super) fn end_operand(&mut self) {
        if self.env.has_varying() {
            let reads = std::mem::take(&mut self.reads.current);
            self.reads.operands.push(reads);
        }
    }

    /// Marks the operands of a call that are invariant, if another operand varies. `before` is what was read before the first operand.
    /// Constants and fields of variables are not marked: they are evaluated as fast as a shared result is found.
    pub(super) fn end_call(
        &mut self,
        operands: impl Iterator<Item = Expr<'e>>,
        arguments: &mut PlannedArguments,
        before: Reading,
    ) {
        if !self.env.has_varying() {
            return;
        }
        let first = self.reads.operands.len().saturating_sub(arguments.len());
        let readings: SmallVec<[Reading; 4]> = self.reads.operands.drain(first..).collect();
        let varies = readings.iter().any(|reads| reads.varying);
        for (n, (operand, reads)) in operands.zip(&readings).enumerate() {
            let is_short = match arguments.get(n) {
                Some(Step::Attribute(chain)) => matches!(chain.base, Base::Variable(_)),
                step => matches!(step, Some(Step::Constant(_))),
            };
            if varies && *reads == Reading::default() && !is_short && self.may_be_scalar(operand) {
                let step = arguments.remove(n);
                let position = self.next_invariant();
                let invariant = Invariant { step, position };
                arguments.insert(n, Step::Invariant(Box::new(invariant)));
            }
        }
        self.reads.current = before;
        readings
            .iter()
            .for_each(|reads| self.reads.current.add(*reads));
    }

    /// Whether the value of an expression may be one that owns its content. Other results are not shared.
    fn may_be_scalar(&self, expr: Expr<'e>) -> bool {
        matches!(
            self.checked.type_of(expr.id),
            Type::Bool | Type::Int | Type::Uint | Type::Double | Type::Dyn
        )
    }

    fn next_invariant(&mut self) -> usize {
        let position = self.invariants;
        self.invariants = position.saturating_add(1);
        position
    }
}

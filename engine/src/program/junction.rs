//! Evaluates `&&` and `||` (cel-go `interpreter/interpretable.go`, `evalAnd` and `evalOr`).

use super::frame::Frame;
use super::tree::{Attribute, Base, Junction, Step, Term};
use crate::ast::ExprId;
use crate::error::EvalError;
use crate::value::Truth;

impl Junction {
    /// Evaluates `&&` if `DECISIVE` is false, and `||` if it is true. If a term equals `DECISIVE`, the result is `DECISIVE`, even if an
    /// earlier term fails. Otherwise, if a term fails, the result is the first failure.
    #[inline(never)]
    pub(super) fn eval<'a, const DECISIVE: bool>(
        &'a self,
        frame: &mut Frame<'_, 'a>,
    ) -> Result<Truth, EvalError> {
        let mut rest = self.terms.as_slice();
        while let Some((term, later)) = rest.split_first() {
            rest = later;
            if term.ladder > 0
                && let Some(climb) = term.climb::<DECISIVE>(later, frame)
            {
                match climb {
                    Climb::Decided => return Ok(Truth::from(DECISIVE)),
                    Climb::Past(after) => rest = after,
                }
                continue;
            }
            match term.step.eval_bool(frame) {
                Ok(value) if value.holds() == DECISIVE => return Ok(value),
                Ok(_) => {}
                Err(error) if error.is_fatal() => return Err(error),
                Err(error) => return decided_after::<DECISIVE>(error.at(term.id), later, frame),
            }
        }
        Ok(Truth::from(!DECISIVE))
    }

    /// Adds an operand. An operand that is a call of the junction's own operator must be split into its terms first.
    pub(super) fn push<const DECISIVE: bool>(&mut self, step: Step, id: ExprId) {
        let mut term = Term {
            step,
            id,
            ladder: 0,
            fields: u8::MAX,
            presence: false,
        };
        if let Some(chain) = term.chain::<DECISIVE>() {
            (term.fields, term.presence) = (
                u8::try_from(chain.fields.len()).unwrap_or(u8::MAX),
                chain.presence,
            );
        }
        let length = self.terms.len();
        let last = self.terms.last().and_then(Term::chain::<DECISIVE>);
        if let (Some(last), Some(chain)) = (last, term.chain::<DECISIVE>())
            && term.fields < u8::MAX
            && last.is_implied_by(chain)
        {
            // The last ladder, if the last term ends it; otherwise a new ladder that begins with the last term.
            let last = length.saturating_sub(1);
            let bottom = self.terms.iter().rposition(|term| term.ladder > 0);
            let ends = |bottom: &usize| {
                let ladder = self
                    .terms
                    .get(*bottom)
                    .map_or(0, |term| term.ladder as usize);
                bottom.saturating_add(ladder) == length
            };
            let bottom = bottom.filter(ends).unwrap_or(last);
            // Each chain of a ladder is longer than the tested chain before it, so a ladder has at most 256 terms.
            if let Some(bottom) = self.terms.get_mut(bottom) {
                bottom.ladder = bottom.ladder.max(1).saturating_add(1);
            }
        }
        self.terms.push(term);
    }
}

/// Evaluates the terms after a term that failed. Fails with `failure`, unless one of the later terms is `DECISIVE`.
#[cold]
fn decided_after<'a, const DECISIVE: bool>(
    failure: EvalError,
    later: &'a [Term],
    frame: &mut Frame<'_, 'a>,
) -> Result<Truth, EvalError> {
    for term in later {
        match term.step.eval_bool(frame) {
            Ok(value) if value.holds() == DECISIVE => return Ok(value),
            Err(later) if later.is_fatal() => return Err(later),
            _ => {}
        }
    }
    Err(failure)
}

/// The outcome of a ladder: consecutive terms that test ever longer chains, such as `has(a.b) && has(a.b.c)`.
enum Climb<'a> {
    /// A term decides the junction.
    Decided,
    /// No term decides the junction. The terms after the ladder follow.
    Past(&'a [Term]),
}

impl Term {
    /// The chain of a term that decides the junction if the chain's value, or its presence test, is false: `a` and `has(a.b)` in `&&`, `!a`
    /// and `!has(a.b)` in `||`. `None` for other terms.
    fn chain<const DECISIVE: bool>(&self) -> Option<&Attribute> {
        let operand = match &self.step {
            Step::Not(operand, _) if DECISIVE => operand,
            step if !DECISIVE => step,
            _ => return None,
        };
        match operand {
            Step::Attribute(chain) if chain.qualifiers.is_empty() => Some(chain),
            _ => None,
        }
    }

    /// Evaluates the terms of a ladder by looking up each field of the longest chain once. Returns `None`, without a charge, if a term
    /// fails, if an object is not parsed, or if a limit must be checked.
    #[inline(always)]
    fn climb<'a, const DECISIVE: bool>(
        &'a self,
        later: &'a [Term],
        frame: &mut Frame<'_, 'a>,
    ) -> Option<Climb<'a>> {
        let (rungs, after) = later.split_at_checked((self.ladder as usize).saturating_sub(1))?;
        let (found, value) = rungs.last()?.chain::<DECISIVE>()?.parsed_fields(frame)?;
        let mut units = 0_u64;
        let mut decides = false;
        for term in std::iter::once(self).chain(rungs) {
            // As in `Attribute::plain_cost`, and one unit for the negation.
            units = units
                .saturating_add(u64::from(term.fields))
                .saturating_add(u64::from(!term.presence))
                .saturating_add(u64::from(DECISIVE));
            decides = match (usize::from(term.fields).checked_sub(found), term.presence) {
                (None | Some(0), true) => false,
                (Some(1), true) => true,
                (Some(0), false) => !value.as_bool()?,
                // A chain through a missing object fails.
                _ => return None,
            };
            if decides {
                break;
            }
        }
        let climb = match decides {
            true => Climb::Decided,
            false => Climb::Past(after),
        };
        frame.charge_freely(units).then_some(climb)
    }
}

impl Attribute {
    /// Whether this is a presence test of a field that `longer` selects: without the field, `longer` fails.
    fn is_implied_by(&self, longer: &Attribute) -> bool {
        let same_base = match (&self.base, &longer.base) {
            (Base::Variable(one), Base::Variable(other)) => one == other,
            (Base::Slot(one), Base::Slot(other)) => one == other,
            _ => false,
        };
        let mut pairs = self.fields.iter().zip(&longer.fields);
        let further = usize::from(longer.presence);
        self.presence
            && same_base
            && self.fields.len().saturating_add(further) <= longer.fields.len()
            && pairs.all(|(one, other)| one.key.name() == other.key.name())
    }
}

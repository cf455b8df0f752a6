//! Evaluates steps.
//!
//! Like upstream, a step charges its cost after its evaluation (`interpreter/runtimecost.go`).

use super::frame::Frame;
use super::tree::{Invariant, Membership, Step};
use crate::ast::ExprId;
use crate::error::EvalError;
use crate::value::{OwnedValue, Truth, Value, check_hashable, key_order};

impl Step {
    /// Evaluates the step. Callers for which speed matters use `eval_into`, which saves a copy of the value.
    pub(super) fn eval<'a>(&'a self, frame: &mut Frame<'_, 'a>) -> Result<Value<'a>, EvalError> {
        let mut value = Value::NULL;
        self.eval_into(&mut value, frame)?;
        Ok(value)
    }

    /// Evaluates the step and stores its value in `place`. Common short steps are evaluated here. All other steps have their own functions,
    /// so that this function stays small.
    #[inline(always)]
    pub(super) fn eval_into<'a>(
        &'a self,
        place: &mut Value<'a>,
        frame: &mut Frame<'_, 'a>,
    ) -> Result<(), EvalError> {
        match self {
            Step::Local(slot, chain) => match frame.held_slot(*slot) {
                Some((value, _)) if value.is_plain() => {
                    value.store_in(place);
                    frame.charge(1)
                }
                _ => chain.eval_into(place, frame),
            },
            Step::Constant(value) => {
                *place = value.as_value();
                Ok(())
            }
            Step::Attribute(chain) => chain.eval_into(place, frame),
            Step::Call(call) => call.eval_into(place, frame),
            Step::Invariant(invariant) => invariant.eval_into(place, frame),
            _ => self.eval_other(place, frame),
        }
    }

    #[inline(never)]
    fn eval_other<'a>(
        &'a self,
        place: &mut Value<'a>,
        frame: &mut Frame<'_, 'a>,
    ) -> Result<(), EvalError> {
        let result = match self {
            Step::Fold(fold) => return fold.eval_into(place, frame),
            Step::List(list) => return list.eval_into(place, frame),
            Step::OptionalOrValue(terms, id) => {
                return optional_or_value(terms, *id, place, frame);
            }
            Step::Call(call) => return call.eval_into(place, frame),
            Step::Attribute(chain) | Step::Local(_, chain) => {
                return chain.eval_into(place, frame);
            }
            Step::Constant(value) => Ok(value.as_value()),
            Step::Block(block) => block.eval(frame),
            Step::Invariant(invariant) => return invariant.eval_into(place, frame),
            Step::NotStrictlyFalse(arg) => not_strictly_false(arg, frame),
            Step::OptionalOr(terms) => optional_or(terms, frame),
            Step::Map(map) => map.eval(frame),
            Step::Struct(literal) => literal.eval(frame),
            Step::Failure(error) => Err(error.clone()),
            Step::Not(..)
            | Step::And(..)
            | Step::Or(..)
            | Step::Equality(_)
            | Step::Comparison(_)
            | Step::Membership(_) => self.eval_bool(frame).map(Value::from),
        };
        *place = result?;
        Ok(())
    }

    /// Evaluates the step for callers that need a bool. Fails if the value is not a bool; the caller attaches the node that needs the bool
    /// to the error. This function only dispatches; each variant has its own function.
    pub(super) fn eval_bool<'a>(&'a self, frame: &mut Frame<'_, 'a>) -> Result<Truth, EvalError> {
        match self {
            Step::Attribute(chain) => chain.eval_bool(frame),
            Step::Not(operand, id) => not(operand, *id, frame),
            Step::And(junction) => junction.eval::<false>(frame),
            Step::Or(junction) => junction.eval::<true>(frame),
            Step::Equality(equality) => equality.eval(frame),
            Step::Comparison(comparison) => comparison.eval(frame),
            Step::Membership(membership) => membership.eval(frame),
            Step::Call(call) => call.eval_bool(frame),
            Step::Fold(fold) => fold.eval_bool(frame),
            _ => self.eval_as_bool(frame),
        }
    }

    #[inline(never)]
    fn eval_as_bool<'a>(&'a self, frame: &mut Frame<'_, 'a>) -> Result<Truth, EvalError> {
        let mut value = Value::NULL;
        self.eval_into(&mut value, frame)?;
        truth_of(&value)
    }

    /// Whether the value of the step is always a bool.
    pub(super) fn is_bool(&self) -> bool {
        matches!(
            self,
            Step::Not(..)
                | Step::And(..)
                | Step::Or(..)
                | Step::Equality(_)
                | Step::Comparison(_)
                | Step::Membership(_)
        ) || matches!(self, Step::Fold(fold) if fold.is_quantifier())
    }

    /// The value of a constant; `None` for any other step.
    pub(super) fn constant(&self) -> Option<Value<'_>> {
        match self {
            Step::Constant(value) => Some(value.as_value()),
            _ => None,
        }
    }
}

/// Converts a value to a bool. Fails if the value is not a bool.
#[inline]
pub(super) fn truth_of(value: &Value<'_>) -> Result<Truth, EvalError> {
    value.as_truth().ok_or_else(EvalError::no_such_overload)
}

#[inline(never)]
fn not<'a>(operand: &'a Step, id: ExprId, frame: &mut Frame<'_, 'a>) -> Result<Truth, EvalError> {
    let value = match operand.eval_bool(frame) {
        Ok(value) => Ok(Truth::from(!value.holds())),
        Err(error) if error.is_fatal() => return Err(error.at(id)),
        Err(error) => Err(error.at(id)),
    };
    frame.charge(1)?;
    value
}

#[inline(never)]
fn not_strictly_false<'a>(
    arg: &'a Step,
    frame: &mut Frame<'_, 'a>,
) -> Result<Value<'a>, EvalError> {
    let held = match arg.eval(frame) {
        Ok(value) => value.as_bool().unwrap_or(true),
        Err(error) if error.is_fatal() => return Err(error),
        Err(_) => true,
    };
    frame.charge(1)?;
    Ok(Value::from(held))
}

#[inline(never)]
fn optional_or<'a>(
    terms: &'a [Step; 2],
    frame: &mut Frame<'_, 'a>,
) -> Result<Value<'a>, EvalError> {
    let [left, right] = terms;
    let value = left.eval(frame)?;
    match value.as_optional() {
        Some(None) => right.eval(frame),
        None if frame.checks_receivers_of_or() => Err(EvalError::no_such_overload()),
        _ => Ok(value),
    }
}

#[inline(never)]
fn optional_or_value<'a>(
    terms: &'a [Step; 2],
    id: ExprId,
    place: &mut Value<'a>,
    frame: &mut Frame<'_, 'a>,
) -> Result<(), EvalError> {
    let [left, right] = terms;
    if let Step::Attribute(chain) = left
        && let Some(held) = chain.eval_optional(place, frame)
    {
        if !held? {
            return right.eval_into(place, frame);
        }
        if !place.is_plain() {
            *place = place
                .or_held_error(frame.arena)
                .map_err(|error| error.at(id))?;
        }
        return Ok(());
    }
    left.eval_into(place, frame)?;
    match place.as_optional() {
        Some(None) => right.eval_into(place, frame),
        Some(Some(held)) => {
            *place = held
                .or_held_error(frame.arena)
                .map_err(|error| error.at(id))?;
            Ok(())
        }
        None if frame.checks_receivers_of_or() => Err(EvalError::no_such_overload()),
        None => Ok(()),
    }
}

impl Membership {
    #[inline(never)]
    fn eval<'a>(&'a self, frame: &mut Frame<'_, 'a>) -> Result<Truth, EvalError> {
        let mut element = Value::NULL;
        self.element.eval_into(&mut element, frame)?;
        check_hashable(&element).map_err(|error| error.at(self.id))?;
        let is_nan = element.as_double().is_some_and(f64::is_nan);
        let found = |known: &OwnedValue| key_order(&known.as_value(), &element);
        Ok(Truth::from(
            !is_nan && self.set.binary_search_by(found).is_ok(),
        ))
    }
}

impl Invariant {
    /// Stores the shared result in `place`. The first evaluation of the step shares its result; failures are not shared.
    #[inline(never)]
    fn eval_into<'a>(
        &'a self,
        place: &mut Value<'a>,
        frame: &mut Frame<'_, 'a>,
    ) -> Result<(), EvalError> {
        let invariants = frame.invariants;
        if let Some((value, units)) = invariants.get(self.position)
            && frame.charge_freely(units)
        {
            *place = value;
            return Ok(());
        }
        let before = frame.cost();
        self.step.eval_into(place, frame)?;
        let units = frame.cost().wrapping_sub(before);
        invariants.share(self.position, place, units);
        Ok(())
    }
}

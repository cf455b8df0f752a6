//! How the steps of a program are evaluated.
//!
//! A node's cost is charged when it is done, as upstream charges it (`interpreter/runtimecost.go`).

use super::frame::Frame;
use super::tree::{Membership, Step};
use crate::ast::ExprId;
use crate::error::EvalError;
use crate::value::{Value, check_hashable, key_order};

impl Step {
    /// Evaluates the step. What is common and short is done here; what the others do has functions of its own, so that none of
    /// them pays for the others' needs.
    #[inline(always)]
    pub(super) fn eval<'a>(&'a self, frame: &mut Frame<'a>) -> Result<Value<'a>, EvalError> {
        match self {
            Step::Local(slot, chain) => match frame.held_slot(*slot) {
                Some((value, _)) if value.is_plain() => {
                    let value = *value;
                    frame.charge(1).map(|()| value)
                }
                _ => chain.eval(frame),
            },
            Step::Constant(value) => Ok(value.as_value()),
            Step::Attribute(chain) => chain.eval(frame),
            _ => self.eval_other(frame),
        }
    }

    #[inline(never)]
    fn eval_other<'a>(&'a self, frame: &mut Frame<'a>) -> Result<Value<'a>, EvalError> {
        match self {
            Step::Call(call) => call.eval(frame),
            Step::Fold(fold) => fold.eval(frame),
            Step::Constant(value) => Ok(value.as_value()),
            Step::Attribute(chain) | Step::Local(_, chain) => chain.eval(frame),
            Step::Not(..)
            | Step::And(..)
            | Step::Or(..)
            | Step::Equality(_)
            | Step::Comparison(_)
            | Step::Membership(_) => self.eval_bool(frame).map(Value::from),
            Step::Block(block) => block.eval(frame),
            Step::NotStrictlyFalse(arg) => not_strictly_false(arg, frame),
            Step::OptionalOr(terms) => optional_or(terms, frame),
            Step::OptionalOrValue(terms, id) => optional_or_value(terms, *id, frame),
            Step::List(list) => list.eval(frame),
            Step::Map(map) => map.eval(frame),
            Step::Struct(literal) => literal.eval(frame),
            Step::Failure(error) => Err(error.clone()),
        }
    }

    /// Evaluates the step where a bool is wanted. Another value is an error, at the node that wanted it: the caller knows
    /// which that is.
    pub(super) fn eval_bool<'a>(&'a self, frame: &mut Frame<'a>) -> Result<bool, EvalError> {
        match self {
            Step::Not(operand, id) => not(operand, *id, frame),
            Step::And(terms, id) => logic(terms, *id, frame, false),
            Step::Or(terms, id) => logic(terms, *id, frame, true),
            Step::Equality(equality) => equality.eval(frame),
            Step::Comparison(comparison) => comparison.eval(frame),
            Step::Membership(membership) => membership.eval(frame),
            _ => {
                let value = self.eval(frame)?;
                value.as_bool().ok_or_else(EvalError::no_such_overload)
            }
        }
    }

    /// The value, where planning knows it.
    pub(super) fn constant(&self) -> Option<Value<'_>> {
        match self {
            Step::Constant(value) => Some(value.as_value()),
            _ => None,
        }
    }
}

/// `&&` where `decisive` is false, `||` where it is true: a decisive operand decides, whatever the other one is; else the
/// first failure counts.
fn logic<'a>(
    terms: &'a [Step; 2],
    id: ExprId,
    frame: &mut Frame<'a>,
    decisive: bool,
) -> Result<bool, EvalError> {
    let [left, right] = terms;
    match left.eval_bool(frame) {
        Ok(value) if value == decisive => Ok(decisive),
        Ok(_) => right.eval_bool(frame).map_err(|error| error.at(id)),
        Err(error) if error.is_fatal() => Err(error),
        Err(error) => match right.eval_bool(frame) {
            Ok(value) if value == decisive => Ok(decisive),
            Err(later) if later.is_fatal() => Err(later),
            _ => Err(error.at(id)),
        },
    }
}

fn not<'a>(operand: &'a Step, id: ExprId, frame: &mut Frame<'a>) -> Result<bool, EvalError> {
    let value = operand.eval_bool(frame).map_err(|error| error.at(id));
    if let Err(error) = &value
        && error.is_fatal()
    {
        return value;
    }
    frame.charge(1)?;
    value.map(|value| !value)
}

fn not_strictly_false<'a>(arg: &'a Step, frame: &mut Frame<'a>) -> Result<Value<'a>, EvalError> {
    let held = match arg.eval(frame) {
        Ok(value) => value.as_bool().unwrap_or(true),
        Err(error) if error.is_fatal() => return Err(error),
        Err(_) => true,
    };
    frame.charge(1)?;
    Ok(Value::from(held))
}

fn optional_or<'a>(terms: &'a [Step; 2], frame: &mut Frame<'a>) -> Result<Value<'a>, EvalError> {
    let [left, right] = terms;
    let value = left.eval(frame)?;
    match value.as_optional() {
        Some(None) => right.eval(frame),
        None if frame.checks_receivers_of_or() => Err(EvalError::no_such_overload()),
        _ => Ok(value),
    }
}

fn optional_or_value<'a>(
    terms: &'a [Step; 2],
    id: ExprId,
    frame: &mut Frame<'a>,
) -> Result<Value<'a>, EvalError> {
    let [left, right] = terms;
    let value = left.eval(frame)?;
    match value.as_optional() {
        Some(None) => right.eval(frame),
        Some(Some(held)) => held
            .or_held_error(frame.arena)
            .map_err(|error| error.at(id)),
        None if frame.checks_receivers_of_or() => Err(EvalError::no_such_overload()),
        None => Ok(value),
    }
}

impl Membership {
    fn eval<'a>(&'a self, frame: &mut Frame<'a>) -> Result<bool, EvalError> {
        let element = self.element.eval(frame)?;
        check_hashable(&element).map_err(|error| error.at(self.id))?;
        match element.as_double() {
            Some(double) if double.is_nan() => Ok(false),
            _ => Ok(self
                .set
                .binary_search_by(|known| key_order(&known.as_value(), &element))
                .is_ok()),
        }
    }
}

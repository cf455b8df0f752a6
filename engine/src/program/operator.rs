//! Operators with two operands: equality and orderings, with a fast path for the types that rules compare most.

use std::cmp::Ordering;

use super::frame::Frame;
use super::tree::{Comparison, Equality, Operands, Operator};
use crate::decl::Form;
use crate::error::EvalError;
use crate::value::{Truth, Value, same_text};

impl Operator {
    /// The ordering operator for a form; `None` if the form is not an ordering.
    pub(super) fn of(form: Form) -> Option<Self> {
        Some(match form {
            Form::Less => Operator::Less,
            Form::LessOrEqual => Operator::LessEquals,
            Form::Greater => Operator::Greater,
            Form::GreaterOrEqual => Operator::GreaterEquals,
            _ => return None,
        })
    }

    /// The operator that gives the same result for exchanged operands: `>` for `<`.
    pub(super) fn turned(self) -> Self {
        match self {
            Operator::Less => Operator::Greater,
            Operator::LessEquals => Operator::GreaterEquals,
            Operator::Greater => Operator::Less,
            Operator::GreaterEquals => Operator::LessEquals,
        }
    }

    #[inline]
    pub(super) fn holds(self, order: Ordering) -> bool {
        match self {
            Operator::Less => order.is_lt(),
            Operator::LessEquals => order.is_le(),
            Operator::Greater => order.is_gt(),
            Operator::GreaterEquals => order.is_ge(),
        }
    }
}

impl Operands {
    /// Evaluates both operands.
    #[inline(always)]
    fn eval<'a>(
        &'a self,
        values: &mut [Value<'a>; 2],
        frame: &mut Frame<'_, 'a>,
    ) -> Result<(), EvalError> {
        let [left, right] = values;
        if let Err(error) = self.left.eval_into(left, frame) {
            return Err(self.fail_left(error, frame));
        }
        match self.right.eval_into(right, frame) {
            Ok(()) => Ok(()),
            Err(error) => Err(self.fail(Some(left), None, error, frame)),
        }
    }

    /// Ends a comparison whose left operand failed. The right operand is still evaluated, because upstream charges its cost.
    #[cold]
    fn fail_left<'a>(&'a self, error: EvalError, frame: &mut Frame<'_, 'a>) -> EvalError {
        if error.is_fatal() {
            return error;
        }
        match self.right.eval(frame) {
            Err(later) if later.is_fatal() => later,
            right => self.fail(None, right.as_ref().ok(), error, frame),
        }
    }

    /// Charges for a comparison with a failed operand, and returns the error.
    #[cold]
    fn fail<'a>(
        &self,
        left: Option<&Value<'a>>,
        right: Option<&Value<'a>>,
        error: EvalError,
        frame: &mut Frame<'_, 'a>,
    ) -> EvalError {
        if error.is_fatal() {
            return error;
        }
        let charged = self
            .cost
            .track(&[left, right], None)
            .and_then(|units| frame.charge(units));
        charged.err().unwrap_or(error).at(self.id)
    }
}

impl Equality {
    #[inline(never)]
    pub(super) fn eval<'a>(&'a self, frame: &mut Frame<'_, 'a>) -> Result<Truth, EvalError> {
        let mut values = [Value::NULL; 2];
        self.operands.eval(&mut values, frame)?;
        let [left, right] = &values;
        let (equal, units) = if let (Some(l), Some(r)) = (left.as_str(), right.as_str()) {
            // The comparison costs one unit if the shorter text has at most ten bytes, and nothing if it is empty.
            let units = match l.len().min(r.len()) {
                0 => 0,
                1..=10 => 1,
                _ => return self.compare(left, right, frame),
            };
            (same_text(l, r), units)
        } else if let (Some(l), Some(r)) = (left.as_int(), right.as_int()) {
            (l == r, 1)
        } else if let (Some(l), Some(r)) = (left.as_truth(), right.as_truth()) {
            (l == r, 1)
        } else {
            return self.compare(left, right, frame);
        };
        frame.charge(units)?;
        Ok(Truth::from(equal != self.negated))
    }

    #[inline(never)]
    fn compare<'a>(
        &'a self,
        left: &Value<'a>,
        right: &Value<'a>,
        frame: &mut Frame<'_, 'a>,
    ) -> Result<Truth, EvalError> {
        let host = frame.context().host();
        let result = match self.negated {
            false => left.equals_with(right, host),
            true => left.differs_from(right, host),
        }
        .map_err(|error| error.at(self.operands.id));
        if let Err(error) = &result
            && error.is_fatal()
        {
            return result.map(Truth::from);
        }
        frame.charge(self.operands.cost.track(&[Some(left), Some(right)], None)?)?;
        result.map(Truth::from)
    }
}

impl Comparison {
    #[inline(never)]
    pub(super) fn eval<'a>(&'a self, frame: &mut Frame<'_, 'a>) -> Result<Truth, EvalError> {
        let mut values = [Value::NULL; 2];
        self.operands.eval(&mut values, frame)?;
        let [left, right] = &values;
        if let (Some(l), Some(r)) = (left.as_int(), right.as_int()) {
            frame.charge(1)?;
            return Ok(Truth::from(self.operator.holds(l.cmp(&r))));
        }
        let result =
            (self.function)(frame.context(), &values).map_err(|error| error.at(self.operands.id));
        if let Err(error) = &result
            && error.is_fatal()
        {
            return Err(error.clone());
        }
        frame.charge(self.operands.cost.track(&[Some(left), Some(right)], None)?)?;
        // The result of an ordering is a bool.
        Ok(Truth::from(result?.as_bool() == Some(true)))
    }
}

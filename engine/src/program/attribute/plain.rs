//! Chains of fields through JSON objects only: the fast path, which most chains take.

use crate::error::EvalError;
use crate::program::frame::{Frame, ONLY_EPOCH};
use crate::program::step::truth_of;
use crate::program::tree::{Attribute, Base, Field};
use crate::value::{Truth, Value};

impl Attribute {
    /// Evaluates the chain as a step of its own.
    #[inline(never)]
    pub(in crate::program) fn eval<'a>(
        &'a self,
        frame: &mut Frame<'_, 'a>,
    ) -> Result<Value<'a>, EvalError> {
        let mut value = Value::NULL;
        match self.follow_plain(&mut value, frame) {
            Some(found) => {
                self.charge_plain(frame)?;
                Ok(match self.presence {
                    true => Value::from(found),
                    false => value,
                })
            }
            None => self.eval_any(frame),
        }
    }

    /// Like `eval`, for callers that need a bool.
    #[inline(never)]
    pub(in crate::program) fn eval_bool<'a>(
        &'a self,
        frame: &mut Frame<'_, 'a>,
    ) -> Result<Truth, EvalError> {
        let mut value = Value::NULL;
        match self.follow_plain(&mut value, frame) {
            Some(found) => {
                self.charge_plain(frame)?;
                match self.presence {
                    true => Ok(Truth::from(found)),
                    false => truth_of(value),
                }
            }
            None => self.eval_any_bool(frame),
        }
    }

    #[inline(never)]
    fn eval_any_bool<'a>(&'a self, frame: &mut Frame<'_, 'a>) -> Result<Truth, EvalError> {
        truth_of(self.eval_any(frame)?)
    }

    /// Charges one unit per field and one for the chain; a presence test is refunded the unit for the chain.
    #[inline(always)]
    fn charge_plain(&self, frame: &mut Frame<'_, '_>) -> Result<(), EvalError> {
        let fields = self.fields.len() as u64;
        frame.charge_each(fields.saturating_add(u64::from(!self.presence)))
    }

    /// Follows a chain of fields through JSON objects and stores the value at its end in `value`. Returns `Some(false)` if the chain tests
    /// a field that is missing, and `None`, without a charge, for every chain that is not so simple.
    #[inline(always)]
    fn follow_plain<'a>(
        &'a self,
        value: &mut Value<'a>,
        frame: &mut Frame<'_, 'a>,
    ) -> Option<bool> {
        let (base, epoch) = match &self.base {
            Base::Variable(index) => (frame.bound_variable(*index)?, ONLY_EPOCH),
            Base::Slot(slot) => frame.held_slot(*slot)?,
            _ => return None,
        };
        if !self.qualifiers.is_empty() {
            return None;
        }
        *value = *base;
        let fields = self.fields.as_slice();
        if fields.is_empty() {
            return value.is_plain().then_some(true);
        }
        let mut known = fields.len();
        while let Some((field, _)) = fields.get(..known).and_then(<[_]>::split_last) {
            if let Some(kept) = frame.kept(field.path, epoch) {
                *value = *kept;
                break;
            }
            known = known.saturating_sub(1);
        }
        for field in fields.get(known..)? {
            match value.plain_field(&field.name, field.place)? {
                Some(found) => *value = found,
                None => return self.tests(field).then_some(false),
            }
            frame.keep(field.path, epoch, *value);
        }
        Some(true)
    }

    /// Whether a field is the last one of a presence test.
    fn tests(&self, field: &Field) -> bool {
        let last = self.fields.last();
        self.presence && last.is_some_and(|last| std::ptr::eq(last, field))
    }
}

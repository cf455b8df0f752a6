//! Chains that go through objects of JSON documents alone: the short way that most of them take.

use crate::error::EvalError;
use crate::program::frame::Frame;
use crate::program::step::Truth;
use crate::program::tree::{Attribute, Base};
use crate::value::Value;

impl Attribute {
    /// Evaluates the chain as a step of its own.
    #[inline(never)]
    pub(in crate::program) fn eval<'a>(
        &'a self,
        frame: &mut Frame<'_, 'a>,
    ) -> Result<Value<'a>, EvalError> {
        match self.plain(frame) {
            Some(value) => {
                self.charge_plain(frame)?;
                Ok(value)
            }
            None => self.eval_any(frame),
        }
    }

    /// The same where a bool is wanted.
    #[inline(never)]
    pub(in crate::program) fn eval_bool<'a>(
        &'a self,
        frame: &mut Frame<'_, 'a>,
    ) -> Result<Truth, EvalError> {
        match self.plain(frame) {
            Some(value) => {
                self.charge_plain(frame)?;
                Truth::of(&value)
            }
            None => Truth::of(&self.eval_any(frame)?),
        }
    }

    /// One unit a field and one for the chain, which a presence test gives back.
    #[inline(always)]
    fn charge_plain(&self, frame: &mut Frame<'_, '_>) -> Result<(), EvalError> {
        let fields = self.fields.len() as u64;
        frame.charge_each(fields.saturating_add(u64::from(!self.presence)))
    }

    /// The value of a variable that is as it is, or of a chain that goes through JSON objects alone, as most do. None where
    /// anything else comes up, nothing having been charged.
    #[inline(always)]
    fn plain<'a>(&'a self, frame: &mut Frame<'_, 'a>) -> Option<Value<'a>> {
        let (base, epoch) = match &self.base {
            Base::Variable(index) => (frame.bound_variable(*index)?, 0),
            Base::Slot(index) => frame.held_slot(*index)?,
            _ => return None,
        };
        if !self.qualifiers.is_empty() {
            return None;
        }
        let mut value = *base;
        let mut rest = self.fields.as_slice();
        if rest.is_empty() {
            return value.is_plain().then_some(value);
        }
        if frame.keeps_paths() {
            let mut before = rest;
            while let Some((field, shorter)) = before.split_last() {
                if let Some(kept) = frame.kept(field.path, epoch) {
                    value = *kept;
                    rest = rest.get(before.len()..)?;
                    break;
                }
                before = shorter;
            }
        }
        while let Some((field, after)) = rest.split_first() {
            match value.plain_field(&field.name, field.place)? {
                Some(found) => value = found,
                None if self.presence && after.is_empty() => return Some(Value::from(false)),
                None => return None,
            }
            frame.keep(field.path, epoch, value);
            rest = after;
        }
        Some(match self.presence {
            true => Value::from(true),
            false => value,
        })
    }
}

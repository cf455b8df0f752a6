//! Chains that go through objects of JSON documents alone: the short way that most of them take.

use crate::error::EvalError;
use crate::program::frame::Frame;
use crate::program::tree::{Attribute, Base, Qualifier, QualifierKey};
use crate::value::Value;

impl Attribute {
    /// Evaluates the chain as a step of its own.
    #[inline(never)]
    pub(in crate::program) fn eval<'a>(
        &'a self,
        frame: &mut Frame<'a>,
    ) -> Result<Value<'a>, EvalError> {
        match self.plain(frame) {
            Some(value) => {
                // One unit a field and one for the chain; a presence test gives that one back and adds its own.
                frame.charge_each((self.fields.len() as u64).saturating_add(1))?;
                Ok(value)
            }
            None => self.eval_any(frame),
        }
    }

    /// The value of a variable that is as it is, or of a chain that goes through JSON objects alone, as most do. None where
    /// anything else comes up, nothing having been charged.
    #[inline]
    fn plain<'a>(&'a self, frame: &mut Frame<'a>) -> Option<Value<'a>> {
        let (base, epoch) = match &self.base {
            Base::Variable(index) => (frame.bound_variable(*index)?, 0),
            Base::Slot(index) => frame.held_slot(*index)?,
            _ => return None,
        };
        let mut value = *base;
        let tested = match self.qualifiers.as_slice() {
            [] if self.fields.is_empty() => return value.is_plain().then_some(value),
            [] => None,
            [
                Qualifier {
                    key: QualifierKey::Field(name),
                    ..
                },
            ] if self.presence => Some(name),
            _ => return None,
        };
        let mut rest = self.fields.as_slice();
        if frame.keeps_paths() {
            let mut known = rest.iter().enumerate().rev();
            if let Some((n, kept)) =
                known.find_map(|(n, field)| Some((n, frame.kept(field.path, epoch)?)))
            {
                value = *kept;
                rest = rest.get(n.saturating_add(1)..)?;
            }
        }
        for field in rest {
            value = value.plain_field(&field.name, field.place)??;
            frame.keep(field.path, epoch, value);
        }
        let Some(tested) = tested else {
            return Some(value);
        };
        let (path, place) = self.tested;
        let found = value.plain_field(tested, place)?;
        if let Some(found) = found {
            frame.keep(path, epoch, found);
        }
        Some(Value::from(found.is_some()))
    }
}

//! The fast path for chains of fields through JSON objects. Most chains take it.

use crate::error::EvalError;
use crate::program::frame::{Epoch, Frame, ONLY_EPOCH};
use crate::program::step::truth_of;
use crate::program::tree::{Attribute, Base, Field, QualifierKey};
use crate::value::{FieldKey, Truth, Value};

impl Attribute {
    /// Evaluates the chain, charges for it and stores its value in `place`.
    #[inline(never)]
    pub(in crate::program) fn eval_into<'a>(
        &'a self,
        place: &mut Value<'a>,
        frame: &mut Frame<'_, 'a>,
    ) -> Result<(), EvalError> {
        match self.follow_plain(place, frame) {
            Some(found) => {
                if self.presence {
                    *place = Value::from(found);
                }
                frame.charge_each(self.plain_cost())
            }
            None => self.eval_any(place, frame),
        }
    }

    /// Like `eval_into`, for callers that need a bool.
    #[inline(never)]
    pub(in crate::program) fn eval_bool<'a>(
        &'a self,
        frame: &mut Frame<'_, 'a>,
    ) -> Result<Truth, EvalError> {
        let mut value = Value::NULL;
        match self.follow_plain(&mut value, frame) {
            Some(found) => {
                frame.charge_each(self.plain_cost())?;
                match self.presence {
                    true => Ok(Truth::from(found)),
                    false => truth_of(&value),
                }
            }
            None => self.eval_any_bool(frame),
        }
    }

    #[inline(never)]
    fn eval_any_bool<'a>(&'a self, frame: &mut Frame<'_, 'a>) -> Result<Truth, EvalError> {
        let mut value = Value::NULL;
        self.eval_any(&mut value, frame)?;
        truth_of(&value)
    }

    /// The cost of a chain of fields: one unit per field and one unit for the chain. A presence test does not pay the unit for the chain.
    #[inline(always)]
    pub(in crate::program) fn plain_cost(&self) -> u64 {
        let fields = self.fields.len() as u64;
        fields.saturating_add(u64::from(!self.presence))
    }

    /// Looks up the fields of the chain, from its base on, until one is missing. Returns the number of fields that were found, and the
    /// value of the last of them, or of the base if none was found. `None` if the base has no value, or if a value that is searched is not
    /// an object that was parsed into an arena.
    #[inline(always)]
    pub(in crate::program) fn parsed_fields<'a>(
        &self,
        frame: &Frame<'_, 'a>,
    ) -> Option<(usize, Value<'a>)> {
        let mut value = match &self.base {
            Base::Variable(index) => frame.bound_variable(*index)?,
            Base::Slot(slot) => frame.held_slot(*slot)?.0,
            _ => return None,
        };
        for (found, field) in self.fields.iter().enumerate() {
            match value.parsed_field(&field.key)? {
                Some(next) => value = next,
                None => return Some((found, *value)),
            }
        }
        Some((self.fields.len(), *value))
    }

    /// Follows a chain of fields through JSON objects and stores the value at its end in `value`. Returns `Some(false)` if the chain tests
    /// a field that is missing. Returns `None`, without a charge, for every chain that needs more than lookups in JSON objects.
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
        let fields = self.fields.as_slice();
        let Some((last, before)) = fields.split_last() else {
            *value = *base;
            return value.is_plain().then_some(true);
        };
        if base.is_parsed_object() {
            // Looking up the fields of a parsed object again takes less time than the cache.
            let mut found = base;
            for field in fields {
                match found.parsed_field(&field.key)? {
                    Some(next) => found = next,
                    None => return self.tests(field).then_some(false),
                }
            }
            *value = *found;
            return Some(true);
        }
        if frame.keeps_any(self.paths) {
            if let Some(kept) = frame.kept(last.path, epoch) {
                *value = *kept;
                return Some(true);
            }
            *value = *base;
            return self.follow_kept(value, before, last, epoch, frame);
        }
        *value = *base;
        for field in fields {
            if !value.go_to_plain_field(&field.key)? {
                return self.tests(field).then_some(false);
            }
        }
        Some(true)
    }

    /// Like `follow_plain`, for a chain with paths that the program caches. `last` is the chain's last field; its value is not in the cache
    /// yet. `value` must be the value of the chain's base.
    #[inline(never)]
    fn follow_kept<'a>(
        &self,
        value: &mut Value<'a>,
        before: &'a [Field],
        last: &'a Field,
        epoch: Epoch,
        frame: &mut Frame<'_, 'a>,
    ) -> Option<bool> {
        let mut rest = before;
        while let Some((field, shorter)) = rest.split_last() {
            if let Some(kept) = frame.kept(field.path, epoch) {
                *value = *kept;
                break;
            }
            rest = shorter;
        }
        for field in before.get(rest.len()..)? {
            if !value.go_to_plain_field(&field.key)? {
                return None;
            }
            frame.keep(field.path, epoch, value);
        }
        if !value.go_to_plain_field(&last.key)? {
            return self.presence.then_some(false);
        }
        frame.keep(last.path, epoch, value);
        Some(true)
    }

    /// Evaluates a chain of fields and then optional fields, such as `a.b.?c.?d`, through JSON objects only. Stores the held value in `place`
    /// and returns true, or returns false for an empty optional. `None` means that the chain needs more than this; nothing is charged in this
    /// case.
    #[inline(always)]
    pub(in crate::program) fn eval_optional<'a>(
        &'a self,
        place: &mut Value<'a>,
        frame: &mut Frame<'_, 'a>,
    ) -> Option<Result<bool, EvalError>> {
        if self.presence || !self.qualifiers.first()?.optional {
            return None;
        }
        let base = match &self.base {
            Base::Variable(index) => frame.bound_variable(*index)?,
            Base::Slot(slot) => frame.held_slot(*slot)?.0,
            _ => return None,
        };
        let (found, steps) = match base.is_parsed_object() {
            true => {
                let mut value = base;
                let followed = self.follow_optional(|key| {
                    let found = value.parsed_field(key)?;
                    value = found.unwrap_or(value);
                    Some(found.is_some())
                })?;
                *place = *value;
                followed
            }
            false => {
                *place = *base;
                self.follow_optional(|key| place.go_to_plain_field(key))?
            }
        };
        // One unit for each step, and one for the chain itself.
        Some(frame.charge_each(steps.saturating_add(1)).map(|()| found))
    }

    /// Looks up the fields and the optional fields of a chain with `look_up`, which returns whether it found a field. Returns whether all of
    /// them were found, and how many were found. `None` if the chain needs more than this.
    #[inline(always)]
    fn follow_optional<'a>(
        &'a self,
        mut look_up: impl FnMut(&'a FieldKey) -> Option<bool>,
    ) -> Option<(bool, u64)> {
        let mut found = 0_u64;
        for field in &self.fields {
            if !look_up(&field.key)? {
                return None;
            }
            found = found.saturating_add(1);
        }
        for qualifier in &self.qualifiers {
            let QualifierKey::Field(key) = &qualifier.key else {
                return None;
            };
            if !look_up(key)? {
                return Some((false, found));
            }
            found = found.saturating_add(1);
        }
        Some((true, found))
    }

    /// Whether a field is the last one of a presence test.
    fn tests(&self, field: &Field) -> bool {
        let last = self.fields.last();
        self.presence && last.is_some_and(|last| std::ptr::eq(last, field))
    }
}

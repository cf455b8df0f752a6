//! The loops of comprehensions: over the elements of a list, or over the keys of a map.

use super::frame::{Frame, Slot};
use super::tree::FoldStep;
use crate::error::EvalError;
use crate::value::{ItemShape, ListRepr, OwnedValue, Value};

impl FoldStep {
    /// Calls `step` for each element with the loop variables set, until `step` returns false.
    // Each representation of lists has its own loop, so that the processor predicts the branches of nested loops independently.
    #[inline]
    pub(super) fn each<'a>(
        &self,
        range: &Value<'a>,
        frame: &mut Frame<'_, 'a>,
        step: impl FnMut(&mut Frame<'_, 'a>) -> Result<bool, EvalError>,
    ) -> Result<(), EvalError> {
        let Some(list) = range.as_list() else {
            return self.each_key(range, frame, step);
        };
        match list.0 {
            ListRepr::Values(values) => {
                self.each_of(values, |value, place| *place = *value, frame, step)
            }
            ListRepr::Json(items) => {
                let store = |json: &'a _, place: &mut _| *place = Value::from(json);
                self.each_of(items, store, frame, step)
            }
            ListRepr::Shaped(items, shape) => {
                let item = ItemShape::of(shape);
                let store = |json: &'a _, place: &mut _| item.store(json, place);
                self.each_of(items, store, frame, step)
            }
            ListRepr::Owned(values) => {
                let store = |value: &'a OwnedValue, place: &mut _| *place = value.as_value();
                self.each_of(values, store, frame, step)
            }
            ListRepr::View(_) => self.each_of(list, |value, place| *place = value, frame, step),
        }
    }

    #[inline(always)]
    fn each_of<'a, T>(
        &self,
        elements: impl IntoIterator<Item = T>,
        store: impl Fn(T, &mut Value<'a>),
        frame: &mut Frame<'_, 'a>,
        mut step: impl FnMut(&mut Frame<'_, 'a>) -> Result<bool, EvalError>,
    ) -> Result<(), EvalError> {
        let mut index = 0_i64;
        for element in elements {
            self.set_element(index, frame, |place| store(element, place));
            if !step(frame)? {
                return Ok(());
            }
            frame.iterate()?;
            index = index.saturating_add(1);
        }
        Ok(())
    }

    /// Sets the loop variables to the element that `store` stores, and to its index.
    #[inline(always)]
    pub(super) fn set_element<'a>(
        &self,
        index: i64,
        frame: &mut Frame<'_, 'a>,
        store: impl FnOnce(&mut Value<'a>),
    ) {
        let var = self.var2.unwrap_or(self.var);
        if let Some(place) = frame.next_value(var) {
            store(place);
            if place.as_unread().is_some() {
                let element = *place;
                frame.set_slot(var, Slot::from(frame.read(element)));
            }
        }
        if self.var2.is_some() {
            frame.set_value(self.var, Value::from(index));
        }
    }

    /// Like `each`, for a map: the first loop variable is the key, the second one is the value.
    fn each_key<'a>(
        &self,
        range: &Value<'a>,
        frame: &mut Frame<'_, 'a>,
        mut step: impl FnMut(&mut Frame<'_, 'a>) -> Result<bool, EvalError>,
    ) -> Result<(), EvalError> {
        let Some(map) = range.as_map() else {
            return Err(EvalError::new(match self.var2 {
                None => format!("got '{}', expected iterable type", range.go_type()),
                Some(_) => format!("unsupported comprehension range type: {}", range.go_type()),
            }));
        };
        let mut entries = map.iter();
        while let Some(key) = entries.next_key() {
            frame.set_value(self.var, key);
            if let Some(var2) = self.var2 {
                let value = match map.get(&key) {
                    Ok(Some(value)) => frame.read(value),
                    Ok(None) => Err(EvalError::no_such_key(key.in_message())),
                    Err(error) => Err(error),
                };
                frame.set_slot(var2, Slot::from(value));
            }
            if !step(frame)? {
                return Ok(());
            }
            frame.iterate()?;
        }
        Ok(())
    }
}

//! Copies of values that were just computed.

use super::{Json, JsonObject, Opaque, Repr, Shape, Truth, Value};

impl<'a> Value<'a> {
    /// Stores a copy of a value that was just computed in `place`.
    ///
    /// The words of such a value were written one by one. A plain copy reads two words at once, and most processors wait for about 15 cycles
    /// before they can read two words that they wrote separately just before. The most common values are therefore copied through registers.
    #[inline(always)]
    pub(crate) fn store_in(&self, place: &mut Value<'a>) {
        match self.0 {
            Repr::String(_) => {
                if let Some(text) = self.text_by_words() {
                    *place = Value(Repr::String(text));
                }
            }
            Repr::Int(_) => {
                if let Some(int) = self.int_by_words() {
                    *place = Value(Repr::Int(int));
                }
            }
            Repr::ShapedMap(..) => {
                if let Some((map, shape)) = self.map_by_words() {
                    *place = Value(Repr::ShapedMap(map, shape));
                }
            }
            _ => self.store_other(place),
        }
    }

    #[inline(never)]
    fn store_other(&self, place: &mut Value<'a>) {
        match self.0 {
            Repr::Bool(_) => {
                if let Some(value) = self.truth_by_words() {
                    *place = Value(Repr::Bool(value));
                }
            }
            Repr::ShapedList(..) => {
                if let Some((items, shape)) = self.items_by_words() {
                    *place = Value(Repr::ShapedList(items, shape));
                }
            }
            Repr::List(_) => {
                if let Some(values) = self.list_by_words() {
                    *place = Value(Repr::List(values));
                }
            }
            Repr::Opaque(_) => {
                if let Some(opaque) = self.opaque_by_words() {
                    *place = Value(Repr::Opaque(opaque));
                }
            }
            _ => *place = *self,
        }
    }

    // If these functions were inlined, the compiler would combine their reads with the writes of the copy.

    #[inline(never)]
    fn text_by_words(&self) -> Option<&'a str> {
        self.as_str()
    }

    #[inline(never)]
    fn int_by_words(&self) -> Option<i64> {
        self.as_int()
    }

    #[inline(never)]
    fn truth_by_words(&self) -> Option<Truth> {
        self.as_truth()
    }

    #[inline(never)]
    fn map_by_words(&self) -> Option<(&'a JsonObject, &'a Shape)> {
        match self.0 {
            Repr::ShapedMap(map, shape) => Some((map, shape)),
            _ => None,
        }
    }

    #[inline(never)]
    fn items_by_words(&self) -> Option<(&'a Vec<Json>, &'a Shape)> {
        self.as_shaped_list()
    }

    #[inline(never)]
    fn list_by_words(&self) -> Option<&'a [Value<'a>]> {
        match self.0 {
            Repr::List(values) => Some(values),
            _ => None,
        }
    }

    #[inline(never)]
    fn opaque_by_words(&self) -> Option<&'a dyn Opaque> {
        self.as_dyn_opaque()
    }
}

//! Lists of every representation.

use std::ops::Range;

use bumpalo::collections::Vec as ArenaVec;
use gavel_golang::work::Work;

use super::reach::WORK_PER_ELEMENT;
use super::{Arena, ItemShape, Json, ListView, OwnedValue, Repr, Shape, Value};
use crate::error::EvalError;

/// The ints whose work [`List::try_each_int`] announces at once.
const INTS_PER_PIECE: usize = 256;

/// A list: computed, in a JSON document, or provided by a host.
#[derive(Debug, Clone, Copy)]
pub struct List<'a>(pub(crate) ListRepr<'a>);

/// The representation of a list.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ListRepr<'a> {
    /// A list that an expression computed.
    Values(&'a [Value<'a>]),
    /// A list in a JSON document.
    Json(&'a [Json]),
    /// A list in a JSON document. Its elements are read through the host's shape.
    Shaped(&'a Vec<Json>, &'a Shape),
    /// A list stored outside of an arena, such as a constant.
    Owned(&'a [OwnedValue]),
    /// A list provided by a host.
    View(&'a dyn ListView),
}

impl<'a> List<'a> {
    /// The empty list.
    pub const EMPTY: List<'static> = List(ListRepr::Values(&[]));

    /// The number of elements.
    pub fn len(&self) -> usize {
        match self.0 {
            ListRepr::Values(values) => values.len(),
            ListRepr::Json(items) => items.len(),
            ListRepr::Shaped(items, _) => items.len(),
            ListRepr::Owned(values) => values.len(),
            ListRepr::View(view) => view.len(),
        }
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether indices must be ints. All other lists also accept uints, and doubles without a fraction.
    pub fn takes_only_ints(&self) -> bool {
        match self.0 {
            ListRepr::Shaped(..) => true,
            ListRepr::View(view) => view.takes_only_ints(),
            ListRepr::Values(_) | ListRepr::Json(_) | ListRepr::Owned(_) => false,
        }
    }

    /// The element at `index`, or `None` past the end.
    pub fn get(&self, index: usize) -> Option<Value<'a>> {
        match self.0 {
            ListRepr::Values(values) => values.get(index).copied(),
            ListRepr::Json(items) => items.get(index).map(Value::from),
            ListRepr::Shaped(items, shape) => items
                .get(index)
                .map(|json| ItemShape::of(shape).value(json)),
            ListRepr::Owned(values) => values.get(index).map(OwnedValue::as_value),
            ListRepr::View(view) => view.get(index),
        }
    }

    /// The elements of a range; `None` if the list is too short. The result shares the list's memory if possible.
    ///
    /// # Errors
    ///
    /// The arena has no room for the elements.
    pub fn slice(
        &self,
        range: Range<usize>,
        arena: &'a Arena,
    ) -> Result<Option<List<'a>>, EvalError> {
        Ok(match self.0 {
            ListRepr::Values(values) => values.get(range).map(|part| List(ListRepr::Values(part))),
            ListRepr::Json(items) => items.get(range).map(|part| List(ListRepr::Json(part))),
            ListRepr::Owned(values) => values.get(range).map(|part| List(ListRepr::Owned(part))),
            ListRepr::Shaped(..) | ListRepr::View(_) => {
                if range.end > self.len() {
                    return Ok(None);
                }
                arena.reserve(range.len().saturating_mul(size_of::<Value<'_>>()))?;
                let elements = range.filter_map(|index| self.get(index));
                let elements = ArenaVec::from_iter_in(elements, arena.bump());
                Some(List(ListRepr::Values(elements.into_bump_slice())))
            }
        })
    }

    /// Calls `visit` for each element in order, until it fails.
    ///
    /// # Errors
    ///
    /// The error of `visit`.
    #[inline]
    pub fn try_each<E>(&self, visit: impl FnMut(Value<'a>) -> Result<(), E>) -> Result<(), E> {
        match self.0 {
            ListRepr::Values(values) => values.iter().copied().try_for_each(visit),
            ListRepr::Json(items) => items.iter().map(Value::from).try_for_each(visit),
            ListRepr::Shaped(items, shape) => {
                let item = ItemShape::of(shape);
                items
                    .iter()
                    .map(|json| item.value(json))
                    .try_for_each(visit)
            }
            ListRepr::Owned(values) => values.iter().map(OwnedValue::as_value).try_for_each(visit),
            ListRepr::View(_) => self.iter().try_for_each(visit),
        }
    }

    /// Calls `visit` for each element in order, until an element is not an int or `visit` fails. Returns the element that is not an int.
    /// Announces the work of reading the elements. No value is built for an int of a list that its shape types as ints.
    ///
    /// # Errors
    ///
    /// The error of `visit`, or the host interrupts the evaluation.
    #[inline]
    pub fn try_each_int(
        &self,
        work: &Work<'_>,
        mut visit: impl FnMut(i64) -> Result<(), EvalError>,
    ) -> Result<Option<Value<'a>>, EvalError> {
        match self.0 {
            ListRepr::Values(values) => each_int(values.iter().copied(), work, visit),
            ListRepr::Shaped(items, shape) => {
                let item = ItemShape::of(shape);
                for piece in items.chunks(INTS_PER_PIECE) {
                    work.spend(piece.len().saturating_mul(WORK_PER_ELEMENT))?;
                    for json in piece {
                        match item.int(json) {
                            Some(int) => visit(int)?,
                            None => return Ok(Some(item.value(json))),
                        }
                    }
                }
                Ok(None)
            }
            _ => each_int(self.iter(), work, visit),
        }
    }

    /// The elements in order.
    pub fn iter(&self) -> ListIter<'a> {
        ListIter {
            list: *self,
            next: 0,
        }
    }
}

/// [`List::try_each_int`] of any values.
#[inline]
fn each_int<'a>(
    values: impl Iterator<Item = Value<'a>>,
    work: &Work<'_>,
    mut visit: impl FnMut(i64) -> Result<(), EvalError>,
) -> Result<Option<Value<'a>>, EvalError> {
    for value in values {
        work.spend(value.work())?;
        match value.as_int() {
            Some(int) => visit(int)?,
            None => return Ok(Some(value)),
        }
    }
    Ok(None)
}

impl<'a, T: AsRef<[Value<'a>]> + ?Sized> From<&'a T> for List<'a> {
    fn from(values: &'a T) -> Self {
        List(ListRepr::Values(values.as_ref()))
    }
}

impl<'a> From<List<'a>> for Value<'a> {
    fn from(list: List<'a>) -> Self {
        match list.0 {
            ListRepr::Values(values) => Value(Repr::List(values)),
            ListRepr::Json(items) => Value(Repr::JsonList(items)),
            ListRepr::Shaped(items, shape) => Value(Repr::ShapedList(items, shape)),
            ListRepr::Owned(values) => Value(Repr::OwnedList(values)),
            ListRepr::View(view) => Value(Repr::ListView(view)),
        }
    }
}

impl<'a> IntoIterator for List<'a> {
    type Item = Value<'a>;
    type IntoIter = ListIter<'a>;

    fn into_iter(self) -> ListIter<'a> {
        self.iter()
    }
}

/// The elements of a [`List`] in order.
#[derive(Debug, Clone)]
pub struct ListIter<'a> {
    list: List<'a>,
    next: usize,
}

impl<'a> Iterator for ListIter<'a> {
    type Item = Value<'a>;

    fn next(&mut self) -> Option<Value<'a>> {
        let value = self.list.get(self.next)?;
        self.next = self.next.saturating_add(1);
        Some(value)
    }
}

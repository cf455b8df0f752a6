//! The elements of a list with a schema: a list in a document, or the result of `+`.

use gavel_engine::value::{Json, Shape, Value};

use super::native::Native;

/// The elements of a list with a schema.
#[derive(Debug, Clone, Copy)]
pub(super) enum Elements<'a> {
    /// Elements of a document.
    Json(&'a [Json]),
    /// Elements of a joined list.
    Joined(&'a [JoinedElement<'a>]),
}

/// An element of a joined list, as a Go value and as a CEL value.
#[derive(Debug, Clone, Copy)]
pub(super) struct JoinedElement<'a> {
    pub(super) native: Native<'a>,
    pub(super) value: Value<'a>,
}

impl<'a> Elements<'a> {
    pub(super) fn len(self) -> usize {
        match self {
            Elements::Json(items) => items.len(),
            Elements::Joined(elements) => elements.len(),
        }
    }

    /// The elements as Go values.
    pub(super) fn natives(self) -> impl Iterator<Item = Native<'a>> {
        (0..self.len()).filter_map(move |index| self.native(index))
    }

    /// An element as a Go value.
    fn native(self, index: usize) -> Option<Native<'a>> {
        match self {
            Elements::Json(items) => items.get(index).map(Native::Json),
            Elements::Joined(elements) => elements.get(index).map(|element| element.native),
        }
    }

    /// An element as a CEL value, with the schema `item`.
    pub(super) fn value(self, index: usize, item: &'a Shape) -> Option<Value<'a>> {
        match self {
            Elements::Json(items) => items.get(index).map(|json| item.view(json)),
            Elements::Joined(elements) => elements.get(index).map(|element| element.value),
        }
    }
}

//! Where an evaluation keeps what it computes.

use bumpalo::Bump;
use bumpalo::collections::Vec as ArenaVec;
use elsa::FrozenVec;

use super::{Json, Opaque, Value};
use crate::error::EvalError;

/// The most bytes that an arena holds from one evaluation to the next.
const MOST_KEPT: usize = 1 << 20;

/// The bytes beyond which evaluations end: many times what costs and requests let an honest expression compute.
const MOST_COMPUTED: usize = 512 << 20;

/// The memory of one or more evaluations: strings, lists and maps that they compute live as long as it does.
///
/// An empty arena holds no memory, so an expression that only reads allocates nothing. A host that evaluates often
/// keeps one arena a thread and calls [`Arena::reset`] between evaluations.
#[derive(Default)]
pub struct Arena {
    bump: Bump,
    /// Values with destructors of their own, which the bump allocator would never run.
    opaques: FrozenVec<Box<dyn Opaque>>,
    documents: FrozenVec<Box<Json>>,
}

impl Arena {
    /// An empty arena.
    pub fn new() -> Self {
        Self::default()
    }

    /// Forgets all values and keeps the memory for the next evaluation, unless that is much.
    pub fn reset(&mut self) {
        match self.allocated_bytes() > MOST_KEPT {
            true => self.bump = Bump::new(),
            false => self.bump.reset(),
        }
        self.opaques = FrozenVec::new();
        self.documents = FrozenVec::new();
    }

    /// The bytes that the arena holds.
    pub fn allocated_bytes(&self) -> usize {
        self.bump.allocated_bytes()
    }

    /// Fails where so much has been computed that evaluations would take all memory. For what copies lists at a cost that
    /// does not grow with them; the cost limit bounds the rest.
    pub fn check_size(&self) -> Result<(), EvalError> {
        match self.allocated_bytes() > MOST_COMPUTED {
            true => Err(EvalError::internal("values are too large")),
            false => Ok(()),
        }
    }

    /// The allocator itself, for growing collections (`bumpalo::collections`).
    pub fn bump(&self) -> &Bump {
        &self.bump
    }

    /// A copy of a text.
    pub fn string(&self, text: &str) -> Value<'_> {
        Value::String(self.bump.alloc_str(text))
    }

    /// A copy of some bytes.
    pub fn bytes(&self, bytes: &[u8]) -> Value<'_> {
        Value::Bytes(self.bump.alloc_slice_copy(bytes))
    }

    /// A list of these values.
    pub fn list<'a>(&'a self, values: &[Value<'a>]) -> Value<'a> {
        Value::List(self.bump.alloc_slice_copy(values))
    }

    /// An object as JSON has it: text keys and values. Of fields of one name the last one counts.
    pub fn object<'a>(
        &'a self,
        fields: impl IntoIterator<Item = (&'a str, Value<'a>)>,
    ) -> Value<'a> {
        let mut fields = ArenaVec::from_iter_in(fields, &self.bump);
        if !fields.is_sorted_by(|(one, _), (next, _)| one < next) {
            // The order of fields of one name is kept, and the last one comes first.
            fields.reverse();
            fields.sort_by_key(|(name, _)| *name);
            fields.dedup_by_key(|(name, _)| *name);
        }
        Value::Fields(fields.into_bump_slice())
    }

    /// An array as JSON has it.
    pub fn array<'a>(&'a self, items: impl IntoIterator<Item = Value<'a>>) -> Value<'a> {
        let items = ArenaVec::from_iter_in(items, &self.bump);
        Value::Items(items.into_bump_slice())
    }

    /// An optional that holds a value.
    pub fn some<'a>(&'a self, value: Value<'a>) -> Value<'a> {
        Value::Optional(Some(self.bump.alloc(value)))
    }

    /// A JSON document, kept as it is.
    pub fn document(&self, document: Json) -> Value<'_> {
        Value::from(self.documents.push_get(Box::new(document)))
    }

    /// A value of a library's own type.
    pub fn opaque(&self, value: impl Opaque) -> Value<'_> {
        Value::Opaque(self.opaques.push_get(Box::new(value)))
    }
}

impl std::fmt::Debug for Arena {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Arena")
            .field("allocated_bytes", &self.allocated_bytes())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::alloc::Layout;

    use super::*;

    #[test]
    fn what_was_computed_is_bounded_and_not_kept() {
        let mut arena = Arena::new();
        arena.string("a");
        assert!(arena.check_size().is_ok());
        // No page of it is touched.
        let layout = Layout::from_size_align(MOST_COMPUTED, 1).unwrap();
        let _ = arena.bump().alloc_layout(layout);
        assert!(arena.check_size().unwrap_err().is_fatal());
        arena.reset();
        assert!(arena.check_size().is_ok());
        assert!(arena.allocated_bytes() <= MOST_KEPT);
    }
}

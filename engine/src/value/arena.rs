//! The memory of computed values.

use std::any::Any;
use std::cell::Cell;
use std::mem::needs_drop;

use bumpalo::Bump;
use bumpalo::collections::Vec as ArenaVec;
use elsa::FrozenVec;

use super::pool::Pools;
use super::{Json, Repr, Value};
use crate::error::EvalError;

/// The largest amount of memory that an arena retains after a reset, in bytes.
const MOST_KEPT: usize = 1 << 20;

/// The assumed overhead of a value with a destructor, in bytes.
const OPAQUE_OVERHEAD: usize = 48;

/// The default memory limit: the bytes that evaluations can compute in one arena.
pub const MEMORY_LIMIT: usize = 64 << 20;

/// The memory of one or more evaluations. The strings, lists and maps that the evaluations compute live as long as the arena.
///
/// An empty arena holds no memory, so an expression that only reads allocates nothing. A host that evaluates often keeps one arena per
/// thread and calls [`Arena::reset`] between evaluations.
///
/// ```
/// use gavel_engine::value::Arena;
///
/// let mut arena = Arena::new();
/// arena.set_limit(1 << 20);    // 1 MiB for the values that evaluations compute
/// let text = arena.string("computed");
/// assert_eq!(text.as_str(), Some("computed"));
/// arena.reset();    // the compiler checks that nothing uses `text` any more
/// assert_eq!(arena.allocated_bytes(), 0);
/// ```
#[derive(Default)]
pub struct Arena {
    bump: Bump,
    /// Values with destructors. The bump allocator would not run the destructors.
    pools: Pools,
    documents: FrozenVec<Box<Json>>,
    /// The approximate size of the values with destructors, in bytes.
    opaque_bytes: Cell<usize>,
    /// The size of the inputs that were parsed into the arena, in bytes.
    input_bytes: Cell<usize>,
    /// The memory limit.
    limit: Limit,
}

#[derive(Debug)]
struct Limit(Cell<usize>);

impl Default for Limit {
    fn default() -> Self {
        Limit(Cell::new(MEMORY_LIMIT))
    }
}

impl Arena {
    /// An empty arena.
    pub fn new() -> Self {
        Self::default()
    }

    /// Drops all values. Retains up to 1 MiB of memory for the next evaluation.
    pub fn reset(&mut self) {
        match self.bump.allocated_bytes() > MOST_KEPT {
            true => self.bump = Bump::new(),
            false => self.bump.reset(),
        }
        if self.opaque_bytes.replace(0) > 0 {
            self.pools.reset();
        }
        if !self.documents.is_empty() {
            self.documents = FrozenVec::new();
        }
        self.input_bytes.set(0);
    }

    /// The memory in use, in bytes, without memory that was reserved but not written.
    #[inline]
    pub fn allocated_bytes(&self) -> usize {
        let untouched = self.bump.chunk_capacity();
        let held = self.bump.allocated_bytes().saturating_sub(untouched);
        held.saturating_add(self.opaque_bytes.get())
    }

    /// The size of the inputs that [`read_json`](super::read_json) parsed into the arena, in bytes.
    pub fn input_bytes(&self) -> usize {
        self.input_bytes.get()
    }

    /// Counts the memory in use beyond `before` bytes as input.
    pub(super) fn count_input(&self, before: usize) {
        let read = self.allocated_bytes().saturating_sub(before);
        let bytes = self.input_bytes.get().saturating_add(read);
        self.input_bytes.set(bytes);
    }

    /// Sets the memory limit: the most bytes that evaluations can compute, in addition to the inputs. The default is [`MEMORY_LIMIT`].
    pub fn set_limit(&self, bytes: usize) {
        self.limit.0.set(bytes);
    }

    /// Checks that the arena can hold `bytes` more bytes. Code that computes a large value calls this function first; an evaluation also
    /// calls it from time to time.
    ///
    /// # Errors
    ///
    /// The arena would exceed its limit. No operator absorbs the error.
    #[inline]
    pub fn reserve(&self, bytes: usize) -> Result<(), EvalError> {
        let computed = self.allocated_bytes().saturating_sub(self.input_bytes());
        match computed.saturating_add(bytes) > self.limit.0.get() {
            true => Err(EvalError::memory_limit()),
            false => Ok(()),
        }
    }

    /// The allocator, for collections that grow (`bumpalo::collections`).
    pub fn bump(&self) -> &Bump {
        &self.bump
    }

    /// Copies a text into the arena.
    pub fn string(&self, text: &str) -> Value<'_> {
        Value(Repr::String(self.bump.alloc_str(text)))
    }

    /// Copies bytes into the arena.
    pub fn bytes(&self, bytes: &[u8]) -> Value<'_> {
        Value(Repr::Bytes(self.bump.alloc_slice_copy(bytes)))
    }

    /// A list of these values.
    pub fn list<'a>(&'a self, values: &[Value<'a>]) -> Value<'a> {
        Value(Repr::List(self.bump.alloc_slice_copy(values)))
    }

    /// A JSON object with these fields. If several fields have the same name, the last field is used.
    pub fn object<'a>(
        &'a self,
        fields: impl IntoIterator<Item = (&'a str, Value<'a>)>,
    ) -> Value<'a> {
        let mut fields = ArenaVec::from_iter_in(fields, &self.bump);
        sort_by_unique_key(&mut fields, |(name, _)| *name);
        match fields.is_empty() {
            true => self.empty_object(),
            false => Value(Repr::Fields(fields.into_bump_slice())),
        }
    }

    /// A JSON object without fields. It has memory of its own, so that no other object has its address.
    pub(super) fn empty_object(&self) -> Value<'_> {
        let fields = self.bump.alloc_slice_copy(&[("", Value(Repr::Null))]);
        Value(Repr::Fields(fields.get(..0).unwrap_or_default()))
    }

    /// A JSON array of these items.
    pub fn array<'a>(&'a self, items: impl IntoIterator<Item = Value<'a>>) -> Value<'a> {
        let items = ArenaVec::from_iter_in(items, &self.bump);
        Value(Repr::Items(items.into_bump_slice()))
    }

    /// An optional that holds a value.
    pub fn some<'a>(&'a self, value: Value<'a>) -> Value<'a> {
        Value(Repr::Optional(Some(self.bump.alloc(value))))
    }

    /// Moves a JSON document into the arena.
    pub fn document(&self, document: Json) -> Value<'_> {
        Value::from(self.documents.push_get(Box::new(document)))
    }

    /// Keeps a value until the arena is reset. `others` returns the memory that the value holds on the heap, in bytes.
    pub(super) fn hold<T: Any + Send>(&self, value: T, others: impl Fn(&T) -> usize) -> &T {
        if !needs_drop::<T>() {
            return self.bump.alloc(value);
        }
        let value = self.pools.hold(value);
        let own = const { size_of::<T>().saturating_add(OPAQUE_OVERHEAD) };
        // Most values hold no other memory.
        let bytes = match others(value) {
            0 => own,
            others => own.saturating_add(others),
        };
        let held = self.opaque_bytes.get().saturating_add(bytes);
        self.opaque_bytes.set(held);
        value
    }
}

impl std::fmt::Debug for Arena {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Arena")
            .field("allocated_bytes", &self.allocated_bytes())
            .finish_non_exhaustive()
    }
}

/// Sorts the items by their keys, unless they are sorted already. Of several items with the same key, only the last is kept.
pub(super) fn sort_by_unique_key<T, K: Ord>(items: &mut ArenaVec<'_, T>, key: impl Fn(&T) -> K) {
    if !items.is_sorted_by(|one, next| key(one) < key(next)) {
        // After reversing, a stable sort puts the last item of each key first.
        items.reverse();
        items.sort_by_key(&key);
        items.dedup_by_key(|item| key(item));
    }
}

#[cfg(test)]
mod tests {
    use std::alloc::Layout;
    use std::borrow::Cow;
    use std::sync::Arc;

    use super::*;
    use crate::value::{Opaque, read_json};

    /// A value with a destructor.
    #[derive(Debug, Clone)]
    struct Counted(Arc<()>);

    impl Opaque for Counted {
        fn type_name(&self) -> &'static str {
            "test.Counted"
        }

        fn equals(&self, _: &Value<'_>) -> Result<bool, EvalError> {
            Ok(false)
        }

        fn to_text(&self) -> Cow<'_, str> {
            Cow::Borrowed("counted")
        }
    }

    #[test]
    fn values_with_destructors_are_dropped_and_their_places_are_used_again() {
        let (mut arena, counted) = (Arena::new(), Counted(Arc::new(())));
        let fill = |arena: &Arena| {
            let values = (0..3).map(|_| arena.opaque(counted.clone()));
            Vec::from_iter(values.map(|value| {
                let place: *const Counted = value.as_opaque().unwrap();
                place.addr()
            }))
        };
        let places = fill(&arena);
        assert_eq!(Arc::strong_count(&counted.0), 4);
        assert!(arena.allocated_bytes() >= 3 * size_of::<Counted>());
        arena.reset();
        assert_eq!(Arc::strong_count(&counted.0), 1);
        assert_eq!(arena.allocated_bytes(), 0);
        assert_eq!(fill(&arena), places);
    }

    #[test]
    fn values_without_destructors_are_counted() {
        #[derive(Debug, Clone, Copy)]
        struct Plain([u64; 4]);

        impl Opaque for Plain {
            fn type_name(&self) -> &'static str {
                "test.Plain"
            }

            fn equals(&self, other: &Value<'_>) -> Result<bool, EvalError> {
                Ok(other
                    .as_opaque()
                    .is_some_and(|other: &Plain| other.0 == self.0))
            }

            fn to_text(&self) -> Cow<'_, str> {
                Cow::Borrowed("plain")
            }
        }

        let arena = Arena::new();
        let value = arena.opaque(Plain([1; 4]));
        assert_eq!(value.as_opaque::<Plain>().unwrap().0, [1; 4]);
        assert!(arena.allocated_bytes() >= size_of::<Plain>());
    }

    #[test]
    fn memory_of_computed_values_is_released() {
        let mut arena = Arena::new();
        // The test reserves memory, but does not write to it.
        let layout = Layout::from_size_align(64 << 20, 1).unwrap();
        let _ = arena.bump().alloc_layout(layout);
        arena.reset();
        assert!(arena.allocated_bytes() <= MOST_KEPT);
    }

    #[test]
    fn computed_values_are_limited() {
        let arena = Arena::new();
        let text = "x".repeat(40 << 20);
        assert!(arena.reserve(text.len()).is_ok());
        arena.string(&text);
        assert!(arena.reserve(text.len()).unwrap_err().is_fatal());
        arena.set_limit(100 << 20);
        assert!(arena.reserve(text.len()).is_ok());
    }

    #[test]
    fn input_and_computed_values_are_counted_separately() {
        let mut arena = Arena::new();
        arena.string("computed");
        let before = arena.allocated_bytes();
        let text = ["[", &"1,".repeat(10_000), "1]"].concat();
        assert!(read_json(&text, &arena).is_some());
        assert!(arena.input_bytes() >= 24 * 10_001);
        assert_eq!(arena.input_bytes(), arena.allocated_bytes() - before);
        arena.reset();
        assert_eq!(arena.input_bytes(), 0);
    }
}

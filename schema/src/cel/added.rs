//! The members that expressions add to a set that is bound to a variable.

use std::cell::{Cell, RefCell};

use bumpalo::collections::Vec as ArenaVec;
use gavel_engine::value::Arena;

use super::elements::Elements;
use super::native::{Native, NativeKey, Unhashable};

/// The additions to a set that is bound to a variable.
///
/// When a later expression compares or extends the variable, upstream treats the recorded additions as members of the set, although the
/// list does not contain them.
#[derive(Debug)]
pub(super) struct Added<'a> {
    keys: RefCell<ArenaVec<'a, NativeKey<'a>>>,
    /// Whether an expression compared or extended the variable before.
    is_hashed: Cell<bool>,
    arena: &'a Arena,
}

/// The keys of the members that upstream's hash map of a set contains.
///
/// Upstream hashes the members once. If a member cannot be hashed, hashing them fails, and later expressions use the incomplete map.
pub(super) fn hashed<'a>(
    set: Elements<'a>,
    added: Option<&Added<'_>>,
) -> impl Iterator<Item = Result<Option<NativeKey<'a>>, Unhashable<'a>>> {
    let is_hashed = added.is_some_and(|added| added.is_hashed.replace(true));
    let keys = set.natives().map(Native::key);
    keys.take_while(move |key| !is_hashed || key.is_ok())
}

impl<'a> Added<'a> {
    pub(super) fn new(arena: &'a Arena) -> Self {
        Added {
            keys: RefCell::new(ArenaVec::new_in(arena.bump())),
            is_hashed: Cell::new(false),
            arena,
        }
    }

    /// Copies the keys of the additions to `members`.
    pub(super) fn extend<'m>(&'m self, members: &mut impl Extend<NativeKey<'m>>)
    where
        'a: 'm,
    {
        members.extend(self.keys.borrow().iter().copied());
    }

    pub(super) fn remember(&self, key: NativeKey<'_>) {
        let key = key.copied_to(self.arena);
        self.keys.borrow_mut().push(key);
    }
}

//! Paths that an expression goes along more than once, such as `c.securityContext` in
//! `!has(c.securityContext) || !c.securityContext.privileged`: each of their fields is looked up once.
//!
//! The cost is what it would be without that: a chain is charged for each of its fields wherever it stands.

use std::num::NonZeroU32;

use rustc_hash::FxHashMap;
use smol_str::SmolStr;

/// The identity of a variable or loop variable followed by fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct PathId(NonZeroU32);

impl PathId {
    /// The row of this path in [`KeptPaths::cells`].
    pub(super) fn index(self) -> usize {
        (self.0.get() as usize).saturating_sub(1)
    }
}

/// The paths of a program while it is planned.
#[derive(Debug, Default)]
pub(super) struct KeptPaths {
    ids: FxHashMap<(Start, SmolStr), PathId>,
    /// How often each path is gone along, as far as it matters: once or more than once.
    uses: Vec<u32>,
}

/// What a path is one field longer than.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Start {
    Variable(usize),
    Slot(usize),
    Path(PathId),
}

impl KeptPaths {
    /// The path one field beyond `start`. `again`: it is gone along in a loop.
    pub(super) fn follow(&mut self, start: Start, field: &str, again: bool) -> Option<PathId> {
        let number = u32::try_from(self.uses.len()).ok()?.checked_add(1)?;
        let next = PathId(NonZeroU32::new(number)?);
        let path = *self.ids.entry((start, field.into())).or_insert(next);
        if path == next {
            self.uses.push(0);
        }
        if let Some(uses) = self.uses.get_mut(path.index()) {
            *uses = uses.saturating_add(if again { 2 } else { 1 });
        }
        Some(path)
    }

    /// For each path where its value is kept, beyond their number if it is not; and the number of values that are kept.
    pub(super) fn cells(&self) -> (Box<[u32]>, usize) {
        let mut kept = 0_u32;
        let cell = |uses: &u32| {
            let next = kept;
            kept = kept.saturating_add(u32::from(*uses > 1));
            if *uses > 1 { next } else { u32::MAX }
        };
        let cells = self.uses.iter().map(cell).collect();
        (cells, kept as usize)
    }
}

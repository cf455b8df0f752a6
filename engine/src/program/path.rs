//! Paths that an expression goes along more than once, such as `c.securityContext` in
//! `!has(c.securityContext) || !c.securityContext.privileged`: each of their fields is looked up once.
//!
//! The cost is what it would be without that: a chain is charged for each of its fields wherever it stands.

use rustc_hash::FxHashMap;
use smol_str::SmolStr;

use super::attribute::Base;

/// The identity of a variable or loop variable followed by fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct PathId(u32);

impl PathId {
    /// The row of this path in [`Paths::cells`].
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// The paths of a program while it is planned.
#[derive(Debug, Default)]
pub(super) struct Paths {
    ids: FxHashMap<(Start, SmolStr), PathId>,
    /// How often each path is gone along, as far as it matters: once or more than once.
    uses: Vec<u32>,
}

/// What a path is one field longer than.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Start {
    Variable(usize),
    Slot(usize),
    Path(PathId),
}

impl Paths {
    /// The path one field beyond `last`, or beyond the base where that is none. `again`: it is gone along in a loop.
    pub(super) fn follow(
        &mut self,
        base: &Base,
        last: Option<PathId>,
        field: &str,
        again: bool,
    ) -> Option<PathId> {
        let start = match (last, base) {
            (Some(path), _) => Start::Path(path),
            (None, Base::Variable(index)) => Start::Variable(*index),
            (None, Base::Slot(index)) => Start::Slot(*index),
            _ => return None,
        };
        let next = PathId(u32::try_from(self.uses.len()).ok()?);
        let path = *self.ids.entry((start, field.into())).or_insert(next);
        if path == next {
            self.uses.push(0);
        }
        if let Some(uses) = self.uses.get_mut(path.index()) {
            *uses = uses.saturating_add(if again { 2 } else { 1 });
        }
        Some(path)
    }

    /// For each path where its value is kept, if it is, and the number of values that are kept.
    pub(super) fn cells(&self) -> (Box<[Option<u32>]>, usize) {
        let mut kept = 0_usize;
        let cell = |uses: &u32| {
            let cell = u32::try_from(kept).ok().filter(|_| *uses > 1)?;
            kept = kept.saturating_add(1);
            Some(cell)
        };
        let cells = self.uses.iter().map(cell).collect();
        (cells, kept)
    }
}

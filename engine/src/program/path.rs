//! Paths that an expression goes along more than once, such as `c.securityContext` in
//! `!has(c.securityContext) || !c.securityContext.privileged`: each of their fields is looked up once.
//!
//! The cost is what it would be without that: a chain is charged for each of its fields wherever it stands.

use std::num::NonZeroU8;

use rustc_hash::FxHashMap;
use smol_str::SmolStr;

/// So many paths of a program are kept.
pub(super) const MOST_PATHS: usize = 16;

/// The identity of a variable or loop variable followed by fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct PathId(NonZeroU8);

impl PathId {
    /// The place of the path's value.
    #[inline]
    pub(super) fn index(self) -> usize {
        usize::from(self.0.get()).saturating_sub(1)
    }
}

/// The paths of a program while it is planned.
#[derive(Debug, Default)]
pub(super) struct KeptPaths {
    ids: FxHashMap<(Start, Further), PathId>,
    /// Whether any path is gone along more than once.
    again: bool,
}

/// By what a path goes one step further.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Further {
    Field(SmolStr),
    /// What a function, named here, reads from the text there.
    Read(SmolStr),
}

/// What a path is one step longer than.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Start {
    Variable(usize),
    Slot(usize),
    Path(PathId),
}

impl KeptPaths {
    /// The path one step beyond `start`. `again`: it is gone along in a loop.
    pub(super) fn follow(&mut self, start: Start, further: Further, again: bool) -> Option<PathId> {
        let key = (start, further);
        let known = self.ids.get(&key).copied();
        self.again |= again || known.is_some();
        if known.is_some() || self.ids.len() == MOST_PATHS {
            return known;
        }
        let next = u8::try_from(self.ids.len()).ok()?.checked_add(1)?;
        let path = PathId(NonZeroU8::new(next)?);
        self.ids.insert(key, path);
        Some(path)
    }

    /// The number of values that are kept.
    pub(super) fn kept(&self) -> usize {
        match self.again {
            true => self.ids.len(),
            false => 0,
        }
    }
}

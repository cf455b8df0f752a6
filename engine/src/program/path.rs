//! Paths that an expression reads more than once, such as `c.securityContext` in `!has(c.securityContext) ||
//! !c.securityContext.privileged`: each of their fields is looked up once.
//!
//! The cost does not change: a chain is charged for each of its fields at every occurrence.

use smallvec::SmallVec;
use smol_str::SmolStr;

/// The number of paths that a program keeps.
pub(super) const MOST_PATHS: usize = 16;

// `PathSet` has a bit for each.
const _: () = assert!(MOST_PATHS <= u32::BITS as usize);

/// The number of a loop variable or accumulator.
pub(super) type SlotId = u32;

/// The identity of a variable or loop variable followed by fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PathId(u8);

impl PathId {
    /// No path: no value is kept.
    pub(super) const NONE: PathId = PathId(u8::MAX);

    /// The index of the path's kept value.
    #[inline]
    pub(super) fn index(self) -> usize {
        self.0.into()
    }
}

/// A set of paths, one bit each.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct PathSet(u32);

impl PathSet {
    /// Adds a path.
    pub(super) fn add(&mut self, path: PathId) {
        if path != PathId::NONE {
            self.0 |= 1_u32.wrapping_shl(path.0.into());
        }
    }

    /// Whether the path is in the set.
    #[inline]
    pub(super) fn has(self, path: PathId) -> bool {
        path != PathId::NONE && self.0.wrapping_shr(path.0.into()) & 1 == 1
    }

    /// Whether the sets have a path in common.
    #[inline]
    pub(super) fn meets(self, other: PathSet) -> bool {
        self.0 & other.0 != 0
    }

    /// One more than the greatest index in the set.
    #[inline]
    pub(super) fn places(self) -> usize {
        (u32::BITS.saturating_sub(self.0.leading_zeros())) as usize
    }
}

/// The paths of a program while it is planned.
#[derive(Debug, Default)]
pub(super) struct KeptPaths {
    /// The base of each path, and its last step with the name of the field or function; indexed by the path's id.
    steps: SmallVec<[(Start, Further, SmolStr); 4]>,
    keeps: PathSet,
}

/// A step that extends a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Further {
    /// A field.
    Field,
    /// The result of a function that parses the text at the path.
    Read,
}

/// The base of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Start {
    Variable(usize),
    Slot(SlotId),
    Path(PathId),
}

impl KeptPaths {
    /// The path one step beyond `start`, to the field or by the function `name`. `again` says that a loop reads the
    /// path in every iteration.
    pub(super) fn follow(
        &mut self,
        start: Start,
        further: Further,
        name: &str,
        again: bool,
    ) -> PathId {
        let known = self
            .steps
            .iter()
            .position(|known| known.0 == start && known.1 == further && known.2 == name);
        if known.is_none() {
            if self.steps.len() == MOST_PATHS {
                return PathId::NONE;
            }
            self.steps.push((start, further, name.into()));
        }
        let index = known.unwrap_or(self.steps.len().saturating_sub(1));
        let path = u8::try_from(index).map_or(PathId::NONE, PathId);
        if again || known.is_some() {
            self.keeps.add(path);
        }
        path
    }

    /// The paths whose values are kept: those that are read more than once.
    pub(super) fn keeps(&self) -> PathSet {
        self.keeps
    }
}

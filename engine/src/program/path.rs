//! Caches the values of paths that an expression reads more than once, such as `c.a` in `!has(c.a) || !c.a.b`. Each field of such a path is
//! looked up only once. The fields of objects that were parsed into an arena are found as fast without the cache, and are not cached.
//!
//! The cost does not change: a chain is charged for each of its fields at every occurrence.

use smallvec::SmallVec;

/// The largest number of paths whose values a program caches.
pub(super) const MOST_PATHS: usize = 16;

// `PathSet` has one bit for each path.
const _: () = assert!(MOST_PATHS <= u32::BITS as usize);

/// The index of a loop variable or accumulator in the program.
pub(super) type SlotId = u32;

/// Identifies a path: a variable or loop variable followed by fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PathId(u8);

impl PathId {
    /// No path. Its value is never cached.
    pub(super) const NONE: PathId = PathId(u8::MAX);

    /// The index of the path's cached value.
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

    /// The length of a table indexed by the paths of the set.
    #[inline]
    pub(super) fn places(self) -> usize {
        (u32::BITS.saturating_sub(self.0.leading_zeros())) as usize
    }
}

/// The paths of a program while it is planned.
#[derive(Debug, Default)]
pub(super) struct KeptPaths<'e> {
    /// For each path, its base, the kind of its last step, and the name of the field or function. Indexed by [`PathId`].
    steps: SmallVec<[(Start, Further, &'e str); 4]>,
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
    Variable(u32),
    Slot(SlotId),
    Path(PathId),
}

impl<'e> KeptPaths<'e> {
    /// The path that extends `start` by one step: the field `name` or a call of the function `name`. `is_repeated` means that a loop reads
    /// the path in every iteration.
    pub(super) fn follow(
        &mut self,
        start: Start,
        further: Further,
        name: &'e str,
        is_repeated: bool,
    ) -> PathId {
        let known = self
            .steps
            .iter()
            .position(|known| known.0 == start && known.1 == further && known.2 == name);
        if known.is_none() {
            if self.steps.len() == MOST_PATHS {
                return PathId::NONE;
            }
            self.steps.push((start, further, name));
        }
        let index = known.unwrap_or(self.steps.len().saturating_sub(1));
        let path = u8::try_from(index).map_or(PathId::NONE, PathId);
        if is_repeated || known.is_some() {
            self.keeps.add(path);
        }
        path
    }

    /// The paths whose values are cached, because they are read more than once.
    pub(super) fn keeps(&self) -> PathSet {
        self.keeps
    }
}

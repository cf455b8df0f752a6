//! Paths that an expression reads more than once, such as `c.securityContext` in `!has(c.securityContext) ||
//! !c.securityContext.privileged`: each of their fields is looked up once.
//!
//! The cost does not change: a chain is charged for each of its fields at every occurrence.

use smol_str::SmolStr;

/// The number of paths that a program keeps.
pub(super) const MOST_PATHS: usize = 16;

// `Keeps` has a bit for each.
const _: () = assert!(MOST_PATHS <= u32::BITS as usize);

/// The number of a loop variable or accumulator.
pub(super) type SlotId = u32;

/// The identity of a variable or loop variable followed by fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PathId(u8);

/// The paths whose values are kept, one bit each: those that are read more than once.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Keeps(u32);

impl Keeps {
    /// The index of a path's kept value, if it is kept.
    #[inline]
    pub(super) fn place(self, path: Option<PathId>) -> Option<usize> {
        let path = path?.0;
        let is_kept = self.0.wrapping_shr(path.into()) & 1 == 1;
        is_kept.then_some(path.into())
    }

    /// The number of kept values.
    #[inline]
    pub(super) fn places(self) -> usize {
        (u32::BITS.saturating_sub(self.0.leading_zeros())) as usize
    }
}

/// The paths of a program while it is planned.
#[derive(Debug, Default)]
pub(super) struct KeptPaths {
    /// For each path, by its id, its base and its last step.
    steps: Vec<(Start, Further)>,
    keeps: Keeps,
}

/// A step that extends a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Further {
    Field(SmolStr),
    /// The result of a function that parses the text at the path. Holds the function's name.
    Read(SmolStr),
}

/// The base of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Start {
    Variable(usize),
    Slot(SlotId),
    Path(PathId),
}

impl KeptPaths {
    /// The path one step beyond `start`. `again` says that the path is read in a loop.
    pub(super) fn follow(&mut self, start: Start, further: Further, again: bool) -> Option<PathId> {
        let step = (start, further);
        let known = self.steps.iter().position(|known| *known == step);
        let place = known.unwrap_or(self.steps.len());
        let path = u8::try_from(place).ok().map(PathId)?;
        if known.is_none() {
            if self.steps.len() == MOST_PATHS {
                return None;
            }
            self.steps.push(step);
        }
        if again || known.is_some() {
            self.keeps.0 |= 1_u32.wrapping_shl(path.0.into());
        }
        Some(path)
    }

    /// The paths whose values are kept.
    pub(super) fn keeps(&self) -> Keeps {
        self.keeps
    }
}

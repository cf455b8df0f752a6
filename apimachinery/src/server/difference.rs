//! The differences, by name.

/// Something that API servers answer differently from those of the version before.
///
/// Named after the new way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Difference {
    /// `lists.range` fails for a size below zero or above a million.
    RangeIsBounded,
}

impl Difference {
    /// The bit that stands for it in a set.
    pub(super) const fn bit(self) -> u64 {
        1 << self as u32
    }
}

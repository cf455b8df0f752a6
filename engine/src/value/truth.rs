//! Bools with the size of a machine word.

use std::fmt;

use super::{Repr, Value};

/// A bool with the size of a machine word. A `Result` of `Truth` is returned in registers; a `Result` of `bool` is returned in memory. With
/// `Truth`, [`Value`](super::Value) also contains no single bytes, and is copied word by word.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u64)]
pub(crate) enum Truth {
    False,
    True,
}

impl Truth {
    /// Whether the value is `true`.
    #[inline]
    pub(crate) const fn holds(self) -> bool {
        matches!(self, Truth::True)
    }
}

impl From<bool> for Truth {
    #[inline]
    fn from(value: bool) -> Self {
        if value { Truth::True } else { Truth::False }
    }
}

impl fmt::Debug for Truth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.holds().fmt(f)
    }
}

impl Value<'_> {
    /// The bool, if the value is a bool.
    #[inline]
    pub(crate) const fn as_truth(&self) -> Option<Truth> {
        match self.0 {
            Repr::Bool(value) => Some(value),
            _ => None,
        }
    }
}

impl From<Truth> for Value<'_> {
    #[inline]
    fn from(value: Truth) -> Self {
        Value(Repr::Bool(value))
    }
}

//! Decides whether a violation existed before the update (`ratchetingOptions` upstream).

use gavel_schema::correlate::Correlated;

/// A position in an updated object, with the old value at this position.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Ratchet<'f, 'd> {
    /// The old value at this position; `None` if there is no old value.
    here: Option<Correlated<'f, 'd>>,
    /// The old value of the nearest enclosing object or list that has an old value.
    around: Option<Correlated<'f, 'd>>,
}

impl<'f, 'd> Ratchet<'f, 'd> {
    /// Begins at the root of an updated object.
    pub(super) fn new(root: Correlated<'f, 'd>) -> Self {
        Ratchet {
            here: Some(root),
            around: None,
        }
    }

    /// Steps to a field of the object at this position.
    pub(super) fn key(self, key: &str) -> Self {
        let Some(here) = self.here else {
            return self;
        };
        // Both objects were converted to the same type, so changes of `apiVersion` and `kind` cannot be detected.
        if self.around.is_none() && matches!(key, "apiVersion" | "kind") {
            return Ratchet::default();
        }
        Ratchet {
            here: here.key(key),
            around: self.here,
        }
    }

    /// Steps to an element of the list at this position.
    pub(super) fn index(self, index: usize) -> Self {
        let Some(here) = self.here else {
            return self;
        };
        Ratchet {
            here: here.index(index),
            around: self.here,
        }
    }

    /// Whether the value at this position is unchanged. Without an old value, the enclosing object or list must be unchanged.
    pub(super) fn holds(self) -> bool {
        self.here
            .or(self.around)
            .is_some_and(Correlated::is_unchanged)
    }
}

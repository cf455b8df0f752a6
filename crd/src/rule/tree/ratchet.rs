//! Whether a violation existed before the update (`ratchetingOptions` upstream).

use gavel_schema::correlate::Correlated;

/// A place in an updated object, with the old value there.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Ratchet<'f, 'd> {
    /// The old value at this place; `None` if there was none.
    here: Option<Correlated<'f, 'd>>,
    /// The old value of the nearest enclosing place that has one.
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

    /// Steps to an entry of the object at this place.
    pub(super) fn key(self, key: &str) -> Self {
        let Some(here) = self.here else {
            return self;
        };
        // Both objects have been converted to the same type, so nothing is known of a change.
        if self.around.is_none() && matches!(key, "apiVersion" | "kind") {
            return Ratchet::default();
        }
        Ratchet {
            here: here.key(key),
            around: self.here,
        }
    }

    /// Steps to an element of the list at this place.
    pub(super) fn index(self, index: usize) -> Self {
        let Some(here) = self.here else {
            return self;
        };
        Ratchet {
            here: here.index(index),
            around: self.here,
        }
    }

    /// Whether the value at this place has not changed.
    pub(super) fn holds(self) -> bool {
        self.here
            .or(self.around)
            .is_some_and(Correlated::is_unchanged)
    }
}

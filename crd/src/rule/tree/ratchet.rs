//! Whether a violation existed before the update (`ratchetingOptions` upstream).

use gavel_schema::correlate::Correlated;

/// The counterpart of a place before an update.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Ratchet<'f, 'd> {
    /// The place itself, if it existed.
    here: Option<Correlated<'f, 'd>>,
    /// The nearest enclosing place that existed.
    around: Option<Correlated<'f, 'd>>,
}

impl<'f, 'd> Ratchet<'f, 'd> {
    /// For the root of an updated object.
    pub(super) fn new(root: Correlated<'f, 'd>) -> Self {
        Ratchet {
            here: Some(root),
            around: None,
        }
    }

    /// For an entry of the object at this place.
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

    /// For an element of the list at this place.
    pub(super) fn index(self, index: usize) -> Self {
        let Some(here) = self.here else {
            return self;
        };
        Ratchet {
            here: here.index(index),
            around: self.here,
        }
    }

    /// Whether nothing changed at this place.
    pub(super) fn holds(self) -> bool {
        self.here
            .or(self.around)
            .is_some_and(Correlated::is_unchanged)
    }
}

//! How much is told of all that is wrong.

use gavel_apimachinery::field::{BadValue, Error};

/// The most bytes of all errors together. Names and messages may be long, and many errors may repeat them.
const MAX_BYTES: usize = 16 << 20;

/// The bytes of what has been told of a definition or an object.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Told(usize);

impl Told {
    /// Whether this is told too: it is unless too much has been.
    pub(crate) fn admit(&mut self, error: &Error) -> bool {
        if self.is_full() {
            return false;
        }
        let value = match &error.bad_value {
            BadValue::Text(text) => text.len(),
            // Of other values, texts alone are long.
            BadValue::Json(value) => value.as_str().map_or(0, str::len),
            BadValue::Omitted => 0,
        };
        for part in [error.field.len(), error.detail.len(), value] {
            self.0 = self.0.saturating_add(part);
        }
        true
    }

    /// Whether nothing more is told, so that nothing more need be looked at.
    pub(crate) fn is_full(&self) -> bool {
        self.0 >= MAX_BYTES
    }
}

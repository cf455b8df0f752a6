//! The size limit of all errors together.

use gavel_apimachinery::field::{BadValue, Error};

/// The size limit of all errors together, in bytes. Names and messages may be long, and many errors may repeat them.
const MAX_BYTES: usize = 16 << 20;

/// The size of the errors of a definition or an object so far.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct ErrorSize(usize);

impl ErrorSize {
    /// Counts an error. Returns false if the limit is reached; the caller then drops the error.
    pub(crate) fn admit(&mut self, error: &Error) -> bool {
        if self.is_full() {
            return false;
        }
        let value = match &error.bad_value {
            BadValue::Text(text) => text.len(),
            // Only strings can be long; other JSON values in errors are short.
            BadValue::Json(value) => value.as_str().map_or(0, str::len),
            BadValue::Omitted => 0,
        };
        for part in [error.field.len(), error.detail.len(), value] {
            self.0 = self.0.saturating_add(part);
        }
        true
    }

    /// Whether the size limit is reached. Further errors would be dropped.
    pub(crate) fn is_full(&self) -> bool {
        self.0 >= MAX_BYTES
    }
}

//! What is wrong with a definition, as much of it as is told.

use gavel_apimachinery::field::{BadValue, Error};

/// The most bytes of all errors together. Names may be long, and each error below a long name repeats it.
const MAX_BYTES: usize = 16 * 1024 * 1024;

/// Errors, up to a number of bytes; what comes then is not told.
#[derive(Debug, Default)]
pub(super) struct Findings {
    errors: Vec<Error>,
    bytes: usize,
}

impl Findings {
    /// Adds an error.
    pub(super) fn push(&mut self, error: Error) {
        if self.is_full() {
            return;
        }
        let value = match &error.bad_value {
            BadValue::Text(text) => text.len(),
            // Of other values, texts alone are long.
            BadValue::Json(value) => value.as_str().map_or(0, str::len),
            BadValue::Omitted => 0,
        };
        for part in [error.field.len(), error.detail.len(), value] {
            self.bytes = self.bytes.saturating_add(part);
        }
        self.errors.push(error);
    }

    /// Adds errors.
    pub(super) fn extend(&mut self, errors: impl IntoIterator<Item = Error>) {
        errors.into_iter().for_each(|error| self.push(error));
    }

    /// Whether no more is told, so that nothing more need be looked at.
    pub(super) fn is_full(&self) -> bool {
        self.bytes >= MAX_BYTES
    }

    /// The number of errors.
    pub(super) fn len(&self) -> usize {
        self.errors.len()
    }

    /// The errors.
    pub(super) fn into_errors(self) -> Vec<Error> {
        self.errors
    }
}

#[cfg(test)]
mod tests {
    use gavel_apimachinery::field::Path;

    use super::*;

    #[test]
    fn errors_are_told_up_to_their_bound() {
        let name = "n".repeat(1024 * 1024);
        let mut findings = Findings::default();
        for _ in 0..100 {
            findings.push(Error::required(&Path::new(&name), ""));
        }
        assert!(findings.is_full());
        assert_eq!(findings.into_errors().len(), 16);
    }
}

//! The errors of a definition, up to a size limit.

use gavel_apimachinery::field::Error;

use crate::error_size::ErrorSize;

/// Errors, up to a size limit.
#[derive(Debug, Default)]
pub(super) struct Findings {
    errors: Vec<Error>,
    size: ErrorSize,
}

impl Findings {
    /// Adds an error.
    pub(super) fn push(&mut self, error: Error) {
        if self.size.admit(&error) {
            self.errors.push(error);
        }
    }

    /// Adds errors.
    pub(super) fn extend(&mut self, errors: impl IntoIterator<Item = Error>) {
        errors.into_iter().for_each(|error| self.push(error));
    }

    /// Whether the size limit is reached. Further errors would be dropped.
    pub(super) fn is_full(&self) -> bool {
        self.size.is_full()
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
    fn errors_are_limited() {
        let name = "n".repeat(1024 * 1024);
        let mut findings = Findings::default();
        for _ in 0..100 {
            findings.push(Error::required(&Path::new(&name), ""));
        }
        assert!(findings.is_full());
        assert_eq!(findings.into_errors().len(), 16);
    }
}

//! Errors of fields, up to a size limit.

use super::{BadValue, Error};

/// The size limit of all errors of an object together, in bytes. Names and messages may be long, and many errors may repeat them.
pub const MAX_ERROR_BYTES: usize = 16 << 20;

/// The errors of one object, up to 16 MiB in total.
///
/// ```
/// use gavel_apimachinery::field::{Error, Errors, Path};
///
/// let mut errors = Errors::default();
/// errors.push(Error::required(&Path::new("spec"), ""));
/// assert_eq!(errors.into_vec()[0].to_string(), "spec: Required value");
/// ```
#[derive(Debug, Default)]
pub struct Errors {
    errors: Vec<Error>,
    size: ErrorSize,
}

impl Errors {
    /// Adds an error, unless the size limit is reached.
    pub fn push(&mut self, error: Error) {
        if self.size.admit(&error) {
            self.errors.push(error);
        }
    }

    /// Adds the error that `make` returns. Does not call `make` if the size limit is reached.
    pub fn push_with(&mut self, make: impl FnOnce() -> Error) {
        if !self.is_full() {
            self.push(make());
        }
    }

    /// Whether the size limit is reached. Further errors would be dropped.
    pub fn is_full(&self) -> bool {
        self.size.is_full()
    }

    /// Whether there are no errors.
    pub fn is_empty(&self) -> bool {
        self.errors.is_empty()
    }

    /// The number of errors.
    pub fn len(&self) -> usize {
        self.errors.len()
    }

    /// The errors.
    pub fn into_vec(self) -> Vec<Error> {
        self.errors
    }
}

impl Extend<Error> for Errors {
    fn extend<I: IntoIterator<Item = Error>>(&mut self, errors: I) {
        let mut errors = errors.into_iter();
        while !self.is_full()
            && let Some(error) = errors.next()
        {
            self.push(error);
        }
    }
}

impl FromIterator<Error> for Errors {
    fn from_iter<I: IntoIterator<Item = Error>>(errors: I) -> Self {
        let mut all = Errors::default();
        all.extend(errors);
        all
    }
}

/// The size of the errors of one object so far.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ErrorSize(usize);

impl ErrorSize {
    /// Counts an error. Returns false if the limit is reached; the caller then drops the error.
    pub fn admit(&mut self, error: &Error) -> bool {
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
    pub fn is_full(&self) -> bool {
        self.0 >= MAX_ERROR_BYTES
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::Path;

    #[test]
    fn errors_are_limited() {
        let name = "n".repeat(1024 * 1024);
        let mut errors = Errors::default();
        for _ in 0..100 {
            errors.push(Error::required(&Path::new(&name), ""));
        }
        assert!(errors.is_full());
        assert_eq!(errors.into_vec().len(), 16);
    }
}

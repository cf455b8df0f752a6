//! Patterns that are compiled when they are first needed.

use std::sync::OnceLock;

use gavel_golang::regex::{Regex, RegexError};
use gavel_golang::work::{Interrupted, Work};

/// A Go regular expression, which may be invalid.
#[derive(Debug)]
pub(super) struct Pattern {
    pub(super) text: String,
    regex: OnceLock<Result<Regex, RegexError>>,
}

impl Pattern {
    pub(super) fn new(text: &str) -> Self {
        Pattern {
            text: text.to_owned(),
            regex: OnceLock::new(),
        }
    }

    fn regex(&self) -> &Result<Regex, RegexError> {
        self.regex.get_or_init(|| Regex::new(&self.text))
    }

    pub(super) fn is_match(&self, text: &str, work: &Work<'_>) -> Result<bool, Interrupted> {
        match self.regex() {
            Ok(regex) => regex.matches_within(text, work),
            Err(_) => Ok(false),
        }
    }

    /// The error if the pattern is invalid.
    pub(super) fn error(&self) -> Option<&RegexError> {
        self.regex().as_ref().err()
    }
}

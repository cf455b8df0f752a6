//! Problems of tests.

use gavel_manifest::problem::rule;

/// A problem of a test.
#[derive(Debug)]
pub(super) struct Fault {
    /// The rule, as in [`Problem::rule`](gavel_manifest::Problem::rule).
    pub(super) rule: &'static str,
    /// The path of the field within the test; empty for the test as a whole.
    pub(super) field: String,
    /// The message.
    pub(super) message: String,
}

impl From<String> for Fault {
    /// A problem of the test as a whole.
    fn from(message: String) -> Self {
        Fault {
            rule: rule::OBJECT,
            field: String::new(),
            message,
        }
    }
}

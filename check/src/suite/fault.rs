//! Problems of tests.

use gavel_manifest::Severity;

/// A problem of a test.
#[derive(Debug)]
pub(super) struct Fault {
    /// The rule, as in [`Problem::rule`](gavel_manifest::Problem::rule).
    pub(super) rule: &'static str,
    /// The severity.
    pub(super) severity: Severity,
    /// The path of the field within the test.
    pub(super) field: String,
    /// The message.
    pub(super) message: String,
}

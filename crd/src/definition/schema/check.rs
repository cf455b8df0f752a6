//! How schemas are checked.

use crate::definition::options::Options;
use crate::rule::RuleEnvs;

/// The most selectable fields of a version.
pub(in crate::definition) const MAX_SELECTABLE_FIELDS: usize = 8;

/// How a schema is checked.
#[derive(Debug, Clone, Copy)]
pub(in crate::definition) struct SchemaCheck<'c> {
    /// What an update may keep.
    pub(in crate::definition) options: &'c Options<'c>,
    /// The environments of rules.
    pub(in crate::definition) envs: &'c RuleEnvs,
    /// Whether the schema must be structural.
    pub(in crate::definition) require_structural: bool,
    /// Whether the status has an endpoint of its own.
    pub(in crate::definition) has_status: bool,
    /// Whether the schema is the same as before: then a rule may cost more than its limit.
    pub(in crate::definition) is_unchanged: bool,
}

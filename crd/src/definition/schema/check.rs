//! The settings with which schemas are validated.

use std::cell::RefCell;
use std::collections::HashMap;

use gavel_apimachinery::field::Path;

use crate::definition::options::Options;
use crate::rule::{CompiledRule, RuleEnvs, RuleTrees};

/// The limit of selectable fields per version.
pub(in crate::definition) const MAX_SELECTABLE_FIELDS: usize = 8;

/// The settings with which a schema is validated.
#[derive(Debug, Clone, Copy)]
pub(in crate::definition) struct SchemaCheck<'c> {
    /// The requirements.
    pub(in crate::definition) options: &'c Options<'c>,
    /// The environments of rules.
    pub(in crate::definition) envs: &'c RuleEnvs,
    /// Whether the schema must be structural.
    pub(in crate::definition) require_structural: bool,
    /// Whether there is a subresource `status`.
    pub(in crate::definition) has_status: bool,
    /// Whether the schema is unchanged; its rules are then allowed to exceed their cost limits.
    pub(in crate::definition) is_unchanged: bool,
    /// Where compiled rules are stored; `None` discards them.
    pub(in crate::definition) kept: Option<&'c KeptRules>,
}

/// The compiled rules of a definition, keyed by the path of the `x-kubernetes-validations` that contains them.
#[derive(Debug, Default)]
pub(in crate::definition) struct KeptRules(
    RefCell<HashMap<String, Vec<(CompiledRule, RuleTrees)>>>,
);

impl KeptRules {
    pub(super) fn keep(&self, path: &Path<'_>, rules: Vec<(CompiledRule, RuleTrees)>) {
        self.0.borrow_mut().insert(path.to_string(), rules);
    }

    pub(in crate::definition) fn take(
        &self,
        path: &Path<'_>,
    ) -> Option<Vec<(CompiledRule, RuleTrees)>> {
        self.0.borrow_mut().remove(&path.to_string())
    }
}

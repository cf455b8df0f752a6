//! What is required of a definition; an update may keep what a new definition may not have.

use std::collections::HashSet;

/// What is required of a definition.
#[derive(Debug, Default)]
pub(super) struct Options<'o> {
    /// Whether a conversion webhook must understand a version of reviews that the API server does.
    pub(super) require_known_review: bool,
    /// Whether the scope and the kind must stay.
    pub(super) immutable_names: bool,
    /// Whether each version must have a schema.
    pub(super) require_schema: bool,
    /// Whether types must be those of OpenAPI.
    pub(super) require_known_types: bool,
    /// Whether schemas must be structural.
    pub(super) require_structural: bool,
    /// Whether defaults must not have unknown fields.
    pub(super) require_pruned_defaults: bool,
    /// Whether the items of sets must be values.
    pub(super) require_atomic_sets: bool,
    /// Whether entries of sets and maps must not be null, nor their keys be absent.
    pub(super) require_sound_keys: bool,
    /// The rules that were there before.
    pub(super) known_rules: HashSet<&'o str>,
    /// The message expressions that were there before.
    pub(super) known_messages: HashSet<&'o str>,
    /// The versions whose schema is the same as before.
    pub(super) unchanged: HashSet<&'o str>,
    /// The versions that may have too many selectable fields.
    pub(super) excessive_selections: HashSet<&'o str>,
    /// Whether all versions together may.
    pub(super) excessive_shared_selection: bool,
}

impl<'o> Options<'o> {
    /// For a new definition.
    pub(super) fn create() -> Self {
        Options {
            require_known_review: true,
            immutable_names: false,
            require_schema: true,
            require_known_types: true,
            require_structural: true,
            require_pruned_defaults: true,
            require_atomic_sets: true,
            require_sound_keys: true,
            ..Options::default()
        }
    }

    /// Whether a rule was there before.
    pub(super) fn knows_rule(&self, rule: &str) -> bool {
        self.known_rules.contains(rule)
    }

    /// Whether a message expression was there before.
    pub(super) fn knows_message(&self, expression: &str) -> bool {
        self.known_messages.contains(expression)
    }

    /// Whether a version's schema is the same as before.
    pub(super) fn is_unchanged(&self, version: &str) -> bool {
        self.unchanged.contains(version)
    }

    /// Whether a version may have too many selectable fields; without a version, all together.
    pub(super) fn may_select_more(&self, version: Option<&str>) -> bool {
        match version {
            Some(version) => self.excessive_selections.contains(version),
            None => self.excessive_shared_selection,
        }
    }
}

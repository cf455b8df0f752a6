//! The requirements for a definition. An update is allowed to keep some properties that a new definition cannot have.

use std::collections::HashSet;

/// The requirements for a definition.
#[derive(Debug, Default)]
pub(super) struct Options<'o> {
    /// Whether a conversion webhook must support a review version that the API server supports.
    pub(super) require_known_review: bool,
    /// Whether the scope and the kind must not change.
    pub(super) immutable_names: bool,
    /// Whether each version must have a schema.
    pub(super) require_schema: bool,
    /// Whether each `type` must be an OpenAPI type.
    pub(super) require_known_types: bool,
    /// Whether schemas must be structural.
    pub(super) require_structural: bool,
    /// Whether defaults must not have unknown fields.
    pub(super) require_pruned_defaults: bool,
    /// Whether the items of sets must be atomic.
    pub(super) require_atomic_sets: bool,
    /// Whether null entries of sets and list maps, and missing or null keys of list maps, are errors.
    pub(super) require_sound_keys: bool,
    /// The rules of the old definition.
    pub(super) known_rules: HashSet<&'o str>,
    /// The message expressions of the old definition.
    pub(super) known_messages: HashSet<&'o str>,
    /// The versions whose schema is the same as in the old definition.
    pub(super) unchanged: HashSet<&'o str>,
    /// The versions that are allowed to exceed the limit of selectable fields, because the old definition has the same fields.
    pub(super) excessive_selections: HashSet<&'o str>,
    /// Whether the selectable fields that all versions share are allowed to exceed the limit, because the old definition has the same
    /// fields.
    pub(super) excessive_shared_selection: bool,
}

impl<'o> Options<'o> {
    /// The requirements for a new definition.
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

    /// Whether the schema of a version did not change.
    pub(super) fn is_unchanged(&self, version: &str) -> bool {
        self.unchanged.contains(version)
    }

    /// Whether a version is allowed to exceed the limit of selectable fields. `None` stands for the fields that all versions share.
    pub(super) fn may_select_more(&self, version: Option<&str>) -> bool {
        match version {
            Some(version) => self.excessive_selections.contains(version),
            None => self.excessive_shared_selection,
        }
    }
}

//! The kinds of objects: by what they are merged, and which defaults they have (apiserver
//! `pkg/admission/plugin/policy/mutating/patch/typeconverter.go`).

use std::collections::BTreeMap;
use std::sync::Arc;

use gavel_engine::value::Json;
use gavel_golang::quote::quote;
use gavel_schema::merge::{self, Kubernetes, MergeType};
use gavel_schema::{JsonSchema, default};

use crate::resource::GroupVersionKind;

/// The schemas of custom resources, by kind. Built-in kinds are known beside them. Cloning is cheap.
#[derive(Debug, Clone, Default)]
pub struct ObjectSchemas {
    custom: Arc<BTreeMap<GroupVersionKind, Arc<JsonSchema>>>,
    is_strict: bool,
}

impl ObjectSchemas {
    /// Takes in the schema of a kind, in place of what was known of it.
    pub fn insert(&mut self, kind: GroupVersionKind, schema: Arc<JsonSchema>) {
        Arc::make_mut(&mut self.custom).insert(kind, schema);
    }

    /// Objects of built-in kinds are of Go types, as in an API server: fields that these do not have fail a JSON patch.
    #[must_use]
    pub fn strict(mut self) -> Self {
        self.is_strict = true;
        self
    }

    /// Why an object cannot be decoded again after a JSON patch.
    pub(crate) fn strict_error(&self, object: &Json) -> Option<String> {
        let kind = kind_of(object);
        if !self.is_strict || self.custom.contains_key(&kind) {
            return None;
        }
        let unknown = merge::unknown_fields(object, self.merge_type(&kind)?);
        if unknown.is_empty() {
            return None;
        }
        let fields = unknown
            .iter()
            .map(|path| format!("unknown field {}", quote(path)));
        let fields: Vec<String> = fields.collect();
        Some(format!("strict decoding error: {}", fields.join(", ")))
    }

    /// Whether anything is known of the group and version of a kind.
    pub(crate) fn knows_version_of(&self, kind: &GroupVersionKind) -> bool {
        let mut custom = self.custom.keys();
        custom.any(|known| known.group == kind.group && known.version == kind.version)
            || Kubernetes::get().knows(&kind.api_version())
    }

    /// By what objects of a kind are merged.
    pub(crate) fn merge_type(&self, kind: &GroupVersionKind) -> Option<MergeType<'_>> {
        match self.custom.get(kind) {
            Some(schema) => Some(MergeType::custom_resource(schema)),
            None => MergeType::built_in(&kind.api_version(), &kind.kind),
        }
    }

    /// Fills in the defaults of a custom resource.
    pub fn fill_defaults(&self, object: &mut Json) {
        if let Some(schema) = self.custom.get(&kind_of(object)) {
            default::fill(object, schema);
        }
    }
}

/// The kind that an object names.
pub(crate) fn kind_of(object: &Json) -> GroupVersionKind {
    let text = |key: &str| object.get(key).and_then(Json::as_str).unwrap_or_default();
    GroupVersionKind::new(text("apiVersion"), text("kind"))
}

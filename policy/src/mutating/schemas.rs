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
    is_typed: bool,
}

impl ObjectSchemas {
    /// Takes in the schema of a kind, in place of what was known of it.
    pub fn insert(&mut self, kind: GroupVersionKind, schema: Arc<JsonSchema>) {
        Arc::make_mut(&mut self.custom).insert(kind, schema);
    }

    /// Objects of built-in kinds are of Go types, as in an API server: what these do not have fails a mutation. Fields of a
    /// request that are not known come from a newer API server and stay as they are.
    #[must_use]
    pub fn typed(mut self) -> Self {
        self.is_typed = true;
        self
    }

    /// Whether objects of a kind are of a Go type.
    pub(crate) fn is_typed(&self, kind: &GroupVersionKind) -> bool {
        self.is_typed && !self.custom.contains_key(kind)
    }

    /// Why an object cannot be decoded again after a JSON patch; `before` makes the object as it was.
    pub(crate) fn decoding_error(
        &self,
        object: &Json,
        before: impl FnOnce() -> Json,
    ) -> Option<String> {
        let kind = kind_of(object);
        if !self.is_typed(&kind) {
            return None;
        }
        if let Some(error) = merge::decoding_error(object, &kind.api_version(), &kind.kind) {
            return Some(error);
        }
        let mut unknown = merge::unknown_fields(object, self.merge_type(&kind)?);
        if unknown.is_empty() {
            return None;
        }
        let known = merge::unknown_fields(&before(), self.merge_type(&kind)?);
        unknown.retain(|path| !known.contains(path));
        let fields = unknown
            .iter()
            .map(|path| format!("unknown field {}", quote(path)));
        let fields: Vec<String> = fields.collect();
        (!fields.is_empty()).then(|| format!("strict decoding error: {}", fields.join(", ")))
    }

    /// Converts an object after it was merged to the type of its kind.
    pub(crate) fn convert(&self, object: &mut Json) -> Result<(), String> {
        let kind = kind_of(object);
        if !self.is_typed(&kind) {
            return Ok(());
        }
        merge::convert(object, &kind.api_version(), &kind.kind)
            .map_err(|error| format!("unable to convert unstructured object to {kind}: {error}"))
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

//! `request` as expressions see it (apiserver `pkg/admission/plugin/cel/condition.go`, `CreateAdmissionRequest`).

use gavel_engine::error::EvalError;
use gavel_engine::value::{Arena, MapView, Value};

use super::AdmissionRequest;
use crate::resource::{GroupVersionKind, GroupVersionResource};

impl AdmissionRequest {
    /// `request`, with the kind and resource as which a policy looks at it. What is empty is not there.
    pub(crate) fn value<'a>(
        &'a self,
        kind: &'a GroupVersionKind,
        resource: &'a GroupVersionResource,
        arena: &'a Arena,
    ) -> Value<'a> {
        let mut fields = Vec::with_capacity(12);
        fields.push(("dryRun", Value::Bool(self.dry_run)));
        fields.push(("kind", kind_value(kind, arena)));
        push_text(&mut fields, "name", &self.name);
        push_text(&mut fields, "namespace", &self.namespace);
        fields.push(("operation", Value::String(&self.operation)));
        fields.push(("options", Value::from(&self.options)));
        fields.push(("requestKind", kind_value(&self.kind, arena)));
        fields.push(("requestResource", resource_value(&self.resource, arena)));
        push_text(&mut fields, "requestSubResource", &self.subresource);
        fields.push(("resource", resource_value(resource, arena)));
        push_text(&mut fields, "subResource", &self.subresource);
        fields.push(("userInfo", self.user_value(arena)));
        view(&fields, arena)
    }

    fn user_value<'a>(&'a self, arena: &'a Arena) -> Value<'a> {
        let user = &*self.user;
        let mut fields = Vec::with_capacity(4);
        if !user.extra.is_empty() {
            let extra = user.extra.iter();
            let extra: Vec<_> = extra
                .map(|(key, values)| (key.as_str(), texts(values, arena)))
                .collect();
            fields.push(("extra", view(&extra, arena)));
        }
        if !user.groups.is_empty() {
            fields.push(("groups", texts(&user.groups, arena)));
        }
        push_text(&mut fields, "uid", &user.uid);
        push_text(&mut fields, "username", &user.name);
        view(&fields, arena)
    }
}

fn push_text<'a>(fields: &mut Vec<(&'static str, Value<'a>)>, name: &'static str, text: &'a str) {
    if !text.is_empty() {
        fields.push((name, Value::String(text)));
    }
}

fn kind_value<'a>(kind: &'a GroupVersionKind, arena: &'a Arena) -> Value<'a> {
    let fields = [
        ("group", Value::String(&kind.group)),
        ("kind", Value::String(&kind.kind)),
        ("version", Value::String(&kind.version)),
    ];
    view(&fields, arena)
}

fn resource_value<'a>(resource: &'a GroupVersionResource, arena: &'a Arena) -> Value<'a> {
    let fields = [
        ("group", Value::String(&resource.group)),
        ("resource", Value::String(&resource.resource)),
        ("version", Value::String(&resource.version)),
    ];
    view(&fields, arena)
}

fn texts<'a>(texts: &'a [String], arena: &'a Arena) -> Value<'a> {
    let texts = texts.iter().map(|text| Value::String(text));
    Value::List(arena.bump().alloc_slice_fill_iter(texts))
}

/// An object of these fields, which are ordered by name.
fn view<'a>(fields: &[(&'a str, Value<'a>)], arena: &'a Arena) -> Value<'a> {
    let fields = arena.bump().alloc_slice_copy(fields);
    Value::MapView(arena.bump().alloc(Fields(fields)))
}

/// An object that was never JSON, but looks the same.
#[derive(Debug)]
struct Fields<'a>(&'a [(&'a str, Value<'a>)]);

impl MapView for Fields<'_> {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn get(&self, key: &Value<'_>) -> Result<Option<Value<'_>>, EvalError> {
        let Value::String(key) = key else {
            return Ok(None);
        };
        let found = self.0.iter().find(|(name, _)| name == key);
        Ok(found.map(|(_, value)| *value))
    }

    fn key(&self, position: usize) -> Option<Value<'_>> {
        self.0.get(position).map(|(name, _)| Value::String(name))
    }
}

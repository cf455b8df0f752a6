//! The CEL value of `request` (apiserver `pkg/admission/plugin/cel/condition.go`, `CreateAdmissionRequest`).

use gavel_engine::value::{Arena, Value};

use super::AdmissionRequest;
use crate::resource::{GroupVersionKind, GroupVersionResource};

impl AdmissionRequest<'_> {
    /// The CEL value of `request`. `kind` and `resource` are those with which a policy matches the request. Empty fields are omitted, except
    /// `uid`, `object` and `oldObject`. These three are always empty, and only expressions that read `dyn(request)` can see them.
    pub(crate) fn value<'a>(
        &'a self,
        kind: &'a GroupVersionKind,
        resource: &'a GroupVersionResource,
        arena: &'a Arena,
    ) -> Value<'a> {
        let mut fields = Vec::with_capacity(15);
        fields.push(("dryRun", Value::from(self.dry_run)));
        fields.push(("kind", kind_value(kind, arena)));
        push_text(&mut fields, "name", self.name);
        push_text(&mut fields, "namespace", self.namespace);
        fields.push(("object", Value::NULL));
        fields.push(("oldObject", Value::NULL));
        fields.push(("operation", Value::from(self.operation)));
        fields.push(("options", self.options));
        fields.push(("requestKind", kind_value(&self.kind, arena)));
        fields.push(("requestResource", resource_value(&self.resource, arena)));
        push_text(&mut fields, "requestSubResource", self.subresource);
        fields.push(("resource", resource_value(resource, arena)));
        push_text(&mut fields, "subResource", self.subresource);
        fields.push(("uid", Value::from("")));
        fields.push(("userInfo", self.user_value(arena)));
        arena.object(fields)
    }

    fn user_value<'a>(&'a self, arena: &'a Arena) -> Value<'a> {
        let user = &*self.user;
        let mut fields = Vec::with_capacity(4);
        if !user.extra.is_empty() {
            let extra = user.extra.iter();
            let extra = extra.map(|(key, values)| {
                let values = values.as_deref();
                let values = values.map_or(Value::NULL, |values| texts(values, arena));
                (key.as_str(), values)
            });
            fields.push(("extra", arena.object(extra)));
        }
        if !user.groups.is_empty() {
            fields.push(("groups", texts(&user.groups, arena)));
        }
        push_text(&mut fields, "uid", &user.uid);
        push_text(&mut fields, "username", &user.name);
        arena.object(fields)
    }
}

fn push_text<'a>(fields: &mut Vec<(&'static str, Value<'a>)>, name: &'static str, text: &'a str) {
    if !text.is_empty() {
        fields.push((name, Value::from(text)));
    }
}

fn kind_value<'a>(kind: &'a GroupVersionKind, arena: &'a Arena) -> Value<'a> {
    let fields = [
        ("group", Value::from(&kind.group)),
        ("kind", Value::from(&kind.kind)),
        ("version", Value::from(&kind.version)),
    ];
    arena.object(fields)
}

fn resource_value<'a>(resource: &'a GroupVersionResource, arena: &'a Arena) -> Value<'a> {
    let fields = [
        ("group", Value::from(&resource.group)),
        ("resource", Value::from(&resource.resource)),
        ("version", Value::from(&resource.version)),
    ];
    arena.object(fields)
}

fn texts<'a>(texts: &'a [String], arena: &'a Arena) -> Value<'a> {
    arena.array(texts.iter().map(Value::from))
}

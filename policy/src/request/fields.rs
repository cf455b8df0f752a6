//! The fields of a request as they come in JSON.

use std::borrow::Cow;
use std::fmt;

use gavel_engine::value::Json;
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::Map;

/// The fields of an AdmissionRequest, not looked through yet; null where there is none. What no request has is passed over.
#[derive(Debug, Default)]
pub struct RequestFields {
    pub(super) uid: Json,
    pub(super) kind: Json,
    pub(super) resource: Json,
    pub(super) subresource: Json,
    pub(super) request_kind: Json,
    pub(super) request_resource: Json,
    pub(super) name: Json,
    pub(super) namespace: Json,
    pub(super) operation: Json,
    pub(super) user_info: Json,
    pub(super) object: Json,
    pub(super) old_object: Json,
    pub(super) dry_run: Json,
    pub(super) options: Json,
}

impl RequestFields {
    fn field(&mut self, name: &str) -> Option<&mut Json> {
        Some(match name {
            "uid" => &mut self.uid,
            "kind" => &mut self.kind,
            "resource" => &mut self.resource,
            "subResource" => &mut self.subresource,
            "requestKind" => &mut self.request_kind,
            "requestResource" => &mut self.request_resource,
            "name" => &mut self.name,
            "namespace" => &mut self.namespace,
            "operation" => &mut self.operation,
            "userInfo" => &mut self.user_info,
            "object" => &mut self.object,
            "oldObject" => &mut self.old_object,
            "dryRun" => &mut self.dry_run,
            "options" => &mut self.options,
            _ => return None,
        })
    }
}

impl From<Map<String, Json>> for RequestFields {
    fn from(map: Map<String, Json>) -> Self {
        let mut fields = RequestFields::default();
        for (name, value) in map {
            if let Some(field) = fields.field(&name) {
                *field = value;
            }
        }
        fields
    }
}

impl<'de> Deserialize<'de> for RequestFields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(FieldsVisitor)
    }
}

struct FieldsVisitor;

impl<'de> Visitor<'de> for FieldsVisitor {
    type Value = RequestFields;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the object of a request")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RequestFields, A::Error> {
        /// A name that is not copied, unless it has escapes.
        #[derive(Deserialize)]
        struct Name<'n>(#[serde(borrow)] Cow<'n, str>);

        let mut fields = RequestFields::default();
        while let Some(Name(name)) = map.next_key()? {
            match fields.field(&name) {
                Some(field) => *field = map.next_value()?,
                None => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(fields)
    }
}

//! The request of an AdmissionReview (apiserver `pkg/admission/attributes.go`).

mod metadata;
mod options;
mod value;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use gavel_engine::value::{Arena, Map, Value, ValueKind};
use gavel_libraries::authorizer::UserInfo;

use crate::api::OWN_GROUP;
use crate::fields::fields_named;
use crate::resource::{GroupVersionKind, GroupVersionResource, is_exempt};

pub(crate) use metadata::{CheckedLabels, RequestLabels, object_name, text_of};

/// The request of an AdmissionReview. It is parsed once, and all policies share it.
#[derive(Debug, Clone)]
pub struct AdmissionRequest<'a> {
    /// `uid`, which the response repeats.
    pub uid: &'a str,
    /// The kind of the object that was sent: `requestKind`, or `kind` if `requestKind` is absent.
    pub kind: GroupVersionKind,
    /// The resource that the request was sent to: `requestResource`, or `resource` if `requestResource` is absent.
    pub resource: GroupVersionResource,
    /// `subResource`; empty if absent.
    pub subresource: &'a str,
    /// `name`; empty if the API server will generate the name, or if several objects are deleted together.
    pub name: &'a str,
    /// `namespace`; empty for cluster-scoped objects.
    pub namespace: &'a str,
    /// `operation`: `CREATE`, `UPDATE`, `DELETE` or `CONNECT`.
    pub operation: &'a str,
    /// `userInfo`: the user who sent the request.
    pub user: Arc<UserInfo>,
    /// `object`; null if absent.
    pub object: Value<'a>,
    /// `oldObject`; null if absent.
    pub old_object: Value<'a>,
    /// `dryRun`
    pub dry_run: bool,
    /// `options`: only the fields that an API server decodes.
    pub options: Value<'a>,
}

/// Why a request cannot be decoded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestError {
    /// The invalid field, such as `request.object`.
    pub field: String,
    /// The message.
    pub message: String,
}

impl fmt::Display for RequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.message)
    }
}

impl std::error::Error for RequestError {}

impl<'a> AdmissionRequest<'a> {
    /// Reads the `request` of an AdmissionReview from a CEL value, which can be a borrowed JSON document or JSON parsed into an arena. The
    /// objects are borrowed; the options are copied to the arena.
    ///
    /// # Errors
    ///
    /// The request lacks a field that every API server sets (`operation`, `kind`, `resource`, and `object` of a `CREATE` or `UPDATE`), or a
    /// field has a value that it cannot have in an AdmissionRequest.
    pub fn read(request: Value<'a>, arena: &'a Arena) -> Result<Self, RequestError> {
        if request.as_map().is_none() {
            return Err(unfit("request", "an object"));
        }
        let names = [
            "uid",
            "kind",
            "resource",
            "requestKind",
            "requestResource",
            "subResource",
            "name",
            "namespace",
            "operation",
            "userInfo",
            "object",
            "oldObject",
            "dryRun",
            "options",
        ];
        let [
            uid,
            kind,
            resource,
            sent_kind,
            sent_resource,
            subresource,
            name,
            namespace,
            operation,
            user_info,
            new_object,
            old_object,
            dry_run,
            options,
        ] = fields_named(request, names);
        if kind.as_str() == Some("AdmissionReview") {
            return Err(RequestError {
                field: "request".to_owned(),
                message: "must be the field `request` of an AdmissionReview, not the whole review"
                    .to_owned(),
            });
        }
        let names = ["group", "version", "kind"];
        let sent_kind = texts_of(sent_kind, "requestKind", names)?;
        let kind = texts_of(kind, "kind", names)?;
        let names = ["group", "version", "resource"];
        let sent_resource = texts_of(sent_resource, "requestResource", names)?;
        let resource = texts_of(resource, "resource", names)?;
        let kind = kind.ok_or_else(|| unfit("request.kind", "set"))?;
        let [group, version, of_kind] = sent_kind.unwrap_or(kind);
        let kind = GroupVersionKind {
            group: group.into(),
            version: version.into(),
            kind: of_kind.into(),
        };
        let resource = resource.ok_or_else(|| unfit("request.resource", "set"))?;
        let [group, version, resource] = sent_resource.unwrap_or(resource);
        let resource = GroupVersionResource {
            group: group.into(),
            version: version.into(),
            resource: resource.into(),
        };
        let operation = match text(operation, "request.operation")? {
            upper if upper.bytes().all(|byte| byte.is_ascii_uppercase()) => upper,
            other => arena.bump().alloc_str(&other.to_uppercase()),
        };
        match operation {
            "CREATE" | "UPDATE" if new_object.is_null() => {
                return Err(unfit("request.object", "set"));
            }
            "CREATE" | "UPDATE" | "DELETE" | "CONNECT" => {}
            "" => return Err(unfit("request.operation", "set")),
            _ => {
                let known = "CREATE, UPDATE, DELETE or CONNECT";
                return Err(unfit("request.operation", known));
            }
        }
        Ok(AdmissionRequest {
            uid: text(uid, "request.uid")?,
            kind,
            resource,
            subresource: text(subresource, "request.subResource")?,
            name: text(name, "request.name")?,
            namespace: text(namespace, "request.namespace")?,
            options: options::as_go_writes(options, operation, arena)?,
            operation,
            user: Arc::new(user(user_info)?),
            object: object(new_object, "request.object")?,
            old_object: object(old_object, "request.oldObject")?,
            dry_run: match dry_run.kind() {
                ValueKind::Null => false,
                ValueKind::Bool(dry_run) => dry_run,
                _ => return Err(unfit("request.dryRun", "true or false")),
            },
        })
    }

    /// Whether the objects of the request have metadata. The objects of `exec`, `attach`, `portforward` and `proxy` requests are options,
    /// which have no metadata.
    pub(crate) fn has_metadata(&self) -> bool {
        self.operation != "CONNECT" || !self.kind.kind.ends_with("Options")
    }

    /// Whether the request is about a policy or a binding of Gavel's own kinds. A webhook evaluates no policies for such requests, as API
    /// servers evaluate none for the built-in kinds: otherwise, a policy could prevent its own correction.
    pub fn is_of_own_kind(&self) -> bool {
        self.resource.group == OWN_GROUP
    }

    /// Whether API servers evaluate no policies for this resource ([`is_exempt`]).
    pub fn is_exempt(&self) -> bool {
        is_exempt(&self.resource.group, &self.resource.resource)
    }
}

fn unfit(field: &str, expected: &str) -> RequestError {
    RequestError {
        field: field.to_owned(),
        message: format!("must be {expected}"),
    }
}

fn text<'a>(value: Value<'a>, field: &str) -> Result<&'a str, RequestError> {
    match value.kind() {
        ValueKind::Null => Ok(""),
        ValueKind::String(text) => Ok(text),
        _ => Err(unfit(field, "a string")),
    }
}

/// The string `fields` of an object in the request: the group, which may be absent, and two fields that must be set. `None` if the object is
/// null.
fn texts_of<'a>(
    value: Value<'a>,
    name: &str,
    fields: [&str; 3],
) -> Result<Option<[&'a str; 3]>, RequestError> {
    if value.is_null() {
        return Ok(None);
    }
    if value.as_map().is_none() {
        return Err(unfit(&format!("request.{name}"), "an object"));
    }
    let mut texts = [""; 3];
    let found = fields_named(value, fields).into_iter().zip(fields);
    for (to, (value, field)) in texts.iter_mut().zip(found) {
        let path = || format!("request.{name}.{field}");
        *to = match value.kind() {
            ValueKind::Null => "",
            ValueKind::String(text) => text,
            _ => return Err(unfit(&path(), "a string")),
        };
        if to.is_empty() && field != "group" {
            return Err(unfit(&path(), "set"));
        }
    }
    Ok(Some(texts))
}

fn object<'a>(value: Value<'a>, field: &str) -> Result<Value<'a>, RequestError> {
    match value.is_null() || value.as_map().is_some() {
        true => Ok(value),
        false => Err(unfit(field, "an object")),
    }
}

fn user(user: Value<'_>) -> Result<UserInfo, RequestError> {
    let user = object(user, "request.userInfo")?;
    let [extra, name, uid, groups] = fields_named(user, ["extra", "username", "uid", "groups"]);
    let entries = object(extra, "request.userInfo.extra")?.as_map();
    let mut extra = BTreeMap::new();
    for (key, values) in entries.iter().flat_map(Map::iter).flatten() {
        let key = text(key, "request.userInfo.extra")?;
        let values = match values.is_null() {
            true => None,
            false => Some(texts(values, "request.userInfo.extra")?),
        };
        extra.insert(key.to_owned(), values);
    }
    Ok(UserInfo {
        name: text(name, "request.userInfo.username")?.to_owned(),
        uid: text(uid, "request.userInfo.uid")?.to_owned(),
        groups: texts(groups, "request.userInfo.groups")?,
        extra,
    })
}

fn texts(value: Value<'_>, field: &str) -> Result<Vec<String>, RequestError> {
    let unfit = || unfit(field, "a list of strings");
    if value.is_null() {
        return Ok(Vec::new());
    }
    let items = value.as_list().ok_or_else(unfit)?;
    let text = |item| text(item, field).map_err(|_| unfit());
    items
        .iter()
        .map(|item| text(item).map(str::to_owned))
        .collect()
}

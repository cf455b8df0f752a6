//! The request of an AdmissionReview (apiserver `pkg/admission/attributes.go`).

mod metadata;
mod options;
mod value;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use gavel_engine::value::{Arena, Map, Value, ValueKind};
use gavel_libraries::authorizer::UserInfo;

use crate::fields::field;
use crate::resource::{GroupVersionKind, GroupVersionResource};

pub(crate) use metadata::{label, object_name, text_of};

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
    /// A field does not have the type that it has in an AdmissionRequest.
    pub fn read(request: Value<'a>, arena: &'a Arena) -> Result<Self, RequestError> {
        if request.as_map().is_none() {
            return Err(unfit("request", "an object"));
        }
        let get = |name: &str| field(request, name).unwrap_or(Value::NULL);
        let first = |names: [&'static str; 2], fields: [&str; 3]| {
            let mut found = Value::NULL;
            for name in names {
                let value = get(name);
                texts_of(value, name, fields)?;
                if found.as_map().is_none() {
                    found = value;
                }
            }
            Ok(found)
        };
        let kind = first(["requestKind", "kind"], ["group", "version", "kind"])?;
        let resource = first(
            ["requestResource", "resource"],
            ["group", "version", "resource"],
        )?;
        let operation = match text(get("operation"), "request.operation")? {
            upper if upper.bytes().all(|byte| byte.is_ascii_uppercase()) => upper,
            other => arena.bump().alloc_str(&other.to_uppercase()),
        };
        Ok(AdmissionRequest {
            uid: text(get("uid"), "request.uid")?,
            kind: GroupVersionKind::read(kind),
            resource: GroupVersionResource::read(resource),
            subresource: text(get("subResource"), "request.subResource")?,
            name: text(get("name"), "request.name")?,
            namespace: text(get("namespace"), "request.namespace")?,
            options: options::as_go_writes(get("options"), operation, arena)?,
            operation,
            user: Arc::new(user(get("userInfo"))?),
            object: object(get("object"), "request.object")?,
            old_object: object(get("oldObject"), "request.oldObject")?,
            dry_run: match get("dryRun").kind() {
                ValueKind::Null => false,
                ValueKind::Bool(dry_run) => dry_run,
                _ => return Err(unfit("request.dryRun", "true or false")),
            },
        })
    }

    /// Whether the objects of the request have metadata. The options of `exec`, `attach`, `portforward` and `proxy` do not.
    pub(crate) fn has_metadata(&self) -> bool {
        self.operation != "CONNECT" || !self.kind.kind.ends_with("Options")
    }

    /// Whether API servers evaluate no policies for this resource. Exempt are the reviews of users and permissions, admission policies, and
    /// their bindings.
    pub fn is_exempt(&self) -> bool {
        let GroupVersionResource {
            group, resource, ..
        } = &self.resource;
        matches!(
            (group.as_str(), resource.as_str()),
            (
                "authentication.k8s.io",
                "selfsubjectreviews" | "tokenreviews"
            ) | (
                "authorization.k8s.io",
                "localsubjectaccessreviews"
                    | "selfsubjectaccessreviews"
                    | "selfsubjectrulesreviews"
                    | "subjectaccessreviews"
            ) | (
                "admissionregistration.k8s.io",
                "validatingadmissionpolicies"
                    | "validatingadmissionpolicybindings"
                    | "mutatingadmissionpolicies"
                    | "mutatingadmissionpolicybindings"
            )
        )
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

/// Checks that a field of the request is an object, and that each of its `fields` is a string. Absent fields are valid.
fn texts_of(value: Value<'_>, name: &str, fields: [&str; 3]) -> Result<(), RequestError> {
    if !value.is_null() && value.as_map().is_none() {
        return Err(unfit(&format!("request.{name}"), "an object"));
    }
    let is_text = |each: &&str| {
        matches!(
            field(value, each).map(Value::kind),
            None | Some(ValueKind::Null | ValueKind::String(_))
        )
    };
    let mut faulty = fields.into_iter().filter(|each| !is_text(each));
    match faulty.next() {
        None => Ok(()),
        Some(each) => Err(unfit(&format!("request.{name}.{each}"), "a string")),
    }
}

fn object<'a>(value: Value<'a>, field: &str) -> Result<Value<'a>, RequestError> {
    match value.is_null() || value.as_map().is_some() {
        true => Ok(value),
        false => Err(unfit(field, "an object")),
    }
}

fn user(user: Value<'_>) -> Result<UserInfo, RequestError> {
    let user = object(user, "request.userInfo")?;
    let get = |name: &str| field(user, name).unwrap_or(Value::NULL);
    let mut extra = BTreeMap::new();
    let entries = object(get("extra"), "request.userInfo.extra")?.as_map();
    for (key, values) in entries.iter().flat_map(Map::iter).flatten() {
        let key = text(key, "request.userInfo.extra")?;
        extra.insert(key.to_owned(), texts(values, "request.userInfo.extra")?);
    }
    Ok(UserInfo {
        name: text(get("username"), "request.userInfo.username")?.to_owned(),
        uid: text(get("uid"), "request.userInfo.uid")?.to_owned(),
        groups: texts(get("groups"), "request.userInfo.groups")?,
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

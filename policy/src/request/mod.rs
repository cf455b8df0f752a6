//! The request that is to be decided, as an AdmissionReview brings it (apiserver `pkg/admission/attributes.go`).

mod fields;
mod metadata;
mod options;
mod value;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use gavel_engine::value::Json;
use gavel_libraries::authorizer::UserInfo;
use serde_json::Map;

use crate::resource::{GroupVersionKind, GroupVersionResource};

pub use fields::RequestFields;
pub(crate) use metadata::{label, object_name, text_of};

/// The request that is to be decided. It is read once; every policy views it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AdmissionRequest {
    /// `uid`, which the response repeats.
    pub uid: String,
    /// The kind of the object that was sent: `requestKind`, or `kind` where there is none.
    pub kind: GroupVersionKind,
    /// The resource that the request was sent to: `requestResource`, or `resource` where there is none.
    pub resource: GroupVersionResource,
    /// `subResource`; empty where there is none.
    pub subresource: String,
    /// `name`; empty where the API server is to make one up, or where many objects are deleted.
    pub name: String,
    /// `namespace`; empty for objects without one.
    pub namespace: String,
    /// `operation`: `CREATE`, `UPDATE`, `DELETE` or `CONNECT`.
    pub operation: String,
    /// `userInfo`: who asks.
    pub user: Arc<UserInfo>,
    /// `object`; null where there is none.
    pub object: Json,
    /// `oldObject`; null where there is none.
    pub old_object: Json,
    /// `dryRun`
    pub dry_run: bool,
    /// `options`: as an API server holds them, without what it does not know of.
    pub options: Json,
}

/// Why a request cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestError {
    /// The field that is wrong, such as `request.object`.
    pub field: String,
    /// What is wrong with it.
    pub message: String,
}

impl fmt::Display for RequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.message)
    }
}

impl std::error::Error for RequestError {}

impl AdmissionRequest {
    /// Reads the `request` of an AdmissionReview. Its objects are taken, not copied.
    ///
    /// # Errors
    ///
    /// A field that is of another type than an AdmissionRequest's.
    pub fn from_json(request: Json) -> Result<Self, RequestError> {
        match request {
            Json::Object(fields) => AdmissionRequest::new(fields.into()),
            _ => Err(unfit("request", "an object")),
        }
    }

    /// A request of these fields.
    ///
    /// # Errors
    ///
    /// A field that is of another type than an AdmissionRequest's.
    pub fn new(fields: RequestFields) -> Result<Self, RequestError> {
        let operation = text(fields.operation, "request.operation")?.to_uppercase();
        let kind = either(&fields.request_kind, &fields.kind);
        let resource = either(&fields.request_resource, &fields.resource);
        Ok(AdmissionRequest {
            uid: text(fields.uid, "request.uid")?,
            kind: GroupVersionKind::from_json(kind),
            resource: GroupVersionResource::from_json(resource),
            subresource: text(fields.subresource, "request.subResource")?,
            name: text(fields.name, "request.name")?,
            namespace: text(fields.namespace, "request.namespace")?,
            options: options::as_go_writes(fields.options, &operation)?,
            operation,
            user: Arc::new(user(fields.user_info)?),
            object: object(fields.object, "request.object")?,
            old_object: object(fields.old_object, "request.oldObject")?,
            dry_run: match fields.dry_run {
                Json::Null => false,
                Json::Bool(dry_run) => dry_run,
                _ => return Err(unfit("request.dryRun", "true or false")),
            },
        })
    }

    /// Whether the objects are such that have metadata: what `exec`, `attach`, `portforward` and `proxy` are sent has none.
    pub(crate) fn has_metadata(&self) -> bool {
        self.operation != "CONNECT" || !self.kind.kind.ends_with("Options")
    }

    /// Whether an API server asks no policy from its API about the resource: reviews of users and of what they may do, and
    /// the policies themselves.
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

fn either<'a>(first: &'a Json, second: &'a Json) -> &'a Json {
    if first.is_object() { first } else { second }
}

fn text(json: Json, field: &str) -> Result<String, RequestError> {
    match json {
        Json::Null => Ok(String::new()),
        Json::String(text) => Ok(text),
        _ => Err(unfit(field, "a string")),
    }
}

fn object(json: Json, field: &str) -> Result<Json, RequestError> {
    match json {
        object @ (Json::Null | Json::Object(_)) => Ok(object),
        _ => Err(unfit(field, "an object")),
    }
}

fn user(json: Json) -> Result<UserInfo, RequestError> {
    let mut fields = match json {
        Json::Null => Map::new(),
        Json::Object(fields) => fields,
        _ => return Err(unfit("request.userInfo", "an object")),
    };
    let mut take = |key: &str| fields.remove(key).unwrap_or_default();
    let mut extra = BTreeMap::new();
    match take("extra") {
        Json::Null => {}
        Json::Object(entries) => {
            for (key, values) in entries {
                extra.insert(key, texts(values, "request.userInfo.extra")?);
            }
        }
        _ => return Err(unfit("request.userInfo.extra", "an object")),
    }
    Ok(UserInfo {
        name: text(take("username"), "request.userInfo.username")?,
        uid: text(take("uid"), "request.userInfo.uid")?,
        groups: texts(take("groups"), "request.userInfo.groups")?,
        extra,
    })
}

fn texts(json: Json, field: &str) -> Result<Vec<String>, RequestError> {
    let items = match json {
        Json::Null => return Ok(Vec::new()),
        Json::Array(items) => items,
        _ => return Err(unfit(field, "a list of strings")),
    };
    let text = |item| match item {
        Json::Null => Ok(String::new()),
        Json::String(text) => Ok(text),
        _ => Err(unfit(field, "a list of strings")),
    };
    items.into_iter().map(text).collect()
}

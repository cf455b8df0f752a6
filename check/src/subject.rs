//! Subjects: objects that a user creates, updates or deletes.

use gavel_engine::value::Json;
use gavel_libraries::authorizer::UserInfo;
use gavel_policy::GroupVersionKind;
use serde_json::json;

use crate::kinds::Kinds;

/// The operation on an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// The object is created.
    Create,
    /// The object replaces an older one.
    Update,
    /// The object is deleted.
    Delete,
}

impl Operation {
    /// The name in requests.
    pub fn name(self) -> &'static str {
        match self {
            Operation::Create => "CREATE",
            Operation::Update => "UPDATE",
            Operation::Delete => "DELETE",
        }
    }

    /// The `options` of requests with this operation.
    fn options(self) -> Json {
        let kind = match self {
            Operation::Create => "CreateOptions",
            Operation::Update => "UpdateOptions",
            Operation::Delete => "DeleteOptions",
        };
        json!({"apiVersion": "meta.k8s.io/v1", "kind": kind})
    }
}

/// An object that a user creates, updates or deletes.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    /// The operation.
    pub operation: Operation,
    /// The object; for a deletion, the deleted object.
    pub object: &'a Json,
    /// The object before the update. If it is `None`, the update does not change the object.
    pub old: Option<&'a Json>,
    /// The namespace of objects that do not name one.
    pub namespace: &'a str,
    /// The user of the request.
    pub user: &'a UserInfo,
}

impl Subject<'_> {
    /// The `request` of an AdmissionReview.
    pub fn request(&self, kinds: &Kinds) -> Json {
        let text = |key: &str| self.object.get(key).and_then(Json::as_str);
        let of_metadata = |key: &str| {
            let metadata = self.object.get("metadata");
            let found = metadata.and_then(|metadata| metadata.get(key));
            found.and_then(Json::as_str).filter(|text| !text.is_empty())
        };
        let [api_version, kind] = ["apiVersion", "kind"].map(|key| text(key).unwrap_or_default());
        let kind = GroupVersionKind::new(api_version, kind);
        let resource = kinds.resource(&kind);
        let name = of_metadata("name").unwrap_or_default();
        let namespace = match (resource.is_namespaced, kind.kind.as_str()) {
            (true, _) => of_metadata("namespace").unwrap_or(self.namespace),
            (false, "Namespace") => name,
            _ => "",
        };
        let placed = |object: &Json| kinds.placed(object.clone(), namespace);
        let (object, old) = match self.operation {
            Operation::Create => (placed(self.object), Json::Null),
            Operation::Update => (placed(self.object), placed(self.old.unwrap_or(self.object))),
            Operation::Delete => (Json::Null, placed(self.object)),
        };
        let (group, version) = (kind.group.as_str(), kind.version.as_str());
        json!({
            "uid": "gavel",
            "operation": self.operation.name(),
            "kind": {"group": group, "version": version, "kind": *kind.kind},
            "resource": {"group": group, "version": version, "resource": resource.plural},
            "name": name,
            "namespace": namespace,
            "userInfo": user_info(self.user),
            "options": self.operation.options(),
            "object": object,
            "oldObject": old,
        })
    }
}

/// `userInfo` of a request.
fn user_info(user: &UserInfo) -> Json {
    let UserInfo {
        name,
        uid,
        groups,
        extra,
    } = user;
    json!({"username": name, "uid": uid, "groups": groups, "extra": extra})
}

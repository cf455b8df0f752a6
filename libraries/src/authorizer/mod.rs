//! Authorization: the requests of `authorizer`, and the trait that decides them (apiserver `pkg/authorization/authorizer`).

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

mod caching;
mod rbac;
mod selector;

pub use caching::CachingAuthorizer;
pub use rbac::{Rbac, RbacError};
pub use selector::{
    FieldRequirement, LabelOperator, LabelRequirement, SelectorError, parse_field_selector,
    parse_label_selector,
};

/// Decides whether a user is allowed to make a request. Hosts implement this trait.
pub trait Authorizer: fmt::Debug + Send + Sync {
    /// Decides about one request.
    fn authorize(&self, attributes: &AuthorizerAttributes) -> Decision;
}

/// The authorizer of hosts without authorization: it has no opinion about any request.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoOpinion;

impl Authorizer for NoOpinion {
    fn authorize(&self, _: &AuthorizerAttributes) -> Decision {
        Decision::default()
    }
}

/// A request to an [`Authorizer`]: it asks whether a user is allowed to do something.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct AuthorizerAttributes {
    /// The user.
    pub user: Arc<UserInfo>,
    /// The verb: `get`, `list`, `create`, …
    pub verb: String,
    /// The target of the verb.
    pub request: AuthorizerRequest,
}

/// The target of a verb.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum AuthorizerRequest {
    /// A path that is not a resource, such as `/healthz`.
    Path(String),
    /// Resources.
    Resource(ResourceAttributes),
}

/// The resources that an authorization check is about. An empty field is unset, unless the field says what an empty text means.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ResourceAttributes {
    /// The API group; empty is the core group.
    pub api_group: String,
    /// The version of the group; `*` is any.
    pub api_version: String,
    /// The plural name of the resource.
    pub resource: String,
    /// The subresource.
    pub subresource: String,
    /// The namespace; empty is the cluster scope.
    pub namespace: String,
    /// The name of the object.
    pub name: String,
    /// The field selector, or the error if it could not be parsed; a selector with an error restricts nothing.
    pub field_selector: Result<Vec<FieldRequirement>, SelectorError>,
    /// The label selector, or the error if it could not be parsed; a selector with an error restricts nothing.
    pub label_selector: Result<Vec<LabelRequirement>, SelectorError>,
}

/// A user as the API server has authenticated it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct UserInfo {
    /// The name.
    pub name: String,
    /// The id, which distinguishes users with the same name.
    pub uid: String,
    /// The groups that the user is in.
    pub groups: Vec<String>,
    /// Additional attributes from the authenticator. `None` stands for null, which expressions distinguish from an empty list.
    pub extra: BTreeMap<String, Option<Vec<String>>>,
}

/// The answer of an [`Authorizer`] to a request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Decision {
    /// The answer itself.
    pub verdict: Verdict,
    /// The reason, for people; can be empty.
    pub reason: String,
    /// The error that occurred during the decision, if any.
    pub error: Option<String>,
}

/// Whether an [`Authorizer`] allows a request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Verdict {
    /// The request is allowed.
    Allow,
    /// The request is denied, whatever other authorizers decide.
    Deny,
    /// No opinion. If no other authorizer allows the request, it is rejected.
    #[default]
    NoOpinion,
}

impl Default for ResourceAttributes {
    fn default() -> Self {
        ResourceAttributes {
            api_group: String::new(),
            api_version: "*".to_owned(),
            resource: String::new(),
            subresource: String::new(),
            namespace: String::new(),
            name: String::new(),
            field_selector: Ok(Vec::new()),
            label_selector: Ok(Vec::new()),
        }
    }
}

impl UserInfo {
    /// The user of a service account, in the groups that Kubernetes gives every service account.
    pub fn service_account(namespace: &str, name: &str) -> Self {
        UserInfo {
            name: format!("system:serviceaccount:{namespace}:{name}"),
            groups: vec![
                "system:serviceaccounts".to_owned(),
                format!("system:serviceaccounts:{namespace}"),
            ],
            ..UserInfo::default()
        }
    }
}

//! Who may do what: the questions that `authorizer` asks, and those who answer them (apiserver
//! `pkg/authorization/authorizer`).

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

/// Decides whether users may do things. Hosts implement it.
pub trait Authorizer: fmt::Debug + Send + Sync {
    /// Decides about one request.
    fn authorize(&self, attributes: &AuthorizerAttributes) -> Decision;
}

/// Has no opinion about anything: the authorizer of hosts that have none.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoOpinion;

impl Authorizer for NoOpinion {
    fn authorize(&self, _: &AuthorizerAttributes) -> Decision {
        Decision::default()
    }
}

/// What is asked: whether a user may do something.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct AuthorizerAttributes {
    /// Who.
    pub user: Arc<UserInfo>,
    /// The verb: `get`, `list`, `create`, …
    pub verb: String,
    /// To what.
    pub request: AuthorizerRequest,
}

/// What a verb is applied to.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum AuthorizerRequest {
    /// A path that is no resource, such as `/healthz`.
    Path(String),
    /// Resources.
    Resource(ResourceAttributes),
}

/// The resources that a request is about. What is empty is not given.
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
    /// The field selector; an error where it could not be read, in which case it limits nothing.
    pub field_selector: Result<Vec<FieldRequirement>, SelectorError>,
    /// The label selector; likewise.
    pub label_selector: Result<Vec<LabelRequirement>, SelectorError>,
}

/// A user as the API server has authenticated it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct UserInfo {
    /// The name.
    pub name: String,
    /// The identity that tells users of one name apart.
    pub uid: String,
    /// The groups that the user is in.
    pub groups: Vec<String>,
    /// What the authenticator knows beside that.
    pub extra: BTreeMap<String, Vec<String>>,
}

/// An answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Decision {
    /// The answer itself.
    pub verdict: Verdict,
    /// Why, for people; may be empty.
    pub reason: String,
    /// What went wrong while deciding, if anything did.
    pub error: Option<String>,
}

/// Whether something is allowed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Verdict {
    /// It is.
    Allow,
    /// It is not, whatever other authorizers say.
    Deny,
    /// This authorizer does not say; if no other allows it, it is refused.
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
    /// The user that a service account is, with its groups.
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

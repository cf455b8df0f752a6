//! Checks that the writer of a policy or binding is allowed to read the params that it names. Otherwise, users could write policies to read
//! objects that only Gavel is allowed to read (kubernetes `pkg/registry/admissionregistration/*/authz.go`).

use gavel_apimachinery::field::{Error, Path};
use gavel_libraries::authorizer::{
    Authorizer, AuthorizerAttributes, AuthorizerRequest, ResourceAttributes, UserInfo, Verdict,
};
use gavel_policy::api::{ParamKind, ParamRef};
use gavel_policy::{AdmissionRequest, GroupVersionKind, GroupVersionResource};
use gavel_state::NamedParams;
use serde_json::Value as Json;

use super::answers::Answers;

/// Members of this group are allowed to read everything, so the API server is not asked about them.
const SUPERUSERS: &str = "system:masters";

/// The user who writes a policy or binding.
pub(super) struct Writer<'a> {
    request: &'a AdmissionRequest<'a>,
    answers: &'a Answers,
    authorizer: &'a dyn Authorizer,
}

/// The kind of a binding's params.
enum Params {
    /// The kind, and the plural name of the resource that serves it.
    Of(GroupVersionKind, String),
    /// No API serves the kind, or the policy has no paramKind.
    Unresolved(GroupVersionKind, Option<String>),
    /// The policy cannot be read.
    NoPolicy,
}

impl<'a> Writer<'a> {
    pub(super) fn new(
        request: &'a AdmissionRequest<'a>,
        answers: &'a Answers,
        authorizer: &'a dyn Authorizer,
    ) -> Self {
        Writer {
            request,
            answers,
            authorizer,
        }
    }

    /// The error that rejects the policy or binding. `None` if the writer is allowed to read the params, or if an answer is missing.
    pub(super) fn refusal(&self, params: &NamedParams) -> Option<Error> {
        if self
            .request
            .user
            .groups
            .iter()
            .any(|group| group == SUPERUSERS)
        {
            return None;
        }
        let (field, outcome) = match params {
            NamedParams::Kind(kind) => ("paramKind", self.may_read_kind(kind)),
            NamedParams::Objects { policy, params } => {
                ("paramRef", self.may_read_objects(policy, params))
            }
        };
        let error = outcome?.err()?;
        Some(Error::forbidden(&Path::new("spec").child(field), error))
    }

    fn may_read_kind(&self, kind: &ParamKind) -> Option<Result<(), String>> {
        let ParamKind { api_version, kind } = kind;
        let params = GroupVersionKind::new(api_version, kind);
        let resource = self.answers.resource(&params)?;
        let resource = resource.unwrap_or_else(|| "*".to_owned());
        let allowed = self.may("get", &params, &resource, "*", "*");
        Some(match allowed {
            Err(error) => Err(error),
            Ok(true) => Ok(()),
            Ok(false) => {
                let user = printed(&self.request.user);
                Err(format!(
                    "user {user} must have \"get\" permission on all objects of the referenced paramKind (kind={kind}, apiVersion={api_version})"
                ))
            }
        })
    }

    fn may_read_objects(&self, policy: &str, params: &ParamRef) -> Option<Result<(), String>> {
        let any = || GroupVersionKind::new("*/*", "");
        let found = self.params(policy)?;
        let (kind, resource) = match &found {
            Params::Of(kind, resource) => (kind.clone(), resource.as_str()),
            Params::Unresolved(kind, _) => (kind.clone(), "*"),
            Params::NoPolicy => (any(), "*"),
        };
        let verb = match params.name.as_str() {
            "" => "list",
            _ => "get",
        };
        let ParamRef {
            name, namespace, ..
        } = params;
        let is_mutating = self.request.kind.kind.starts_with("Mutating");
        let allowed = match self.may(verb, &kind, resource, namespace, name) {
            Ok(allowed) => allowed,
            Err(error) if is_mutating => return Some(Err(error)),
            Err(error) => return Some(Err(format!("failed to authorize request: {error}"))),
        };
        if allowed {
            return Some(Ok(()));
        }
        let user = printed(&self.request.user);
        let every = format!(
            "to determine minimum required permissions and user {user} does not have \"{verb}\" permission for all groups, versions and resources"
        );
        Some(Err(match found {
            Params::NoPolicy => format!("unable to get policy {policy} {every}"),
            Params::Unresolved(_, Some(kind)) => {
                format!("unable to resolve paramKind {kind} {every}")
            }
            // Upstream prints the verb and the user in the wrong order here.
            _ if is_mutating => {
                format!(
                    "user {verb} does not have \"{user}\" permission on the object referenced by paramRef"
                )
            }
            _ => format!(
                "user {user} does not have \"{verb}\" permission on the object referenced by paramRef"
            ),
        }))
    }

    /// The kind of the params of a policy's bindings; `None` if an answer is missing.
    fn params(&self, policy: &str) -> Option<Params> {
        let resource = GroupVersionResource {
            resource: self
                .request
                .resource
                .resource
                .replace("policybindings", "policies")
                .into(),
            ..self.request.resource.clone()
        };
        let Ok(Some(policy)) = self.answers.object(&resource, policy)? else {
            return Some(Params::NoPolicy);
        };
        let text = |field: &str| {
            let text = policy.pointer(&format!("/spec/paramKind/{field}"));
            text.and_then(Json::as_str)
        };
        let (Some(api_version), Some(kind)) = (text("apiVersion"), text("kind")) else {
            return Some(Params::Unresolved(GroupVersionKind::new("*/*", ""), None));
        };
        let params = GroupVersionKind::new(api_version, kind);
        Some(match self.answers.resource(&params)? {
            Some(resource) => Params::Of(params, resource),
            None => Params::Unresolved(params, Some(format!("&{{{api_version} {kind}}}"))),
        })
    }

    fn may(
        &self,
        verb: &str,
        kind: &GroupVersionKind,
        resource: &str,
        namespace: &str,
        name: &str,
    ) -> Result<bool, String> {
        let resource = ResourceAttributes {
            api_group: kind.group.to_string(),
            api_version: kind.version.to_string(),
            resource: resource.to_owned(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            ..ResourceAttributes::default()
        };
        let decision = self.authorizer.authorize(&AuthorizerAttributes {
            user: self.request.user.clone(),
            verb: verb.to_owned(),
            request: AuthorizerRequest::Resource(resource),
        });
        match decision.error {
            Some(error) => Err(error),
            None => Ok(decision.verdict == Verdict::Allow),
        }
    }
}

/// A user as Go prints one.
fn printed(user: &UserInfo) -> String {
    let UserInfo {
        name,
        uid,
        groups,
        extra,
    } = user;
    let list = |values: &[String]| format!("[{}]", values.join(" "));
    let extra = extra.iter().map(|(key, values)| {
        let values = values.as_deref().unwrap_or_default();
        format!("{key}:{}", list(values))
    });
    let extra: Vec<String> = extra.collect();
    format!(
        "&{{{name} {uid} {} map[{}]}}",
        list(groups),
        extra.join(" ")
    )
}

//! The authorizer library (apiserver `pkg/cel/library/authz.go`): requests to an [`Authorizer`].
//!
//! `authorizer` is the variable that a host binds to an [`AuthorizerValue`], `authorizer.requestResource` to a [`ResourceCheck`]. The
//! values cannot be compared: `==` is an error, even between a value and itself.

use std::borrow::Cow;
use std::sync::Arc;

use gavel_engine::body;
use gavel_engine::cost::formulas::nth;
use gavel_engine::cost::{CallEstimate, Cost, CostEstimate, SizeEstimate, TRAVERSAL_FACTOR};
use gavel_engine::decl::{CallContext, Overload, row};
use gavel_engine::error::EvalError;
use gavel_engine::value::{Opaque, Value};

use crate::authorizer::{
    Authorizer, AuthorizerAttributes, AuthorizerRequest, Decision, ResourceAttributes, UserInfo,
    Verdict, parse_field_selector, parse_label_selector,
};
use gavel_apimachinery::names::{dns1123_label, dns1123_subdomain};

/// The functions of the authorizer library, except those for selectors.
#[rustfmt::skip] // One row per line.
pub const AUTHORIZER: &[Overload] = &[
    row("path", "authorizer_path", "kubernetes.authorization.Authorizer.(string) -> kubernetes.authorization.PathCheck", body!(path), "authorizer.path('/healthz').check('get').allowed()"),
    row("group", "authorizer_group", "kubernetes.authorization.Authorizer.(string) -> kubernetes.authorization.GroupCheck", body!(group), "authorizer.group('apps').resource('deployments').check('list').allowed()"),
    row("serviceAccount", "authorizer_serviceaccount", "kubernetes.authorization.Authorizer.(string, string) -> kubernetes.authorization.Authorizer", body!(service_account), "authorizer.serviceAccount('default', 'robot').path('/metrics').check('get').allowed()"),
    row("resource", "groupcheck_resource", "kubernetes.authorization.GroupCheck.(string) -> kubernetes.authorization.ResourceCheck", body!(resource), "authorizer.group('').resource('pods').check('list').allowed()"),
    row("subresource", "resourcecheck_subresource", "kubernetes.authorization.ResourceCheck.(string) -> kubernetes.authorization.ResourceCheck", body!(subresource), "authorizer.group('apps').resource('deployments').subresource('scale').check('patch').allowed()"),
    row("namespace", "resourcecheck_namespace", "kubernetes.authorization.ResourceCheck.(string) -> kubernetes.authorization.ResourceCheck", body!(namespace), "authorizer.group('').resource('pods').namespace('default').check('create').allowed()"),
    row("name", "resourcecheck_name", "kubernetes.authorization.ResourceCheck.(string) -> kubernetes.authorization.ResourceCheck", body!(name), "authorizer.group('').resource('secrets').namespace('default').name('token').check('get').allowed()"),
    row("check", "pathcheck_check", "kubernetes.authorization.PathCheck.(string) -> kubernetes.authorization.Decision", body!(check_path), "authorizer.path('/version').check('get').allowed()").cost(CHECK),
    row("check", "resourcecheck_check", "kubernetes.authorization.ResourceCheck.(string) -> kubernetes.authorization.Decision", body!(check_resource), "authorizer.requestResource.check('delete').allowed()").cost(CHECK),
    row("errored", "decision_errored", "kubernetes.authorization.Decision.() -> bool", body!(errored), "!authorizer.path('/healthz').check('get').errored()"),
    row("error", "decision_error", "kubernetes.authorization.Decision.() -> string", body!(error), "authorizer.path('/healthz').check('get').error() == ''"),
    row("allowed", "decision_allowed", "kubernetes.authorization.Decision.() -> bool", body!(allowed), "authorizer.path('/healthz').check('get').allowed()"),
    row("reason", "decision_reason", "kubernetes.authorization.Decision.() -> string", body!(reason), "authorizer.path('/healthz').check('get').reason() == ''"),
];

/// The functions that add a selector to a check.
#[rustfmt::skip] // One row per line.
pub const AUTHORIZER_SELECTORS: &[Overload] = &[
    row("fieldSelector", "authorizer_fieldselector", "kubernetes.authorization.ResourceCheck.(string) -> kubernetes.authorization.ResourceCheck", body!(field_selector), "authorizer.group('').resource('pods').fieldSelector('spec.nodeName=n1').check('list').allowed()").cost(SELECTOR),
    row("labelSelector", "authorizer_labelselector", "kubernetes.authorization.ResourceCheck.(string) -> kubernetes.authorization.ResourceCheck", body!(label_selector), "authorizer.group('').resource('pods').labelSelector('app in (web,api)').check('list').allowed()").cost(SELECTOR),
];

/// The cost of a check, which may call a webhook: two checks fit into the cost limit of one evaluation.
const CHECK: Cost = Cost::fixed(350_000).of_name();
const SELECTOR: Cost = Cost::sizes(selector_cost).of_name();

/// The cost of parsing a selector and creating its requirements. A selector has at most one requirement for every two code points.
fn selector_cost(sizes: &[SizeEstimate]) -> CallEstimate {
    const STRUCTURE: f64 = 50.0;
    let text = nth(sizes, 1);
    let reading = text.costs(TRAVERSAL_FACTOR);
    let requirements = text.costs(0.5).scaled(STRUCTURE);
    CallEstimate::new(CostEstimate::exact(10).plus(reading).plus(requirements))
}

/// The value of the CEL variable `authorizer`, which checks what a user is allowed to do.
#[derive(Debug, Clone)]
pub struct AuthorizerValue {
    user: Arc<UserInfo>,
    authorizer: Arc<dyn Authorizer>,
}

/// The value of `authorizer.path(…)`.
#[derive(Debug, Clone)]
struct PathCheck {
    of: AuthorizerValue,
    path: String,
}

/// The value of `authorizer.group(…)`.
#[derive(Debug, Clone)]
struct GroupCheck {
    of: AuthorizerValue,
    group: String,
}

/// The value of `authorizer.group(…).resource(…)`, and of `authorizer.requestResource`.
#[derive(Debug, Clone)]
pub struct ResourceCheck {
    of: AuthorizerValue,
    attributes: ResourceAttributes,
    field_selector: String,
    label_selector: String,
}

impl AuthorizerValue {
    /// A value for the CEL variable `authorizer`. It asks the given [`Authorizer`] what `user` is allowed to do.
    pub fn new(user: Arc<UserInfo>, authorizer: Arc<dyn Authorizer>) -> Self {
        AuthorizerValue { user, authorizer }
    }

    fn decide(&self, verb: &str, request: AuthorizerRequest) -> Decision {
        self.authorizer.authorize(&AuthorizerAttributes {
            user: Arc::clone(&self.user),
            verb: verb.to_owned(),
            request,
        })
    }
}

impl ResourceCheck {
    /// The value of `authorizer.requestResource`: a check for the resource of the admission request.
    pub fn new(of: AuthorizerValue, attributes: ResourceAttributes) -> Self {
        ResourceCheck {
            of,
            attributes,
            field_selector: String::new(),
            label_selector: String::new(),
        }
    }

    /// Asks the authorizer for its decision. A selector that cannot be parsed restricts nothing.
    fn check(&self, verb: &str) -> Decision {
        let attributes = ResourceAttributes {
            field_selector: parse_field_selector(&self.field_selector),
            label_selector: parse_label_selector(&self.label_selector),
            ..self.attributes.clone()
        };
        self.of
            .decide(verb, AuthorizerRequest::Resource(attributes))
    }
}

/// Implements a type whose values only have functions: they have no fields, cannot be compared, and cannot be converted to strings.
macro_rules! receiver_only {
    ($($ty:ty: $name:literal, $go_type:literal);+ $(;)?) => {
        $(impl Opaque for $ty {
            fn type_name(&self) -> &'static str {
                $name
            }

            fn go_type(&self) -> Cow<'static, str> {
                Cow::Borrowed($go_type)
            }

            fn equals(&self, _: &Value<'_>) -> Result<bool, EvalError> {
                Err(EvalError::no_such_overload())
            }

            fn native_error(&self) -> Option<EvalError> {
                Some(EvalError::no_such_overload())
            }

            fn conversion_name(&self) -> Cow<'static, str> {
                Cow::Borrowed($name)
            }

            fn to_text(&self) -> Cow<'_, str> {
                Cow::Borrowed("no such overload")
            }
        })+
    };
}

receiver_only! {
    AuthorizerValue: "kubernetes.authorization.Authorizer", "library.authorizerVal";
    PathCheck: "kubernetes.authorization.PathCheck", "library.pathCheckVal";
    GroupCheck: "kubernetes.authorization.GroupCheck", "library.groupCheckVal";
    ResourceCheck: "kubernetes.authorization.ResourceCheck", "library.resourceCheckVal";
    Decision: "kubernetes.authorization.Decision", "library.decisionVal";
}

fn path<'a>(
    call: &CallContext<'a>,
    of: &AuthorizerValue,
    path: &str,
) -> Result<Value<'a>, EvalError> {
    if path.trim().is_empty() {
        return Err(EvalError::new("path must not be empty"));
    }
    Ok(call.arena.opaque(PathCheck {
        of: of.clone(),
        path: path.to_owned(),
    }))
}

fn group<'a>(call: &CallContext<'a>, of: &AuthorizerValue, group: &str) -> Value<'a> {
    call.arena.opaque(GroupCheck {
        of: of.clone(),
        group: group.to_owned(),
    })
}

fn service_account<'a>(
    call: &CallContext<'a>,
    of: &AuthorizerValue,
    namespace: &str,
    name: &str,
) -> Result<Value<'a>, EvalError> {
    if !dns1123_subdomain(name.as_bytes()).is_empty() {
        return Err(EvalError::new("Invalid service account name"));
    }
    if !dns1123_label(namespace.as_bytes()).is_empty() {
        return Err(EvalError::new("Invalid service account namespace"));
    }
    Ok(call.arena.opaque(AuthorizerValue {
        user: Arc::new(UserInfo::service_account(namespace, name)),
        authorizer: Arc::clone(&of.authorizer),
    }))
}

fn resource<'a>(
    call: &CallContext<'a>,
    group: &GroupCheck,
    resource: &str,
) -> Result<Value<'a>, EvalError> {
    if resource.trim().is_empty() {
        return Err(EvalError::new("resource must not be empty"));
    }
    let attributes = ResourceAttributes {
        api_group: group.group.clone(),
        resource: resource.to_owned(),
        ..ResourceAttributes::default()
    };
    let check = ResourceCheck::new(group.of.clone(), attributes);
    Ok(call.arena.opaque(check))
}

/// A copy of the check with a field set.
fn with<'a>(
    call: &CallContext<'a>,
    check: &ResourceCheck,
    set: impl FnOnce(&mut ResourceCheck),
) -> Value<'a> {
    let mut check = check.clone();
    set(&mut check);
    call.arena.opaque(check)
}

fn subresource<'a>(call: &CallContext<'a>, check: &ResourceCheck, text: &str) -> Value<'a> {
    with(call, check, |check| {
        text.clone_into(&mut check.attributes.subresource);
    })
}

fn namespace<'a>(call: &CallContext<'a>, check: &ResourceCheck, text: &str) -> Value<'a> {
    with(call, check, |check| {
        text.clone_into(&mut check.attributes.namespace);
    })
}

fn name<'a>(call: &CallContext<'a>, check: &ResourceCheck, text: &str) -> Value<'a> {
    with(call, check, |check| {
        text.clone_into(&mut check.attributes.name);
    })
}

fn field_selector<'a>(call: &CallContext<'a>, check: &ResourceCheck, text: &str) -> Value<'a> {
    with(call, check, |check| {
        text.clone_into(&mut check.field_selector);
    })
}

fn label_selector<'a>(call: &CallContext<'a>, check: &ResourceCheck, text: &str) -> Value<'a> {
    with(call, check, |check| {
        text.clone_into(&mut check.label_selector);
    })
}

fn check_path<'a>(call: &CallContext<'a>, check: &PathCheck, verb: &str) -> Value<'a> {
    let request = AuthorizerRequest::Path(check.path.clone());
    call.arena.opaque(check.of.decide(verb, request))
}

fn check_resource<'a>(call: &CallContext<'a>, check: &ResourceCheck, verb: &str) -> Value<'a> {
    call.arena.opaque(check.check(verb))
}

fn errored(decision: &Decision) -> bool {
    decision.error.is_some()
}

fn error(decision: &Decision) -> &str {
    decision.error.as_deref().unwrap_or_default()
}

fn allowed(decision: &Decision) -> bool {
    decision.verdict == Verdict::Allow
}

fn reason(decision: &Decision) -> &str {
    &decision.reason
}

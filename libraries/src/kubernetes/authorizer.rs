//! The authorizer library (apiserver `pkg/cel/library/authz.go`): questions to an [`Authorizer`].
//!
//! `authorizer` is the variable that a host binds to an [`AuthorizerValue`], `authorizer.requestResource` to a
//! [`ResourceCheck`]. No two of the values are equal, not even one with itself: comparing them is an error.

use std::sync::Arc;

use gavel_engine::cost::formulas::nth;
use gavel_engine::cost::{CallEstimate, Cost, CostEstimate, SizeEstimate, TRAVERSAL_FACTOR};
use gavel_engine::decl::{CallContext, Overload};
use gavel_engine::error::EvalError;
use gavel_engine::value::{Arena, Opaque, Value};

use super::typed;
use crate::authorizer::{
    Authorizer, AuthorizerAttributes, AuthorizerRequest, Decision, ResourceAttributes, UserInfo,
    Verdict, parse_field_selector, parse_label_selector,
};
use gavel_apimachinery::names::{dns1123_label, dns1123_subdomain};

/// The functions.
pub const AUTHORIZER: &[Overload] = &[
    typed(
        "path",
        "authorizer_path",
        "kubernetes.authorization.Authorizer.(string) -> kubernetes.authorization.PathCheck",
        path,
        Cost::ONE,
        "authorizer.path('/healthz').check('get').allowed()",
    ),
    typed(
        "group",
        "authorizer_group",
        "kubernetes.authorization.Authorizer.(string) -> kubernetes.authorization.GroupCheck",
        group,
        Cost::ONE,
        "authorizer.group('apps').resource('deployments').check('list').allowed()",
    ),
    typed(
        "serviceAccount",
        "authorizer_serviceaccount",
        "kubernetes.authorization.Authorizer.(string, string) -> kubernetes.authorization.Authorizer",
        service_account,
        Cost::ONE,
        "authorizer.serviceAccount('default', 'robot').path('/metrics').check('get').allowed()",
    ),
    typed(
        "resource",
        "groupcheck_resource",
        "kubernetes.authorization.GroupCheck.(string) -> kubernetes.authorization.ResourceCheck",
        resource,
        Cost::ONE,
        "authorizer.group('').resource('pods').check('list').allowed()",
    ),
    typed(
        "subresource",
        "resourcecheck_subresource",
        "kubernetes.authorization.ResourceCheck.(string) -> kubernetes.authorization.ResourceCheck",
        subresource,
        Cost::ONE,
        "authorizer.group('apps').resource('deployments').subresource('scale').check('patch').allowed()",
    ),
    typed(
        "namespace",
        "resourcecheck_namespace",
        "kubernetes.authorization.ResourceCheck.(string) -> kubernetes.authorization.ResourceCheck",
        namespace,
        Cost::ONE,
        "authorizer.group('').resource('pods').namespace('default').check('create').allowed()",
    ),
    typed(
        "name",
        "resourcecheck_name",
        "kubernetes.authorization.ResourceCheck.(string) -> kubernetes.authorization.ResourceCheck",
        name,
        Cost::ONE,
        "authorizer.group('').resource('secrets').namespace('default').name('token').check('get').allowed()",
    ),
    typed(
        "check",
        "pathcheck_check",
        "kubernetes.authorization.PathCheck.(string) -> kubernetes.authorization.Decision",
        check_path,
        CHECK,
        "authorizer.path('/version').check('get').allowed()",
    ),
    typed(
        "check",
        "resourcecheck_check",
        "kubernetes.authorization.ResourceCheck.(string) -> kubernetes.authorization.Decision",
        check_resource,
        CHECK,
        "authorizer.requestResource.check('delete').allowed()",
    ),
    typed(
        "errored",
        "decision_errored",
        "kubernetes.authorization.Decision.() -> bool",
        errored,
        Cost::ONE,
        "!authorizer.path('/healthz').check('get').errored()",
    ),
    typed(
        "error",
        "decision_error",
        "kubernetes.authorization.Decision.() -> string",
        error,
        Cost::ONE,
        "authorizer.path('/healthz').check('get').error() == ''",
    ),
    typed(
        "allowed",
        "decision_allowed",
        "kubernetes.authorization.Decision.() -> bool",
        allowed,
        Cost::ONE,
        "authorizer.path('/healthz').check('get').allowed()",
    ),
    typed(
        "reason",
        "decision_reason",
        "kubernetes.authorization.Decision.() -> string",
        reason,
        Cost::ONE,
        "authorizer.path('/healthz').check('get').reason() == ''",
    ),
];

/// The functions for selectors.
pub const AUTHORIZER_SELECTORS: &[Overload] = &[
    typed(
        "fieldSelector",
        "authorizer_fieldselector",
        "kubernetes.authorization.ResourceCheck.(string) -> kubernetes.authorization.ResourceCheck",
        field_selector,
        SELECTOR,
        "authorizer.group('').resource('pods').fieldSelector('spec.nodeName=n1').check('list').allowed()",
    ),
    typed(
        "labelSelector",
        "authorizer_labelselector",
        "kubernetes.authorization.ResourceCheck.(string) -> kubernetes.authorization.ResourceCheck",
        label_selector,
        SELECTOR,
        "authorizer.group('').resource('pods').labelSelector('app in (web,api)').check('list').allowed()",
    ),
];

/// A check may ask a webhook: two of them fit into one evaluation.
const CHECK: Cost = Cost::fixed(350_000).of_name();
const SELECTOR: Cost = Cost::sizes(selector_cost).of_name();

/// Reading the selector, and making a structure of up to so many requirements as every other code point begins one.
fn selector_cost(sizes: &[SizeEstimate]) -> CallEstimate {
    const STRUCTURE: f64 = 50.0;
    let text = nth(sizes, 1);
    let reading = text.costs(TRAVERSAL_FACTOR);
    let requirements = text.costs(0.5).scaled(STRUCTURE);
    CallEstimate::new(CostEstimate::exact(10).plus(reading).plus(requirements))
}

/// `authorizer`: asks on behalf of a user.
#[derive(Debug, Clone)]
pub struct AuthorizerValue {
    user: Arc<UserInfo>,
    authorizer: Arc<dyn Authorizer>,
}

/// `authorizer.path(…)`
#[derive(Debug, Clone)]
struct PathCheck {
    of: AuthorizerValue,
    path: String,
}

/// `authorizer.group(…)`
#[derive(Debug, Clone)]
struct GroupCheck {
    of: AuthorizerValue,
    group: String,
}

/// `authorizer.group(…).resource(…)`, and `authorizer.requestResource`.
#[derive(Debug, Clone)]
pub struct ResourceCheck {
    of: AuthorizerValue,
    attributes: ResourceAttributes,
    field_selector: String,
    label_selector: String,
}

impl AuthorizerValue {
    /// Asks `authorizer` what `user` may do.
    pub fn new(user: Arc<UserInfo>, authorizer: Arc<dyn Authorizer>) -> Self {
        AuthorizerValue { user, authorizer }
    }

    fn ask(&self, verb: &str, request: AuthorizerRequest) -> Decision {
        self.authorizer.authorize(&AuthorizerAttributes {
            user: Arc::clone(&self.user),
            verb: verb.to_owned(),
            request,
        })
    }
}

impl ResourceCheck {
    /// What `authorizer.requestResource` is: a check of the resource of the request.
    pub fn new(of: AuthorizerValue, attributes: ResourceAttributes) -> Self {
        ResourceCheck {
            of,
            attributes,
            field_selector: String::new(),
            label_selector: String::new(),
        }
    }

    /// The answer. A selector that cannot be read limits nothing.
    fn check(&self, verb: &str) -> Decision {
        let attributes = ResourceAttributes {
            field_selector: parse_field_selector(&self.field_selector),
            label_selector: parse_label_selector(&self.label_selector),
            ..self.attributes.clone()
        };
        self.of.ask(verb, AuthorizerRequest::Resource(attributes))
    }
}

/// The types have functions, but nothing else: no fields, no text, no equality.
macro_rules! receiver_only {
    ($($ty:ty: $name:literal),+ $(,)?) => {
        $(impl Opaque for $ty {
            fn type_name(&self) -> &'static str {
                $name
            }

            fn equals(&self, _: &Value<'_>) -> Result<bool, EvalError> {
                Err(EvalError::no_such_overload())
            }

            fn native_error(&self) -> Option<EvalError> {
                Some(EvalError::no_such_overload())
            }

            fn to_text<'a>(&self, _: &'a Arena) -> &'a str {
                "no such overload"
            }
        })+
    };
}

receiver_only! {
    AuthorizerValue: "kubernetes.authorization.Authorizer",
    PathCheck: "kubernetes.authorization.PathCheck",
    GroupCheck: "kubernetes.authorization.GroupCheck",
    ResourceCheck: "kubernetes.authorization.ResourceCheck",
    Decision: "kubernetes.authorization.Decision",
}

fn receiver<'a, T: Opaque>(value: &Value<'a>) -> Result<&'a T, EvalError> {
    match value {
        Value::Opaque(opaque) => opaque.downcast_ref(),
        _ => None,
    }
    .ok_or_else(EvalError::no_such_overload)
}

/// The receiver and the text of a call.
fn one<'a, T: Opaque>(args: &[Value<'a>]) -> Result<(&'a T, &'a str), EvalError> {
    match args {
        [of, Value::String(text)] => Ok((receiver(of)?, text)),
        _ => Err(EvalError::no_such_overload()),
    }
}

fn path<'a>(cx: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let (of, path) = one::<AuthorizerValue>(args)?;
    if path.trim().is_empty() {
        return Err(EvalError::new("path must not be empty"));
    }
    Ok(cx.arena.opaque(PathCheck {
        of: of.clone(),
        path: path.to_owned(),
    }))
}

fn group<'a>(cx: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let (of, group) = one::<AuthorizerValue>(args)?;
    Ok(cx.arena.opaque(GroupCheck {
        of: of.clone(),
        group: group.to_owned(),
    }))
}

fn service_account<'a>(cx: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let [of, Value::String(namespace), Value::String(name)] = args else {
        return Err(EvalError::no_such_overload());
    };
    let of = receiver::<AuthorizerValue>(of)?;
    if !dns1123_subdomain(name.as_bytes()).is_empty() {
        return Err(EvalError::new("Invalid service account name"));
    }
    if !dns1123_label(namespace.as_bytes()).is_empty() {
        return Err(EvalError::new("Invalid service account namespace"));
    }
    Ok(cx.arena.opaque(AuthorizerValue {
        user: Arc::new(UserInfo::service_account(namespace, name)),
        authorizer: Arc::clone(&of.authorizer),
    }))
}

fn resource<'a>(cx: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let (group, resource) = one::<GroupCheck>(args)?;
    if resource.trim().is_empty() {
        return Err(EvalError::new("resource must not be empty"));
    }
    let attributes = ResourceAttributes {
        api_group: group.group.clone(),
        resource: resource.to_owned(),
        ..ResourceAttributes::default()
    };
    Ok(cx
        .arena
        .opaque(ResourceCheck::new(group.of.clone(), attributes)))
}

/// The check with something set.
fn with<'a>(
    cx: &CallContext<'a>,
    args: &[Value<'a>],
    set: impl FnOnce(&mut ResourceCheck, String),
) -> Result<Value<'a>, EvalError> {
    let (check, text) = one::<ResourceCheck>(args)?;
    let mut check = check.clone();
    set(&mut check, text.to_owned());
    Ok(cx.arena.opaque(check))
}

fn subresource<'a>(cx: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    with(cx, args, |check, text| check.attributes.subresource = text)
}

fn namespace<'a>(cx: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    with(cx, args, |check, text| check.attributes.namespace = text)
}

fn name<'a>(cx: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    with(cx, args, |check, text| check.attributes.name = text)
}

fn field_selector<'a>(cx: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    with(cx, args, |check, text| check.field_selector = text)
}

fn label_selector<'a>(cx: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    with(cx, args, |check, text| check.label_selector = text)
}

fn check_path<'a>(cx: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let (check, verb) = one::<PathCheck>(args)?;
    let request = AuthorizerRequest::Path(check.path.clone());
    Ok(cx.arena.opaque(check.of.ask(verb, request)))
}

fn check_resource<'a>(cx: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let (check, verb) = one::<ResourceCheck>(args)?;
    Ok(cx.arena.opaque(check.check(verb)))
}

fn decision<'a>(args: &[Value<'a>]) -> Result<&'a Decision, EvalError> {
    match args {
        [decision] => receiver(decision),
        _ => Err(EvalError::no_such_overload()),
    }
}

fn errored<'a>(_: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    Ok(Value::Bool(decision(args)?.error.is_some()))
}

fn error<'a>(_: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let error = decision(args)?.error.as_deref();
    Ok(Value::String(error.unwrap_or_default()))
}

fn allowed<'a>(_: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    Ok(Value::Bool(decision(args)?.verdict == Verdict::Allow))
}

fn reason<'a>(_: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    Ok(Value::String(&decision(args)?.reason))
}

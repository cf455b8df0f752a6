//! The inputs of a policy's expressions (apiserver `pkg/admission/plugin/policy/cel/activation.go`).

use gavel_engine::value::{HostTypes, Value};

use super::environment::{
    AUTHORIZER, NAMESPACE_OBJECT, OBJECT, OLD_OBJECT, PARAMS, REQUEST_RESOURCE, REQUEST_VARIABLE,
    VARIABLES_VARIABLE,
};
use crate::expression_kind::ExpressionKind;

/// The values of the variables that Kubernetes declares for a policy's expressions, except `params`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Inputs<'a> {
    /// `object`
    pub(crate) object: Value<'a>,
    /// `oldObject`
    pub(crate) old_object: Value<'a>,
    /// `request`
    pub(crate) request: Value<'a>,
    /// `request` of match conditions. Its `resource` is the resource that the request was sent to, even if the policy matches an
    /// equivalent resource.
    pub(crate) original_request: Value<'a>,
    /// `namespaceObject` without `selfLink`, owners and managed fields, for all expressions except match conditions, which read null, and
    /// audit annotations.
    pub(crate) namespace_object: Value<'a>,
    /// `namespaceObject` of audit annotations, with all fields.
    pub(crate) whole_namespace: Value<'a>,
    /// `authorizer` and `authorizer.requestResource`, if they are bound.
    pub(crate) authorizer: Option<(Value<'a>, Value<'a>)>,
}

/// The values of the variables with their types.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TypedInputs<'a> {
    /// The values.
    pub(crate) values: &'a Inputs<'a>,
    /// The types of the values; `None` if they are plain JSON.
    pub(crate) types: Option<&'a dyn HostTypes>,
}

impl<'a> Inputs<'a> {
    /// The value of the variable `name` in expressions of a kind: an input, `params`, or the policy's own `variables`. `None` if
    /// expressions of this kind do not have the variable.
    pub(super) fn resolve(
        &self,
        kind: ExpressionKind,
        name: &str,
        params: Value<'a>,
        variables: Value<'a>,
    ) -> Option<Value<'a>> {
        let authorizer = match kind {
            ExpressionKind::Message | ExpressionKind::AuditAnnotation => None,
            _ => self.authorizer,
        };
        match name {
            OBJECT => Some(self.object),
            OLD_OBJECT => Some(self.old_object),
            REQUEST_VARIABLE => Some(match kind {
                ExpressionKind::MatchCondition => self.original_request,
                _ => self.request,
            }),
            PARAMS => Some(params),
            NAMESPACE_OBJECT => Some(match kind {
                ExpressionKind::MatchCondition => Value::NULL,
                ExpressionKind::AuditAnnotation => self.whole_namespace,
                _ => self.namespace_object,
            }),
            VARIABLES_VARIABLE => Some(variables),
            AUTHORIZER => authorizer.map(|(authorizer, _)| authorizer),
            REQUEST_RESOURCE => authorizer.map(|(_, resource)| resource),
            _ => None,
        }
    }
}

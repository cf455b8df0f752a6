//! The inputs of a policy's expressions (apiserver `pkg/admission/plugin/policy/cel/activation.go`).

use gavel_engine::value::Value;

use super::environment::{
    AUTHORIZER, NAMESPACE_OBJECT, OBJECT, OLD_OBJECT, PARAMS, REQUEST_RESOURCE, REQUEST_VARIABLE,
    VARIABLES_VARIABLE,
};

/// The values of the variables that Kubernetes declares for a policy's expressions, except `params`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Inputs<'a> {
    /// `object`
    pub(crate) object: Value<'a>,
    /// `oldObject`
    pub(crate) old_object: Value<'a>,
    /// `request`
    pub(crate) request: Value<'a>,
    /// `namespaceObject`
    pub(crate) namespace_object: Value<'a>,
    /// `authorizer` and `authorizer.requestResource`, if they are bound.
    pub(crate) authorizer: Option<(Value<'a>, Value<'a>)>,
}

impl<'a> Inputs<'a> {
    /// The value of the variable `name`: an input, `params`, or the policy's own `variables`.
    pub(super) fn resolve(
        &self,
        name: &str,
        params: Value<'a>,
        variables: Value<'a>,
    ) -> Option<Value<'a>> {
        match name {
            OBJECT => Some(self.object),
            OLD_OBJECT => Some(self.old_object),
            REQUEST_VARIABLE => Some(self.request),
            PARAMS => Some(params),
            NAMESPACE_OBJECT => Some(self.namespace_object),
            VARIABLES_VARIABLE => Some(variables),
            AUTHORIZER => self.authorizer.map(|(authorizer, _)| authorizer),
            REQUEST_RESOURCE => self.authorizer.map(|(_, resource)| resource),
            _ => None,
        }
    }
}

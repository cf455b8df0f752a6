//! What expressions of policies are evaluated with (apiserver `pkg/admission/plugin/cel/activation.go`).

use gavel_engine::program::Activation;
use gavel_engine::value::Value;

use super::environment::{
    AUTHORIZER, NAMESPACE_OBJECT, OBJECT, OLD_OBJECT, PARAMS, REQUEST_RESOURCE, REQUEST_VARIABLE,
    VARIABLES_VARIABLE,
};

/// The values that the expressions of a policy see.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Inputs<'a> {
    /// `object`
    pub(crate) object: Value<'a>,
    /// `oldObject`
    pub(crate) old_object: Value<'a>,
    /// `request`
    pub(crate) request: Value<'a>,
    /// `params`; null where there are none.
    pub(crate) params: Value<'a>,
    /// `namespaceObject`
    pub(crate) namespace_object: Value<'a>,
    /// `authorizer` and `authorizer.requestResource`, where they are bound.
    pub(crate) authorizer: Option<(Value<'a>, Value<'a>)>,
}

impl<'a> Inputs<'a> {
    /// The values under their names, with the policy's variables.
    pub(super) fn activation(&self, variables: Value<'a>) -> Activation<'a> {
        let mut activation = Activation::new();
        activation
            .bind(OBJECT, self.object)
            .bind(OLD_OBJECT, self.old_object)
            .bind(REQUEST_VARIABLE, self.request)
            .bind(PARAMS, self.params)
            .bind(NAMESPACE_OBJECT, self.namespace_object)
            .bind(VARIABLES_VARIABLE, variables);
        if let Some((authorizer, resource)) = self.authorizer {
            activation
                .bind(AUTHORIZER, authorizer)
                .bind(REQUEST_RESOURCE, resource);
        }
        activation
    }
}

//! What the expressions of policies may use: the variables that each kind of expression sees.

use std::sync::Arc;

use gavel_engine::env::Env;
use gavel_engine::types::{Type, TypeTextError};
use gavel_libraries::kubernetes::json_patch::JSON_PATCH;
use smol_str::SmolStr;

use super::declared::{DeclaredTypes, NAMESPACE, REQUEST, VARIABLES, declared_type};

/// `object`: what the request is to make of the object.
pub(super) const OBJECT: &str = "object";
/// `oldObject`: what the object was.
pub(super) const OLD_OBJECT: &str = "oldObject";
/// `request`: the request itself.
pub(super) const REQUEST_VARIABLE: &str = "request";
/// `namespaceObject`: the namespace of the object.
pub(super) const NAMESPACE_OBJECT: &str = "namespaceObject";
/// `params`: an object of the policy's paramKind.
pub(super) const PARAMS: &str = "params";
/// `authorizer`: what the user may do.
pub(super) const AUTHORIZER: &str = "authorizer";
/// `authorizer.requestResource`: what the user may do with the resource of the request.
pub(super) const REQUEST_RESOURCE: &str = "authorizer.requestResource";
/// `variables`: the policy's own.
pub(super) const VARIABLES_VARIABLE: &str = "variables";

/// The variables that are declared for some expressions only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Declarations {
    /// `params`, which a policy with a paramKind has.
    pub params: bool,
    /// `authorizer` and `authorizer.requestResource`, which all expressions see but those of messages.
    pub authorizer: bool,
    /// The types and functions by which a policy says what to change.
    pub patch_types: bool,
}

/// An environment of Kubernetes with the variables of admission.
pub(super) fn extend(
    base: &Env,
    declarations: Declarations,
    variables: Option<&Vec<(SmolStr, Type)>>,
) -> Result<Env, TypeTextError> {
    let mut builder = base
        .extend()
        .provider(Arc::new(DeclaredTypes {
            variables: variables.cloned(),
            patch_types: declarations.patch_types,
        }))
        .variable(OBJECT, Type::Dyn)
        .variable(OLD_OBJECT, Type::Dyn)
        .variable(NAMESPACE_OBJECT, declared_type(NAMESPACE))
        .variable(REQUEST_VARIABLE, declared_type(REQUEST));
    if variables.is_some() {
        builder = builder.variable(VARIABLES_VARIABLE, declared_type(VARIABLES));
    }
    if declarations.patch_types {
        builder = builder.overloads(JSON_PATCH);
    }
    if declarations.params {
        builder = builder.variable(PARAMS, Type::Dyn);
    }
    if declarations.authorizer {
        builder = builder
            .variable(
                AUTHORIZER,
                declared_type("kubernetes.authorization.Authorizer"),
            )
            .variable(
                REQUEST_RESOURCE,
                declared_type("kubernetes.authorization.ResourceCheck"),
            );
    }
    builder.build()
}

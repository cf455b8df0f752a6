//! The environments of policies: the variables that each kind of expression can read.

use std::sync::Arc;

use gavel_engine::env::Env;
use gavel_engine::types::{Type, TypeTextError};
use gavel_libraries::kubernetes::json_patch::JSON_PATCH;
use gavel_schema::cel::CelSchema;

use super::declared::{DeclaredTypes, NAMESPACE, REQUEST, VARIABLES, VariableTypes, declared_type};

/// `object`: the object of the request.
pub(crate) const OBJECT: &str = "object";
/// `oldObject`: the existing object, before the change.
pub(crate) const OLD_OBJECT: &str = "oldObject";
/// `request`: the request itself.
pub(crate) const REQUEST_VARIABLE: &str = "request";
/// `namespaceObject`: the namespace of the object.
pub(crate) const NAMESPACE_OBJECT: &str = "namespaceObject";
/// `params`: an object of the policy's paramKind.
pub(crate) const PARAMS: &str = "params";
/// `authorizer`: checks the permissions of the user.
pub(crate) const AUTHORIZER: &str = "authorizer";
/// `authorizer.requestResource`: checks the permissions of the user for the resource of the request.
pub(crate) const REQUEST_RESOURCE: &str = "authorizer.requestResource";
/// `variables`: the policy's own variables.
pub(crate) const VARIABLES_VARIABLE: &str = "variables";

/// The variables of policies. Some of them are declared for some expressions only.
pub const POLICY_VARIABLES: [&str; 7] = [
    OBJECT,
    OLD_OBJECT,
    REQUEST_VARIABLE,
    PARAMS,
    NAMESPACE_OBJECT,
    VARIABLES_VARIABLE,
    AUTHORIZER,
];

/// The variables that are declared for some expressions only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Declarations {
    /// `params`, declared if the policy has a `paramKind`.
    pub params: bool,
    /// `authorizer` and `authorizer.requestResource`, declared for all expressions except message expressions. An audit annotation that
    /// reads them compiles, but fails at evaluation.
    pub authorizer: bool,
    /// Whether the types and functions of mutations are available.
    pub patch_types: bool,
}

impl Declarations {
    /// The declarations of most expressions: `authorizer` and, if the argument is true, `params`.
    pub const fn with_authorizer(params: bool) -> Self {
        Declarations {
            params,
            authorizer: true,
            patch_types: false,
        }
    }
}

/// The schemas of objects, for type checking.
#[derive(Debug, Clone)]
pub struct ObjectTypes {
    /// The schema of `object` and `oldObject`.
    pub object: CelSchema,
    /// The schema of `params`, if known.
    pub params: Option<CelSchema>,
    /// Whether to check as loosely as upstream's type checker: entries of `variables` that hold objects have type `dyn`, and
    /// `authorizer.requestResource` is not declared.
    pub upstream: bool,
}

/// Adds the variables of admission to a Kubernetes environment. `types` are the schemas of the objects. Without `types`, as for evaluation,
/// objects have type `dyn`.
pub(super) fn extend(
    base: &Env,
    declarations: Declarations,
    variables: Option<&VariableTypes>,
    types: Option<&ObjectTypes>,
) -> Result<Env, TypeTextError> {
    let declared = |schema: Option<&CelSchema>| {
        let ty = schema.and_then(CelSchema::declared_type);
        ty.unwrap_or(Type::Dyn)
    };
    let object = types.map(|types| &types.object);
    let params = types.and_then(|types| types.params.as_ref());
    let schemas = [object, params].into_iter().flatten();
    let mut builder = base
        .extend()
        .provider(Arc::new(DeclaredTypes {
            variables: variables.cloned(),
            patch_types: declarations.patch_types,
        }))
        .variable(OBJECT, declared(object))
        .variable(OLD_OBJECT, declared(object))
        .variable(NAMESPACE_OBJECT, declared_type(NAMESPACE))
        .variable(REQUEST_VARIABLE, declared_type(REQUEST));
    for schema in schemas {
        builder = builder.provider(schema.provider(true));
    }
    if variables.is_some() {
        builder = builder
            .variable(VARIABLES_VARIABLE, declared_type(VARIABLES))
            .varying(VARIABLES_VARIABLE);
    }
    if declarations.patch_types {
        builder = builder.overloads(JSON_PATCH);
    }
    if declarations.params {
        builder = builder.variable(PARAMS, declared(params)).varying(PARAMS);
    }
    if declarations.authorizer {
        let authorizer = declared_type("kubernetes.authorization.Authorizer");
        builder = builder.variable(AUTHORIZER, authorizer);
        if types.is_none_or(|types| !types.upstream) {
            let resource = declared_type("kubernetes.authorization.ResourceCheck");
            builder = builder.variable(REQUEST_RESOURCE, resource);
        }
    }
    builder.build()
}

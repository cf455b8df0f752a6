//! The declared types of `request`, `namespaceObject` and `variables` (apiserver `pkg/admission/plugin/cel/compile.go`,
//! `composition.go`).

use std::collections::BTreeMap;
use std::sync::Arc;

use gavel_engine::decl::TypeProvider;
use gavel_engine::types::Type;
use gavel_engine::value::ObjectKind;
use gavel_schema::cel::{is_reserved, scalar_field, scalar_type};
use smol_str::SmolStr;

/// The type name of `request`: an AdmissionRequest without `object`, `oldObject` and `uid`.
pub const REQUEST: &str = "kubernetes.AdmissionRequest";
/// The type name of `namespaceObject`: a Namespace without its `selfLink`, owners and managed fields.
pub const NAMESPACE: &str = "kubernetes.Namespace";
/// The type name of a patch of the whole object. The patch of its field `spec` has the type `Object.spec`.
pub(crate) const OBJECT_PATCH: &str = "Object";
/// The type name of one operation of a JSON patch.
pub(crate) const JSON_PATCH: &str = "JSONPatch";
/// The type name of `variables`.
pub(crate) const VARIABLES: &str = "kubernetes.variables";

const KIND: &str = "kubernetes.GroupVersionKind";
const RESOURCE: &str = "kubernetes.GroupVersionResource";
const USER: &str = "kubernetes.UserInfo";
const METADATA: &str = "kubernetes.NamespaceMetadata";
const SPEC: &str = "kubernetes.NamespaceSpec";
const STATUS: &str = "kubernetes.NamespaceStatus";
const CONDITION: &str = "kubernetes.NamespaceCondition";

const TYPES: [&str; 9] = [
    REQUEST, KIND, RESOURCE, USER, NAMESPACE, METADATA, SPEC, STATUS, CONDITION,
];

/// The declared type with this name.
pub fn declared_type(name: &'static str) -> Type {
    Type::Struct(name.into())
}

/// Provides the types of `request` and `namespaceObject` to environments that a host builds itself.
pub fn provider() -> Arc<dyn TypeProvider> {
    Arc::new(DeclaredTypes::default())
}

/// The types of variables by name. Of variables with the same name, the last one counts.
pub(super) type VariableTypes = Arc<BTreeMap<SmolStr, Type>>;

/// The types of `request` and `namespaceObject` and, if the environment has `variables`, the types of the variables.
#[derive(Debug, Clone, Default)]
pub(super) struct DeclaredTypes {
    /// The types of the variables, if the environment has `variables`.
    pub(super) variables: Option<VariableTypes>,
    /// Whether the types of patches are available too (apiserver `pkg/cel/mutation`).
    pub(super) patch_types: bool,
}

impl TypeProvider for DeclaredTypes {
    fn find_type(&self, name: &str) -> Option<Type> {
        if self.patch_types && is_patch_type(name) {
            return Some(Type::Struct(name.into()));
        }
        match name {
            VARIABLES if self.variables.is_some() => Some(declared_type(VARIABLES)),
            _ => match TYPES.into_iter().find(|known| *known == name) {
                Some(known) => Some(declared_type(known)),
                None => scalar_type(name),
            },
        }
    }

    fn field_type(&self, type_name: &str, field: &str) -> Option<Type> {
        if self.patch_types && is_patch_type(type_name) {
            return Some(patch_field(type_name, field));
        }
        if type_name != VARIABLES {
            return admission_field(type_name, field);
        }
        let variables = self.variables.as_deref()?;
        // A reserved word also finds the variable with the escaped name: `in` finds `__in__`.
        let escaped = || is_reserved(field).then(|| format!("__{field}__"));
        let found = variables.get(field);
        let found = found.or_else(|| variables.get(escaped()?.as_str()));
        found.cloned()
    }

    fn has_names_below(&self, root: &str) -> bool {
        let is_below = |name: &str| name.split_once('.').is_some_and(|(first, _)| first == root);
        TYPES.into_iter().any(is_below)
            || is_below(VARIABLES)
            || (self.patch_types && root == OBJECT_PATCH)
    }

    fn object_kind(&self, type_name: &str) -> Option<ObjectKind> {
        match type_name {
            JSON_PATCH if self.patch_types => Some(ObjectKind::Record {
                texts: &["op", "path", "from"],
                value: "value",
            }),
            name if self.patch_types && is_patch_type(name) => Some(ObjectKind::Open),
            _ => None,
        }
    }
}

fn is_patch_type(name: &str) -> bool {
    name == JSON_PATCH
        || name
            .strip_prefix(OBJECT_PATCH)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// The type of a field of a patch type. Patches of objects accept every field name, with type `dyn`. JSON patch operations accept every
/// field name too, but unknown fields have an opaque type that no other type matches.
fn patch_field(type_name: &str, field: &str) -> Type {
    match (type_name, field) {
        (JSON_PATCH, "op" | "path" | "from") => Type::String,
        (JSON_PATCH, field) if field != "value" => Type::opaque("", Vec::new()),
        _ => Type::Dyn,
    }
}

fn admission_field(type_name: &str, field: &str) -> Option<Type> {
    let texts = || Type::list(Type::String);
    let labels = || Type::map(Type::String, Type::String);
    Some(match (type_name, field) {
        (REQUEST, "kind" | "requestKind") => declared_type(KIND),
        (REQUEST, "resource" | "requestResource") => declared_type(RESOURCE),
        (REQUEST, "subResource" | "requestSubResource" | "name" | "namespace" | "operation") => {
            Type::String
        }
        (REQUEST, "userInfo") => declared_type(USER),
        (REQUEST, "dryRun") => Type::Bool,
        (REQUEST, "options") => Type::Dyn,
        (KIND, "group" | "version" | "kind") => Type::String,
        (RESOURCE, "group" | "version" | "resource") => Type::String,
        (USER, "username" | "uid") => Type::String,
        (USER, "groups") => texts(),
        (USER, "extra") => Type::map(Type::String, texts()),
        (NAMESPACE, "metadata") => declared_type(METADATA),
        (NAMESPACE, "spec") => declared_type(SPEC),
        (NAMESPACE, "status") => declared_type(STATUS),
        // Upstream declares `UID`, but the field of the value is named `uid`. Reading the declared field always fails.
        (METADATA, "name" | "generateName" | "namespace" | "UID" | "resourceVersion") => {
            Type::String
        }
        (METADATA, "labels" | "annotations") => labels(),
        (METADATA, "creationTimestamp" | "deletionTimestamp") => Type::Timestamp,
        (METADATA, "deletionGracePeriodSeconds" | "generation") => Type::Int,
        (METADATA | SPEC, "finalizers") => texts(),
        (STATUS, "conditions") => Type::list(declared_type(CONDITION)),
        (STATUS, "phase") => Type::String,
        (CONDITION, "status" | "type" | "message" | "reason") => Type::String,
        (CONDITION, "lastTransitionTime") => Type::Timestamp,
        _ => return scalar_field(type_name),
    })
}

/// The declared type of a variable: scalars keep their type, and all types other than lists and maps become `dyn`. The same applies to the
/// elements of lists, and to the keys and values of maps.
pub(super) fn variable_type(ty: &Type) -> Type {
    match ty {
        Type::Any
        | Type::Null
        | Type::Bool
        | Type::Int
        | Type::Uint
        | Type::Double
        | Type::String
        | Type::Bytes
        | Type::Duration
        | Type::Timestamp => ty.clone(),
        Type::List(element) => Type::list(variable_type(element)),
        Type::Map(entry) => Type::map(variable_type(&entry.0), variable_type(&entry.1)),
        _ => Type::Dyn,
    }
}

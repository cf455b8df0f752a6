//! Finds the structs, lists and maps within objects of built-in kinds.

use gavel_apimachinery::server::Server;
use gavel_engine::value::Value;

use super::kubernetes::Kubernetes;
use super::typed::GoType;

/// The Go type of a value that has fields, items or entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nested {
    /// A struct: the name of its schema, which ends with the package and the name of the struct, such as `io.k8s.api.core.v1.Container`.
    Struct(&'static str),
    /// A list.
    List,
    /// A map.
    Map,
}

/// Calls `found` for an object of a built-in kind, and for each struct, list and map within the object. Values without a Go type of their
/// own, such as `metadata.managedFields[].fieldsV1`, and values that do not fit their type are left out.
pub fn each_nested<'v>(
    object: Value<'v>,
    api_version: &str,
    kind: &str,
    server: Server,
    found: &mut dyn FnMut(Value<'v>, Nested),
) {
    let kubernetes = Kubernetes::of(server);
    if let Some(name) = kubernetes.decoded_name_of(api_version, kind) {
        each_within(object, GoType::named(name, kubernetes), kubernetes, found);
    }
}

// Documents are at most 127 levels deep, patched documents at most 400.
fn each_within<'v>(
    value: Value<'v>,
    ty: GoType<'static>,
    kubernetes: &'static Kubernetes,
    found: &mut dyn FnMut(Value<'v>, Nested),
) {
    match (ty, value.as_map(), value.as_list()) {
        (GoType::Struct(name, schema), Some(map), _) => {
            found(value, Nested::Struct(name));
            for (name, value) in map.iter().flatten() {
                let field = schema.properties.get(name.as_str().unwrap_or_default());
                if let Some(field) = field {
                    each_within(value, GoType::of(field, kubernetes), kubernetes, found);
                }
            }
        }
        (GoType::Map(of), Some(map), _) => {
            found(value, Nested::Map);
            for (_, value) in map.iter().flatten() {
                each_within(value, GoType::of(of, kubernetes), kubernetes, found);
            }
        }
        (GoType::List(of), _, Some(list)) => {
            found(value, Nested::List);
            for value in list.iter() {
                each_within(value, GoType::of(of, kubernetes), kubernetes, found);
            }
        }
        _ => {}
    }
}

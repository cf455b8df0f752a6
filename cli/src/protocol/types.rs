//! The TYPE of a variable.

use gavel_engine::types::Type;
use gavel_engine::value::Json;
use gavel_policy::cel::{NAMESPACE, REQUEST, declared_type};

use super::request::{RequestError, kind};

/// The name of the type `authorizer`.
pub(crate) const AUTHORIZER: &str = "kubernetes.authorization.Authorizer";
/// The name of the type `resourceCheck`.
pub(crate) const RESOURCE_CHECK: &str = "kubernetes.authorization.ResourceCheck";

/// Reads a TYPE: a text such as `list(int)`, or `{"list": TYPE}`, `{"map": [TYPE, TYPE]}`, `{"optional": TYPE}`.
pub(crate) fn read(json: &Json) -> Result<Type, RequestError> {
    match json {
        Json::String(text) => read_text(text),
        Json::Object(object) => {
            let mut entries = object.iter();
            match (entries.next(), entries.next()) {
                (Some((form, inner)), None) => read_form(form, inner),
                _ if object.contains_key("schema") => read_form("schema", &Json::Null),
                _ => Err(no_type(json)),
            }
        }
        _ => Err(no_type(json)),
    }
}

/// Reads a type as text, such as the command line gives it.
pub(crate) fn read_text(text: &str) -> Result<Type, RequestError> {
    match text {
        "authorizer" => return Ok(Type::Struct(AUTHORIZER.into())),
        "resourceCheck" => return Ok(Type::Struct(RESOURCE_CHECK.into())),
        "admissionRequest" => return Ok(declared_type(REQUEST)),
        "namespaceObject" => return Ok(declared_type(NAMESPACE)),
        _ => {}
    }
    let ty: Option<Type> = text.parse().ok().filter(is_bindable);
    ty.ok_or_else(|| no_type(&Json::from(text)))
}

/// Reads the types of a declared function, where also type parameters and abstract types may stand.
pub(crate) fn read_declared(text: &str) -> Result<Type, RequestError> {
    text.parse().map_err(|_| no_type(&Json::from(text)))
}

fn read_form(form: &str, inner: &Json) -> Result<Type, RequestError> {
    match (form, inner) {
        ("list", element) => Ok(Type::list(read(element)?)),
        ("optional", value) => Ok(Type::optional(read(value)?)),
        ("map", Json::Array(pair)) => match pair.as_slice() {
            [key, value] => Ok(Type::map(read(key)?, read(value)?)),
            _ => Err(RequestError("\"map\" must hold two types: [key, value]".to_owned())),
        },
        ("schema", _) => Err(RequestError(
            "{\"schema\": …} is a type that this version of gavel does not know: schemas are not supported yet; declare the variable \"dyn\"".to_owned(),
        )),
        _ => Err(no_type(&Json::from(form))),
    }
}

fn no_type(found: &Json) -> RequestError {
    RequestError(format!(
        "{} is not a type; write for example \"int\", \"list(string)\", \"map(string, dyn)\", \"optional(int)\" or {{\"list\": \"int\"}}",
        kind(found)
    ))
}

/// Whether values of a type can be written down as JSON, all the way down.
fn is_bindable(ty: &Type) -> bool {
    match ty {
        Type::Dyn | Type::Any | Type::Null | Type::Bool | Type::Int | Type::Uint | Type::Double => {
            true
        }
        Type::String | Type::Bytes | Type::Duration | Type::Timestamp => true,
        Type::List(element) => is_bindable(element),
        Type::Map(entry) => is_bindable(&entry.0) && is_bindable(&entry.1),
        Type::Opaque(_) => ty.as_optional().is_some_and(is_bindable),
        _ => false,
    }
}

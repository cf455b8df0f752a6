//! Gavel's own kinds of policies and bindings. They have the fields of the kinds in `admissionregistration.k8s.io/v1`.

use gavel_engine::value::Json;

use super::GROUP;

/// The group of Gavel's own kinds.
pub const OWN_GROUP: &str = "policies.gavel.example.com";

/// Converts an object of Gavel's own kinds to the built-in kind with the same name. Returns `None` for objects of other groups.
pub fn as_built_in(object: &Json) -> Option<Json> {
    let (group, version) = object.get("apiVersion")?.as_str()?.split_once('/')?;
    if group != OWN_GROUP {
        return None;
    }
    let mut object = object.clone();
    let fields = object.as_object_mut()?;
    fields.insert("apiVersion".to_owned(), format!("{GROUP}/{version}").into());
    Some(object)
}

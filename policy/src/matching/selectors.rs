//! Matches requests with namespace selectors and object selectors (apiserver `pkg/admission/plugin/webhook/predicates/{namespace,object}`).

use gavel_apimachinery::labels::Selector;
use gavel_engine::value::Value;

use crate::namespace::Namespaces;
use crate::request::{AdmissionRequest, label};

/// Whether the selector selects the request's namespace. Cluster-scoped objects other than namespaces are always selected; for a namespace,
/// its own labels count.
pub(super) fn namespace_matches(
    selector: &Result<Selector, String>,
    request: &AdmissionRequest<'_>,
    namespaces: &Namespaces,
) -> Result<bool, String> {
    let is_namespace = request.resource.resource == "namespaces";
    if request.namespace.is_empty() && !is_namespace {
        return Ok(true);
    }
    let selector = selector.as_ref().map_err(internal_error)?;
    if selector.is_empty() {
        return Ok(true);
    }
    // When a namespace is created or updated, only the request contains its new labels.
    let is_written = matches!(request.operation, "CREATE" | "UPDATE");
    if is_namespace && request.subresource.is_empty() && is_written {
        return match request.object.is_null() {
            true => Err(internal_error(
                &"object does not implement the Object interfaces".to_owned(),
            )),
            false => Ok(selector.matches(|key| label(request.object, key))),
        };
    }
    let namespace = namespaces.find(request.namespace)?;
    Ok(selector.matches(|key| namespace.labels().get(key)))
}

/// Whether the selector selects the object or the old object.
pub(super) fn object_matches(
    selector: &Result<Selector, String>,
    request: &AdmissionRequest<'_>,
) -> Result<bool, String> {
    let selector = selector.as_ref().map_err(internal_error)?;
    let selected = |object: Value<'_>| {
        !object.is_null() && request.has_metadata() && selector.matches(|key| label(object, key))
    };
    Ok(selector.is_empty() || selected(request.object) || selected(request.old_object))
}

fn internal_error(error: &String) -> String {
    format!("Internal error occurred: {error}")
}

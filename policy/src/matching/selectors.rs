//! Matches requests with namespace selectors and object selectors (apiserver `pkg/admission/plugin/webhook/predicates/{namespace,object}`).

use gavel_apimachinery::labels::Selector;

use super::Surroundings;
use crate::request::{AdmissionRequest, CheckedLabels};

/// Whether the selector selects the request's namespace. Cluster-scoped objects other than namespaces are always selected; for a namespace,
/// its own labels count.
pub(super) fn namespace_matches<'a>(
    selector: &Result<Selector, String>,
    request: &'a AdmissionRequest<'_>,
    around: Surroundings<'a>,
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
            false => {
                let labels = around.labels.of_object(request);
                Ok(selector.matches(|key| labels.get(key)))
            }
        };
    }
    let namespace = around.namespaces.find(request.namespace)?;
    Ok(selector.matches(|key| namespace.labels().get(key)))
}

/// Whether the selector selects the object or the old object.
pub(super) fn object_matches<'a>(
    selector: &Result<Selector, String>,
    request: &'a AdmissionRequest<'_>,
    around: Surroundings<'a>,
) -> Result<bool, String> {
    let selector = selector.as_ref().map_err(internal_error)?;
    if selector.is_empty() {
        return Ok(true);
    }
    if !request.has_metadata() {
        return Ok(false);
    }
    let selects = |labels: CheckedLabels<'_>| selector.matches(|key| labels.get(key));
    let is_selected = !request.object.is_null() && selects(around.labels.of_object(request));
    Ok(is_selected
        || !request.old_object.is_null() && selects(around.labels.of_old_object(request)))
}

fn internal_error(error: &String) -> String {
    format!("Internal error occurred: {error}")
}

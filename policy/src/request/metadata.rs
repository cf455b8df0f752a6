//! What selectors and messages read of an object's metadata (apimachinery `pkg/apis/meta/v1/unstructured`).

use gavel_engine::value::Json;
use serde_json::Map;

/// A label of an object. Labels that are not all texts count as none.
pub(crate) fn label<'a>(object: &'a Json, key: &str) -> Option<&'a str> {
    let labels = metadata(object)?.get("labels")?.as_object()?;
    let value = labels.get(key)?.as_str()?;
    labels.values().all(Json::is_string).then_some(value)
}

/// A field of an object's metadata that is a text; empty where it is not.
pub(crate) fn text_of<'a>(object: &'a Json, field: &str) -> &'a str {
    let text = metadata(object).and_then(|metadata| metadata.get(field)?.as_str());
    text.unwrap_or_default()
}

/// The name by which a message calls the object of a request that names none.
pub(crate) fn object_name(object: &Json) -> &str {
    let names = [text_of(object, "name"), text_of(object, "generateName")];
    let name = names.into_iter().find(|name| !name.is_empty());
    name.unwrap_or("Unknown")
}

fn metadata(object: &Json) -> Option<&Map<String, Json>> {
    object.get("metadata")?.as_object()
}

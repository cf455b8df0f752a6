//! Access to the fields of a struct in JSON.

use gavel_engine::value::{Json, JsonObject};
use serde_json::json;

/// Sets a field if it is absent or null.
pub(super) fn absent(fields: &mut JsonObject, name: &str, value: impl Into<Json>) {
    if fields.get(name).is_none_or(Json::is_null) {
        fields.insert(name.to_owned(), value.into());
    }
}

/// Whether a field is set: it is present, not null and not an empty string.
pub(super) fn is_set(fields: &JsonObject, name: &str) -> bool {
    fields
        .get(name)
        .is_some_and(|value| !value.is_null() && value != "")
}

/// Whether a list or map is not empty.
pub(super) fn has_any(fields: &JsonObject, name: &str) -> bool {
    match fields.get(name) {
        Some(Json::Array(items)) => !items.is_empty(),
        Some(Json::Object(entries)) => !entries.is_empty(),
        _ => false,
    }
}

/// The struct in a field, created if the field is absent or null. `None` if the value of the field is not a struct.
pub(super) fn part<'o>(fields: &'o mut JsonObject, name: &str) -> Option<&'o mut JsonObject> {
    if fields.get(name).is_none_or(Json::is_null) {
        fields.insert(name.to_owned(), json!({}));
    }
    fields.get_mut(name)?.as_object_mut()
}

/// The structs in a field that is a list.
pub(super) fn items<'o>(
    fields: &'o mut JsonObject,
    name: &str,
) -> impl Iterator<Item = &'o mut JsonObject> {
    let items = fields.get_mut(name).and_then(Json::as_array_mut);
    items.into_iter().flatten().filter_map(Json::as_object_mut)
}

//! What an API server does to the metadata of an update before it validates the update (apiserver `pkg/registry/rest/update.go`).

use serde_json::Value as Json;

/// Sets the fields of an object's metadata that an update cannot change to the values of the old object's metadata: the generation, the
/// creation timestamp and the deletion timestamp; also the UID, the grace period and the resource version, if the update has none. The
/// resource version of an old object that has none, such as one of a manifest, is assumed to be 1. Metadata that is not an object is not
/// changed.
///
/// ```
/// use gavel_apimachinery::meta::keep_system_fields;
/// use serde_json::json;
///
/// let mut metadata = json!({"name": "a", "generation": 1});
/// keep_system_fields(&mut metadata, &json!({"name": "a", "uid": "u", "generation": 3, "labels": {"b": "c"}}));
/// assert_eq!(metadata, json!({"name": "a", "uid": "u", "generation": 3, "resourceVersion": "1"}));
/// ```
pub fn keep_system_fields(metadata: &mut Json, old: &Json) {
    let Json::Object(metadata) = metadata else {
        return;
    };
    let is_set = |value: &&Json| !value.is_null() && *value != "";
    let before = |name: &str| old.get(name).filter(is_set).cloned();
    match before("generation") {
        Some(generation) => metadata.insert("generation".to_owned(), generation),
        None => metadata.remove("generation"),
    };
    for name in ["creationTimestamp", "deletionTimestamp"] {
        if let Some(time) = before(name) {
            metadata.insert(name.to_owned(), time);
        }
    }
    let version = before("resourceVersion").unwrap_or_else(|| "1".into());
    for (name, value) in [
        ("uid", before("uid")),
        (
            "deletionGracePeriodSeconds",
            before("deletionGracePeriodSeconds"),
        ),
        ("resourceVersion", Some(version)),
    ] {
        if metadata.get(name).filter(is_set).is_none()
            && let Some(value) = value
        {
            metadata.insert(name.to_owned(), value);
        }
    }
}

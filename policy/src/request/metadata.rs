//! The metadata that selectors and messages read (apimachinery `pkg/apis/meta/v1/unstructured`).

use gavel_engine::value::Value;

use crate::fields::{field, text_field};

/// The value of an object's label, if present. If the value of any label is not a string, all labels are ignored.
pub(crate) fn label<'a>(object: Value<'a>, key: &str) -> Option<&'a str> {
    let labels = field(metadata(object)?, "labels")?;
    let value = field(labels, key)?.as_str()?;
    let mut labels = labels.as_map()?.iter();
    labels
        .all(|label| label.is_ok_and(|(_, value)| value.as_str().is_some()))
        .then_some(value)
}

/// A string field of an object's metadata; empty if the field is absent or not a string.
pub(crate) fn text_of<'a>(object: Value<'a>, name: &str) -> &'a str {
    metadata(object).map_or("", |metadata| text_field(metadata, name))
}

/// The object's name for messages: `name`, else `generateName`, else `Unknown`.
pub(crate) fn object_name(object: Value<'_>) -> &str {
    let names = [text_of(object, "name"), text_of(object, "generateName")];
    let name = names.into_iter().find(|name| !name.is_empty());
    name.unwrap_or("Unknown")
}

fn metadata(object: Value<'_>) -> Option<Value<'_>> {
    field(object, "metadata")
}

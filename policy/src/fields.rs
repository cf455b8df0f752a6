//! Access to the fields of objects that are CEL values.

use std::collections::BTreeMap;

use gavel_engine::value::{Map, Value};

/// The fields of an object, by name.
pub(crate) type Fields<'a> = BTreeMap<&'a str, Value<'a>>;

/// A field of an object; `None` if the value is not an object, or does not have the field.
pub(crate) fn field<'a>(object: Value<'a>, name: &str) -> Option<Value<'a>> {
    object.as_map()?.get_str(name).ok()?
}

/// A string field; empty if the field is absent or not a string.
pub(crate) fn text_field<'a>(object: Value<'a>, name: &str) -> &'a str {
    let text = field(object, name).and_then(|value| value.as_str());
    text.unwrap_or_default()
}

/// All fields of an object; empty for other values.
pub(crate) fn fields_of(object: Value<'_>) -> Fields<'_> {
    let map = object.as_map();
    let fields = map.iter().flat_map(Map::iter).flatten();
    fields
        .filter_map(|(name, value)| Some((name.as_str()?, value)))
        .collect()
}
